// KubeControllersConfiguration: what Calico's controllers do. No client is told of it.
import { duration, int32, int64, integer, kept, lazy, list, map, required, struct, text } from "../../model/index.ts";
import { nameCell } from "../columns.ts";
import { customResource } from "../kind.ts";

const period = lazy(() => struct({ reconcilerPeriod: duration() }));

const template = lazy(() =>
  struct({
    generateName: text({ maxLength: 253 }),
    interfaceCIDRs: list(text(), { "x-kubernetes-list-type": "set" }),
    interfacePattern: text(),
    labels: map(text()),
    annotations: map(text()),
    nodeSelector: text(),
  }),
);

const controllers = lazy(() =>
  struct({
    node: struct({
      reconcilerPeriod: duration(),
      syncLabels: text({ enum: ["Enabled", "Disabled"] }),
      hostEndpoint: struct({
        autoCreate: text({ enum: ["Enabled", "Disabled"] }),
        createDefaultHostEndpoint: text(),
        templates: list(template, { "x-kubernetes-list-type": "atomic" }),
      }),
      leakGracePeriod: duration(),
    }),
    policy: period,
    workloadEndpoint: period,
    serviceAccount: period,
    namespace: period,
    loadBalancer: struct({
      assignIPs: text({ enum: ["AllServices", "RequestedServicesOnly"], default: "AllServices" }),
    }),
    migration: struct({ policyNameMigrator: text({ enum: ["Disabled", "Enabled"], default: "Enabled" }) }),
  }),
);

export const kubeControllersConfigurationSpec = lazy(() =>
  struct({
    logSeverityScreen: text({ enum: ["None", "Debug", "Info", "Warning", "Error", "Fatal", "Panic"] }),
    healthChecks: text({ enum: ["Enabled", "Disabled"], default: "Enabled" }),
    etcdV3CompactionPeriod: duration(),
    prometheusMetricsPort: integer(int64, { minimum: 0, maximum: 65535 }),
    debugProfilePort: integer(int32, { format: "int32", minimum: 0, maximum: 65535 }),
    controllers: required(kept(controllers)),
  }),
);

export const kubeControllersConfigurationStatus = lazy(() =>
  struct({
    runningConfig: kubeControllersConfigurationSpec,
    environmentVars: map(text()),
  }),
);

export const kubeControllersConfiguration = customResource("KubeControllersConfiguration", {
  names: [
    "kubecontrollersconfiguration",
    "kubecontrollersconfigurations",
    "kubecontrollersconfig",
    "kubecontrollersconfigs",
  ],
  columns: { ps: [nameCell] },
  rights: { ctl: ["get", "list", "create", "update", "delete"] },
  schema: { spec: kubeControllersConfigurationSpec, status: kubeControllersConfigurationStatus },
  newGroup: { shortNames: ["kcc", "kccs"] },
});
