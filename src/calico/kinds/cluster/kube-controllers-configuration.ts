// KubeControllersConfiguration: what Calico's controllers do. No client is told of it.
import {
  duration,
  int32,
  int64,
  integer,
  kept,
  lazy,
  list,
  map,
  required,
  type SchemaType,
  struct,
  text,
} from "../../model/index.ts";
import { each, fields, filled, type Problem } from "../checks/check.ts";
import { annotationProblems } from "../checks/metadata.ts";
import { cidrs, labels, name, oneOf, regexp, selector } from "../checks/tags.ts";
import { nameCell } from "../columns.ts";
import { customResource, forSpec, onlyDefault, type SpecObject, specChecks } from "../kind.ts";

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

const kubeControllersConfigurationSpec = lazy(() =>
  struct({
    logSeverityScreen: text({ enum: ["None", "Debug", "Info", "Warning", "Error", "Fatal", "Panic"] }),
    healthChecks: text({ enum: ["Enabled", "Disabled"], default: "Enabled" }),
    etcdV3CompactionPeriod: duration(),
    prometheusMetricsPort: integer(int64, { minimum: 0, maximum: 65535 }),
    debugProfilePort: integer(int32, { format: "int32", minimum: 0, maximum: 65535 }),
    controllers: required(kept(controllers)),
  }),
);

const kubeControllersConfigurationStatus = lazy(() =>
  struct({
    runningConfig: kubeControllersConfigurationSpec,
    environmentVars: map(text()),
  }),
);

type Spec = SchemaType<typeof kubeControllersConfigurationSpec>;
type Controllers = NonNullable<Spec["controllers"]>;
type NodeController = NonNullable<Controllers["node"]>;
type AutoEndpoint = NonNullable<NodeController["hostEndpoint"]>;
type Template = NonNullable<AutoEndpoint["templates"]>[number];

const checks = () => {
  const onOrOff = filled(oneOf("Enabled", "Disabled"));
  const templates = each(
    fields<Template>(
      {
        generateName: filled(name),
        interfaceCIDRs: filled(cidrs),
        interfacePattern: filled(regexp),
        labels,
        nodeSelector: filled(selector),
      },
      ({ annotations = {} }, { path }) => annotationProblems(annotations, `${path}.annotations`),
    ),
  );
  const choice = { ...oneOf("Enabled", "Disabled"), tag: "createDefaultHostEndpoint" };
  const hostEndpoint = fields<AutoEndpoint>({
    autoCreate: onOrOff,
    createDefaultHostEndpoint: filled(choice),
    templates,
  });
  return fields<Spec>({
    healthChecks: onOrOff,
    controllers: fields<Controllers>({
      node: fields<NodeController>({ syncLabels: onOrOff, hostEndpoint }),
      migration: fields<NonNullable<Controllers["migration"]>>({ policyNameMigrator: onOrOff }),
    }),
  });
};

function* beforeWrite({ metadata, spec }: SpecObject<Spec>): Generator<Problem> {
  yield* onlyDefault(
    metadata,
    'Cannot create a Kube Controllers Configuration resource with a name other than "default"',
  );
  yield* templateProblem(spec.controllers?.node?.hostEndpoint?.templates ?? []);
}

/** The first one only: the original looks no further. */
function templateProblem(templates: readonly Template[]): Problem[] {
  const all = "KubeControllersConfiguration.Node.HostEndpoint.Templates";
  const seen = new Set<string>();
  for (const [at, { generateName = "", interfaceCIDRs = [], interfacePattern = "" }] of templates.entries()) {
    const field = `spec.controllers.node.hostEndpoint.templates[${at}]`;
    const called = `${all}.${generateName}`;
    if (generateName === "") {
      return [{ field, rule: "must have a generateName", name: all, reason: "Template name must be specified" }];
    }
    if (generateName.length > 253) {
      const rule = "must have a generateName of up to 253 characters";
      return [{ field, rule, name: all, reason: "Template name must be shorter than 253 characters" }];
    }
    if (seen.has(generateName)) {
      const rule = "must have a generateName of its own";
      return [{ field, rule, name: called, reason: "Template name must be unique" }];
    }
    seen.add(generateName);
    if (interfaceCIDRs.length > 0 || interfacePattern !== "") continue;
    const reason = "InterfaceCIDRs or InterfacePattern must be specified";
    return [{ field, rule: "must have interfaceCIDRs or an interfacePattern", name: called, reason }];
  }
  return [];
}

/** What the original fills in, where the controller is there at all. */
function fill({ metadata, spec }: SpecObject<Spec>): SpecObject<Spec> {
  const { node, loadBalancer, ...others } = spec.controllers ?? {};
  return {
    metadata,
    spec: {
      ...spec,
      prometheusMetricsPort: spec.prometheusMetricsPort ?? 9094,
      controllers: {
        ...others,
        ...(node === undefined ? {} : { node: { ...node, leakGracePeriod: node.leakGracePeriod ?? "15m0s" } }),
        ...(loadBalancer === undefined
          ? {}
          : { loadBalancer: { ...loadBalancer, assignIPs: loadBalancer.assignIPs || "AllServices" } }),
      },
    },
  };
}

export const kubeControllersConfiguration = customResource("KubeControllersConfiguration", {
  names: [
    "kubecontrollersconfiguration",
    "kubecontrollersconfigurations",
    "kubecontrollersconfig",
    "kubecontrollersconfigs",
  ],
  columns: { ps: [nameCell] },
  schema: { spec: kubeControllersConfigurationSpec, status: kubeControllersConfigurationStatus },
  newGroup: { shortNames: ["kcc", "kccs"] },
  fill: forSpec(fill),
  checks: specChecks(checks),
  beforeWrite: forSpec(beforeWrite),
});
