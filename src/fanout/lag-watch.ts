// How far one client is behind, in the original's terms: the time between the newest flush and the first one that the
// client has not been sent. A client beyond the limit is not cut, because its backlog merges; it is counted when that
// happens within its grace after the snapshot, and logged once until it has caught up.
import type { Log, LogFields } from "../lib/index.ts";
import type { SyncerType } from "../model/basics.ts";
import type { FanoutLimits } from "./limits.ts";
import type { Tally } from "./tally.ts";

export class LagWatch {
  readonly #options: { syncer: SyncerType; limits: FanoutLimits; tally: Tally; log: Log; fields: LogFields };
  #lateSinceMs: number | undefined;
  #graceEndMs = Number.POSITIVE_INFINITY;
  #isReported = false;

  constructor(options: { syncer: SyncerType; limits: FanoutLimits; tally: Tally; log: Log; fields: LogFields }) {
    this.#options = options;
  }

  /** The snapshot is sent: the grace begins. */
  start(nowMs: number): void {
    this.#graceEndMs = nowMs + this.#options.limits.newClientGraceMs;
  }

  /** A flush made at this time could not be sent at once. */
  noteLate(flushAtMs: number): void {
    this.#lateSinceMs ??= flushAtMs;
  }

  lagMs(newestMs: number): number {
    return this.#lateSinceMs === undefined ? 0 : Math.max(0, newestMs - this.#lateSinceMs);
  }

  observe(at: { newestMs: number; nowMs: number }): void {
    const { syncer, limits, tally, log, fields } = this.#options;
    const lagMs = this.lagMs(at.newestMs);
    tally.observe("typha_client_latency_secs", syncer, lagMs / 1000);
    if (lagMs <= limits.maxFallBehindMs || this.#isReported) return;
    this.#isReported = true;
    const isInGrace = at.nowMs <= this.#graceEndMs;
    if (isInGrace) tally.add("typha_connections_grace_used", syncer, 1);
    log.warn("client is far behind; its backlog is merged", { ...fields, lagMs: Math.round(lagMs), isInGrace });
  }

  noteCaughtUp(nowMs: number): void {
    this.#lateSinceMs = undefined;
    if (!this.#isReported || nowMs <= this.#graceEndMs) return;
    this.#isReported = false;
    this.#options.log.info("client has caught up", this.#options.fields);
  }
}
