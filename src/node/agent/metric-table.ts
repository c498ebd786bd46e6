// The agent's own metrics, by the original's names where it has them: these are what published dashboards show. Rooms whose parts count
// something bring rows of their own; what has no row is counted nowhere.
import type { MetricTable } from "../../base/observe/index.ts";

const gauge = (help: string) => ({ type: "gauge", help }) as const;
const counter = (help: string) => ({ type: "counter", help }) as const;
const by = <const Label extends string>(label: Label) => ({ label, isClosed: true }) as const;

const none = "Always 0: packet rules are nftables.";

export const agentMetrics = {
  felix_host: { ...gauge("1, with the node's name."), ...by("host") },
  felix_resync_state: gauge("How far the cluster's state is: 0 none, 1 on its way, 2 in sync."),
  felix_resyncs_started: counter("Times that the cluster's state was in sync again after it was not."),
  felix_log_errors: counter("Log lines that could not be written."),
  felix_logs_dropped: counter("Log lines dropped because the destination was slow."),
  felix_iptables_chains: { ...gauge(none), ...by("ip_version") },
  felix_iptables_rules: { ...gauge(none), ...by("ip_version") },
  felix_iptables_restore_calls: counter(none),
  felix_iptables_restore_errors: counter(none),
  felix_iptables_save_calls: counter(none),
  felix_iptables_save_errors: counter(none),
  felix_iptables_lines_executed: counter(none),
  cattail_node_part_up: { ...gauge("1 while a part of the agent runs."), ...by("part") },
  cattail_node_part_failures_total: {
    ...counter("Times that a part of the agent failed and was started again."),
    ...by("part"),
  },
} as const satisfies MetricTable;
