// One session per client: snapshot, changes, pings, lag, shedding. Opens no listener and encodes nothing twice.

export {
  type AddedMetric,
  addedMetrics,
  type FanoutMetrics,
  noMetrics,
  type ObservedMetric,
  observedMetrics,
  type SetMetric,
  setMetrics,
} from "./counting/metrics.ts";
export { replay, Tally, type TallyItem } from "./counting/tally.ts";
export { WriteLog, type WriteRecord } from "./counting/write-log.ts";
export {
  type Candidate,
  type ConnectionTarget,
  chooseToShed,
  connectionTarget,
  jittered,
  shutdownIntervalMs,
} from "./governor.ts";
export { Hub, type HubOptions } from "./hub.ts";
export type { FanoutLimits } from "./limits.ts";
export { Broadcast, type BroadcastSource, type Receiver } from "./publishing/broadcast.ts";
export { type Flush, RecentFlushes } from "./publishing/flush.ts";
export { type CatchUp, type FlushSink, Publisher } from "./publishing/publisher.ts";
export { type ClientReport, cut } from "./session/client-report.ts";
export { Session, type SessionContext, type Transport } from "./session/session.ts";
export { fanoutEndCodes, type SessionEnd, sessionEnds } from "./session/session-ends.ts";
