// What any project could use: nothing in this folder knows a word of Calico.
export { Backoff, type BackoffLimits, backoffLimits } from "./backoff.ts";
export { CattailError } from "./cattail-error.ts";
export { type Clock, systemClock } from "./clock.ts";
export { connectionWords } from "./connection-words.ts";
export { deadline } from "./deadline.ts";
export { parseJson, writeJson } from "./exact-json.ts";
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
export { LastGood, type LastGoodOptions } from "./last-good.ts";
export { limitRepeats } from "./limit-repeats.ts";
export { type Log, type LogFields, silentLog } from "./log.ts";
export { messageOf } from "./message-of.ts";
export { nearest } from "./nearest.ts";
export { once } from "./once.ts";
export { passAbort } from "./pass-abort.ts";
export { plainLine, plainText } from "./plain-text.ts";
export { RecentRate } from "./recent-rate.ts";
export { isRecord, type JsonRecord } from "./records.ts";
export { type Settled, settleWithin } from "./settle-within.ts";
export { shuffled } from "./shuffled.ts";
export { unreachable } from "./unreachable.ts";
export { type SilenceOptions, untilSilent } from "./until-silent.ts";
