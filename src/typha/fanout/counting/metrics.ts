// What the fan-out counts, under the names that operators know from the original. The names are public API; observe/
// keeps the registry behind this type. Values are handed over about once a second, already added up, because one call
// per client and message would cost more than the message.
import type { SyncerType } from "../../../calico/model/basics.ts";

/** Counters, and gauges that several threads move up and down: only differences can be added across threads. */
export const addedMetrics = [
  "typha_connections_accepted",
  "typha_connections_dropped",
  "typha_connections_active",
  "typha_connections_streaming",
  "typha_connections_grace_used",
  "typha_snapshots_generated",
  "typha_snapshots_reused",
  "typha_breadcrumb_non_block",
  "typha_breadcrumb_block",
  "typha_updates_total",
  "typha_updates_skipped",
  "cattail_connections_closed_total",
  "cattail_connections_refused_total",
  "cattail_merged_updates_total",
] as const;
export type AddedMetric = (typeof addedMetrics)[number];

export const setMetrics = [
  "typha_snapshot_raw_bytes",
  "typha_snapshot_compressed_bytes",
  "typha_breadcrumb_seq_number",
  "typha_cache_size",
  "cattail_worker_connections",
  "cattail_worker_utilization",
] as const;
export type SetMetric = (typeof setMetrics)[number];

export const observedMetrics = [
  "typha_client_snapshot_send_secs",
  "typha_client_latency_secs",
  "typha_client_write_latency_secs",
  "typha_next_breadcrumb_latency_secs",
  "typha_ping_latency",
  "typha_kvs_per_msg",
  "typha_breadcrumb_size",
] as const;
export type ObservedMetric = (typeof observedMetrics)[number];

export type FanoutMetrics = {
  /** The label is a syncer for most, a reason or a worker for some, undefined for metrics of the whole server. */
  add(name: AddedMetric, label: string | undefined, difference: number): void;
  set(name: SetMetric, label: string, value: number): void;
  /** The value, or one hardly different, was observed this many times; `sum` is what they add up to if not all are it. */
  observe(name: ObservedMetric, syncer: SyncerType, value: number, times: number, sum?: number): void;
};

const drop = () => undefined;
export const noMetrics: FanoutMetrics = { add: drop, set: drop, observe: drop };
