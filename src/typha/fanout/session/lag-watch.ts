// Watches how far one client is behind (Broadcast.lagMs). A client beyond the limit is not cut, because its backlog merges; it
// is counted when that happens within its grace after the snapshot, and logged once until it has caught up.
import type { Log, LogFields } from "../../../base/lib/index.ts";
import type { SyncerType } from "../../../calico/model/basics.ts";
import type { Tally } from "../counting/tally.ts";
import type { FanoutLimits } from "../limits.ts";

export class LagWatch {
  readonly #options: { syncer: SyncerType; limits: FanoutLimits; tally: Tally; log: Log; fields: LogFields };
  #graceEndMs = Number.POSITIVE_INFINITY;
  #isReported = false;

  constructor(options: { syncer: SyncerType; limits: FanoutLimits; tally: Tally; log: Log; fields: LogFields }) {
    this.#options = options;
  }

  /** The snapshot is sent: the grace begins. */
  start(nowMs: number): void {
    this.#graceEndMs = nowMs + this.#options.limits.newClientGraceMs;
  }

  /** It is about to be sent something that is so much older than the newest flush. */
  observe(lagMs: number, nowMs: number): void {
    const { syncer, limits, tally, log, fields } = this.#options;
    tally.observe("typha_client_latency_secs", syncer, lagMs / 1000);
    if (lagMs <= limits.maxFallBehindMs || this.#isReported) return;
    this.#isReported = true;
    const isInGrace = nowMs <= this.#graceEndMs;
    if (isInGrace) tally.add("typha_connections_grace_used", syncer, 1);
    log.warn("client is far behind; its backlog is merged", { ...fields, lagMs: Math.round(lagMs), isInGrace });
  }

  noteCaughtUp(nowMs: number): void {
    if (!this.#isReported || nowMs <= this.#graceEndMs) return;
    this.#isReported = false;
    this.#options.log.info("client has caught up", this.#options.fields);
  }
}
