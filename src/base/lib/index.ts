// What any project could use: nothing in this folder knows a word of Calico.

export {
  type AddressRange,
  addressText,
  aroundOf,
  bitsOf,
  type Family,
  holds,
  parseAddress,
  parseRange,
  rangeText,
  sizeOf,
} from "./address-range.ts";
export { CattailError } from "./cattail-error.ts";
export { type ConnectionFault, connectionFault, connectionWords } from "./connection-words.ts";
export { parseJson, writeJson } from "./exact-json.ts";
export { goJsonProblem } from "./go-json.ts";
export {
  type Cidr,
  canonicalCidr,
  canonicalIp,
  canonicalMac,
  canonicalNetwork,
  cidrToText,
  ipToText,
  isMasked,
  mask,
  type Network,
  parseCidr,
  parseCidrOrIp,
  parseIp,
} from "./ip.ts";
export { type Log, type LogFields, silentLog } from "./log.ts";
export { messageOf } from "./message-of.ts";
export { editDistance, nearest } from "./nearest.ts";
export { colouredText, plainLine, plainText } from "./plain-text.ts";
export { isRecord, type JsonRecord } from "./records.ts";
export { compileGoRegexp } from "./regexp/compile-go-regexp.ts";
export { isGoRegexp } from "./regexp/go-regexp.ts";
export { shuffled } from "./shuffled.ts";
export { Backoff, type BackoffLimits, backoffLimits } from "./time/backoff.ts";
export { type Clock, systemClock } from "./time/clock.ts";
export { deadline } from "./time/deadline.ts";
export { LastGood, type LastGoodOptions, type ReloadOutcome } from "./time/last-good.ts";
export { limitRepeats } from "./time/limit-repeats.ts";
export { once } from "./time/once.ts";
export { Pace, type PaceOptions } from "./time/pace.ts";
export { passAbort } from "./time/pass-abort.ts";
export { RecentRate } from "./time/recent-rate.ts";
export { type Settled, settleWithin } from "./time/settle-within.ts";
export { type SilenceOptions, untilSilent } from "./time/until-silent.ts";
export { unreachable } from "./unreachable.ts";
