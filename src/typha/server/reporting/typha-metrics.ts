// Typha's metrics: its table, and the values that labels may have. Whatever else turns up is "other".
import type { Clock } from "../../../base/lib/index.ts";
import { createMetrics, type LabelValues, type Metrics } from "../../../base/observe/index.ts";
import { peerChecks } from "../../../base/security/index.ts";
import { followedKinds } from "../../../calico/kinds/index.ts";
import { policyKinds, resourceKinds, syncerTypes } from "../../../calico/model/index.ts";
import { fanoutEndCodes } from "../../fanout/index.ts";
import type { Settings } from "../../settings/index.ts";
import { closeSeverity } from "../../wire/index.ts";
import { workerCount } from "../connections/server-limits.ts";
import { metricTable } from "./metric-table.ts";

export type MetricName = keyof typeof metricTable;
export type TyphaMetrics = Metrics<MetricName>;

type MetricSettings = Pick<Settings, "workers" | "prometheusProcessMetricsEnabled" | "prometheusGoMetricsEnabled">;

export function createTyphaMetrics(settings: MetricSettings, { clock }: { clock: Clock }): TyphaMetrics {
  return createMetrics({
    table: metricTable,
    labels: metricLabels(settings),
    clock,
    includesProcess: settings.prometheusProcessMetricsEnabled,
    includesRuntime: settings.prometheusGoMetricsEnabled,
  });
}

/** The kinds of keys that a felix client is sent. */
export const keyKinds = [
  "Ready",
  "GlobalConfig",
  "HostConfig",
  "Wireguard",
  "HostEndpoint",
  "WorkloadEndpoint",
  "NetworkSet",
  "Tier",
  "ProfileRules",
  "ProfileLabels",
  ...policyKinds,
  "IpPool",
  "Block",
  ...resourceKinds,
].filter((kind, index, all) => all.indexOf(kind) === index);

export function metricLabels(settings: Pick<Settings, "workers">): LabelValues {
  return {
    syncer: syncerTypes,
    kind: followedKinds,
    key: keyKinds,
    file: ["certificate", "ca"],
    reason: [...Object.keys(closeSeverity), ...fanoutEndCodes],
    check: peerChecks,
    worker: Array.from({ length: workerCount(settings) }, (_, index) => `${index + 1}`),
  };
}
