// The original's metrics about policy, as published dashboards ask for them. Rows that this part sets; node/agent puts them into its table.
import type { Metrics, MetricTable } from "../../../base/observe/index.ts";
import type { NodePolicy } from "../../../calico/policy/index.ts";

const by = <const Label extends string>(label: Label) => ({ label, isClosed: true }) as const;
const gauge = (help: string) => ({ type: "gauge", help }) as const;
const byFamily = (help: string) => ({ ...gauge(help), ...by("ip_version") }) as const;
const counter = (help: string) => ({ type: "counter", help }) as const;
const summary = (help: string) => ({ type: "summary", help }) as const;

export const policyMetricRows = {
  felix_active_local_endpoints: gauge("Endpoints of this node."),
  felix_active_local_policies: gauge("Policies that select an endpoint of this node."),
  felix_active_local_selectors: gauge("Sets that rules of this node need."),
  felix_cluster_num_hosts: gauge("Nodes of the cluster."),
  felix_cluster_num_policies: gauge("Policies of the cluster."),
  felix_cluster_num_profiles: gauge("Profiles of the cluster."),
  felix_cluster_num_tiers: gauge("Tiers of the cluster."),
  felix_cluster_num_host_endpoints: gauge("Host endpoints of the cluster."),
  felix_cluster_num_workload_endpoints: gauge("Workload endpoints of the cluster."),
  felix_label_index_num_endpoints: gauge(
    "Endpoints and network sets whose labels selectors of rules are compared with.",
  ),
  felix_label_index_num_active_selectors: gauge("Selectors and services that rules of this node name."),
  felix_label_index_selector_evals: {
    ...counter("Times that labels were compared with a selector of a rule."),
    ...by("result"),
  },
  felix_label_index_strategy_evals: {
    ...counter("Times that endpoints were looked for that a selector of a rule matches, by the way they are found."),
    ...by("strategy"),
  },
  felix_calc_graph_update_time_seconds: summary("Time from a batch of changes to the rules that they mean."),
  felix_calc_graph_updates_processed: counter("Key/values that were taken."),
  felix_calc_graph_output_events: counter("Transactions that changes led to."),
  felix_int_dataplane_apply_time_seconds: summary("Time that the kernel took for a transaction, refusals included."),
  felix_int_dataplane_failures: counter("Transactions that the kernel refused."),
  felix_int_dataplane_messages: counter("Batches of key/values."),
  felix_int_dataplane_msg_batch_size: summary("Key/values in a batch."),
  felix_int_dataplane_iface_msg_batch_size: summary("Interface changes taken at once."),
  felix_int_dataplane_addr_msg_batch_size: summary("Address changes taken at once."),
  felix_int_dataplane_initial_resync_time_seconds: gauge("Time from being in sync to the first complete table."),
  felix_ipsets_calico: byFamily("Sets in our table, by family."),
  felix_ipsets_total: gauge("Sets in our table."),
  felix_ipset_calls: counter("Always 0: sets are changed with the rules that use them."),
  felix_ipset_errors: counter("Always 0."),
  felix_ipset_lines_executed: counter("Always 0."),
  felix_nft_chains: gauge("Chains in our table."),
  felix_nft_rules: gauge("Rules in our table."),
  felix_nft_sets: gauge("Sets in our table."),
  felix_nft_maps: gauge("Maps in our table."),
  felix_nft_calls: counter("Transactions that were tried."),
  felix_nft_errors: counter("Transactions that failed."),
  felix_nft_list_calls: counter("Times that the kernel's state was read."),
  felix_nft_list_errors: counter("Times that it could not be read."),
  felix_nft_set_calls: counter("Always 0: sets are read and changed with the rules that use them."),
  felix_nft_set_errors: counter("Always 0."),
  felix_nft_repairs: counter("Times that our table was put back after somebody else had changed it."),
  felix_nft_refused_policies: gauge("Policies that the kernel refuses, which deny until they are changed."),
  felix_exec_time_micros: summary("Time that nft took, in microseconds."),
  felix_void_values: gauge("Values of the cluster that make no sense, and count as absent."),
} as const satisfies MetricTable;

/** What the labels of these rows can be. */
export const policyMetricLabels = {
  ip_version: ["4", "6"],
  result: ["true", "false"],
  strategy: ["no-match", "single-value", "multi-value", "label-name", "full-scan"],
} as const;

export function countPolicy(
  metrics: Pick<Metrics, "set" | "add">,
  policy: Pick<NodePolicy, "data" | "counts" | "takeComparisons">,
  counts: { readonly chains: number; readonly rules: number; readonly sets: number; readonly maps: number },
): void {
  const { data, counts: active } = policy;
  const values: { readonly [name in keyof typeof policyMetricRows]?: number } = {
    felix_active_local_endpoints: active.endpoints,
    felix_active_local_policies: active.policies,
    felix_active_local_selectors: active.sets,
    felix_label_index_num_endpoints: active.labelled,
    felix_label_index_num_active_selectors: active.sets,
    felix_cluster_num_hosts: data.nodeAddresses.size,
    felix_cluster_num_policies: data.policies.size,
    felix_cluster_num_profiles: data.profiles.size,
    felix_cluster_num_tiers: data.tiers.size,
    felix_cluster_num_host_endpoints: data.hostEndpoints.size,
    felix_cluster_num_workload_endpoints: data.workloads.size,
    felix_ipsets_total: counts.sets,
    felix_nft_chains: counts.chains,
    felix_nft_rules: counts.rules,
    felix_nft_sets: counts.sets,
    felix_nft_maps: counts.maps,
    felix_void_values: data.voids.size,
  };
  for (const [name, value] of Object.entries(values)) metrics.set(name, undefined, value);
  const { results, strategies } = policy.takeComparisons();
  for (const [result, times] of Object.entries(results)) metrics.add("felix_label_index_selector_evals", result, times);
  for (const [way, times] of Object.entries(strategies)) metrics.add("felix_label_index_strategy_evals", way, times);
  for (const family of ["4", "6"]) metrics.set("felix_ipsets_calico", family, counts.sets / 2);
}
