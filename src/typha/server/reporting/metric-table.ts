// Every metric of Typha: the original's, under its names, types and labels, then ours. Names are public API. A label's
// values come from fixed lists (typha-metrics.ts), so that no peer can make new series.
import type { MetricTable } from "../../../base/observe/index.ts";

// The four syncers are all there will be, and the original's series have no fifth.
const bySyncer = { label: "syncer", isClosed: true } as const;

export const originalMetrics = {
  typha_connections_accepted: { type: "counter", help: "Connections accepted." },
  typha_connections_dropped: { type: "counter", help: "Connections closed to balance the load." },
  typha_connections_active: { type: "gauge", help: "Open connections, including those in their handshake." },
  typha_connections_streaming: { type: "gauge", ...bySyncer, help: "Connections past their handshake." },
  typha_connections_grace_used: {
    type: "counter",
    ...bySyncer,
    help: "Times a client used its grace period after the snapshot.",
  },
  typha_client_snapshot_send_secs: { type: "summary", ...bySyncer, help: "Seconds to send the first snapshot." },
  typha_client_latency_secs: {
    type: "summary",
    ...bySyncer,
    maxAgeMs: 60_000,
    ageBuckets: 2,
    help: "Seconds a client is behind the newest state.",
  },
  typha_client_write_latency_secs: { type: "summary", ...bySyncer, help: "Seconds to write a message." },
  typha_next_breadcrumb_latency_secs: {
    type: "summary",
    ...bySyncer,
    help: "Seconds that a client which is behind waits for its next change.",
  },
  typha_ping_latency: { type: "summary", ...bySyncer, help: "Seconds from ping to pong." },
  typha_kvs_per_msg: { type: "summary", ...bySyncer, help: "Keys in a message." },
  typha_snapshots_generated: { type: "counter", ...bySyncer, help: "Snapshots made." },
  typha_snapshots_reused: { type: "counter", ...bySyncer, help: "Snapshots sent again without being made again." },
  typha_snapshot_raw_bytes: { type: "gauge", ...bySyncer, help: "Size of the last snapshot before compression." },
  typha_snapshot_compressed_bytes: { type: "gauge", ...bySyncer, help: "Size of the last snapshot after compression." },
  typha_breadcrumb_seq_number: { type: "gauge", ...bySyncer, help: "Sequence number of the newest state." },
  typha_breadcrumb_non_block: { type: "counter", ...bySyncer, help: "Times the next change was available at once." },
  typha_breadcrumb_block: { type: "counter", ...bySyncer, help: "Times a client had to wait for the next change." },
  typha_breadcrumb_size: { type: "summary", ...bySyncer, help: "Changes published together." },
  typha_updates_total: { type: "counter", ...bySyncer, help: "Updates received from the datastore." },
  typha_updates_skipped: { type: "counter", ...bySyncer, help: "Updates that changed nothing." },
  typha_cache_size: { type: "gauge", ...bySyncer, help: "Keys in the cache." },
  typha_logs_dropped: { type: "counter", help: "Log lines dropped because their destination was slow." },
  typha_log_errors: { type: "counter", help: "Log lines that could not be written." },
} as const satisfies MetricTable;

export const ownMetrics = {
  cattail_certificate_expiry_seconds: {
    type: "gauge",
    label: "file",
    help: "Seconds until the first certificate in the file expires.",
  },
  cattail_tls_reloads_total: { type: "counter", help: "Times new TLS files were loaded." },
  cattail_tls_reload_failures_total: { type: "counter", help: "Times new TLS files were not valid and not loaded." },
  cattail_connections_refused_total: {
    type: "counter",
    label: "check",
    help: "Connections refused during TLS, by the check that failed.",
  },
  cattail_connections_closed_total: { type: "counter", label: "reason", help: "Connections closed, by reason." },
  cattail_keys: { type: "gauge", label: "kind", help: "Objects of a kind that were received." },
  cattail_bytes: { type: "gauge", label: "key", help: "Bytes of the felix keys of a kind in the cache." },
  cattail_forbidden_kinds: {
    type: "gauge",
    label: "kind",
    help: "1 for a kind that may not be read: its objects are missing.",
  },
  cattail_invalid_objects: { type: "gauge", label: "kind", help: "Objects of a kind that are invalid at present." },
  cattail_watch_restarts_total: { type: "counter", label: "kind", help: "Times the watch of a kind was restarted." },
  cattail_watch_backoffs_total: {
    type: "counter",
    label: "kind",
    help: "Times the watch of a kind waited before trying again.",
  },
  cattail_merged_updates_total: {
    type: "counter",
    label: "syncer",
    help: "Updates that were not sent to a slow client because a newer one replaced them.",
  },
  cattail_worker_connections: { type: "gauge", label: "worker", help: "Connections of a worker thread." },
  cattail_worker_utilization: {
    type: "gauge",
    label: "worker",
    help: "Share of time a worker thread was busy, 0 to 1.",
  },
  cattail_recommended_replicas: {
    type: "gauge",
    help: "Recommended number of servers for the number of nodes in this cluster.",
  },
  cattail_datastore_unreachable_seconds: {
    type: "gauge",
    help: "Seconds since the datastore last answered; 0 while it answers.",
  },
} as const satisfies MetricTable;

export const metricTable = { ...originalMetrics, ...ownMetrics };
