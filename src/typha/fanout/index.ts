// One session per client: snapshot, changes, pings, lag, shedding. Opens no listener and encodes nothing twice.
export { type ClientReport, cut } from "./client-report.ts";
export { ends, fanoutEndCodes, type SessionEnd } from "./close-reason.ts";
export { Feed, type FeedSource, type Follower } from "./feed.ts";
export { type Flush, RecentFlushes } from "./flush.ts";
export {
  type Candidate,
  type ConnectionTarget,
  chooseToShed,
  connectionTarget,
  jittered,
  shutdownIntervalMs,
} from "./governor.ts";
export { Hub, type HubOptions } from "./hub.ts";
export { corrected, defaultFanoutLimits, type FanoutLimits } from "./limits.ts";
export {
  type AddedMetric,
  addedMetrics,
  type FanoutMetrics,
  noMetrics,
  type ObservedMetric,
  observedMetrics,
  type SetMetric,
  setMetrics,
} from "./metrics.ts";
export { type CatchUp, type FlushSink, Publisher } from "./publisher.ts";
export { Session, type SessionContext, type Transport } from "./session.ts";
export { replay, Tally, type TallyItem } from "./tally.ts";
export { WriteLog, type WriteRecord } from "./write-log.ts";
