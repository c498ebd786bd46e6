import { deepEqual, doesNotMatch, equal, match, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { isRecord } from "../../base/lib/index.ts";
import { yamlDocuments } from "../shared/yaml-documents.ts";
import {
  besideOperator,
  defaultInstallOptions,
  defaultNodeOptions,
  type Manifest,
  manifests,
  type NodeInstallOptions,
} from "./index.ts";

const options = { ...defaultInstallOptions, serviceMonitor: false };

function find(list: readonly Manifest[], kind: string): Manifest {
  const found = list.find((manifest) => manifest.kind === kind);
  if (found === undefined) throw new Error(`no ${kind}`);
  return found;
}

/** The value at a path of names and indices. */
function at(value: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((inner, name) => {
    if (Array.isArray(inner)) return inner[Number(name)];
    return isRecord(inner) ? inner[name] : undefined;
  }, value);
}

test("everything comes in the order in which it has to be applied", () => {
  const kinds = manifests("all", {
    ...options,
    namespace: "calico-system",
    metricsPort: 9093,
    serviceMonitor: true,
  }).map(({ kind }) => kind);
  const afterCrds = kinds.slice(kinds.lastIndexOf("CustomResourceDefinition") + 1);
  deepEqual(afterCrds, [
    "Namespace",
    "ServiceAccount",
    "ClusterRole",
    "ClusterRoleBinding",
    "Deployment",
    "Service",
    "PodDisruptionBudget",
    "ServiceMonitor",
  ]);
});

const pod = find(manifests("typha", options), "Deployment");
const container = "spec.template.spec.containers.0";
const hardened: [path: string, value: unknown][] = [
  ["spec.template.spec.securityContext.runAsNonRoot", true],
  ["spec.template.spec.securityContext.seccompProfile.type", "RuntimeDefault"],
  [`${container}.securityContext.readOnlyRootFilesystem`, true],
  [`${container}.securityContext.allowPrivilegeEscalation`, false],
  [`${container}.securityContext.capabilities.drop.0`, "ALL"],
  [`${container}.volumeMounts.2.mountPath`, "/tmp"],
  ["spec.template.spec.volumes.2.emptyDir.sizeLimit", "64Mi"],
];
for (const [path, value] of hardened)
  test(`the pod cannot escape: ${path} is ${value}`, () => equal(at(pod, path), value));

test("no two servers share a host, where they would fight for the port", () => {
  const rule =
    "spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.0.topologyKey";
  equal(at(pod, rule), "kubernetes.io/hostname");
});

test("the rights are to list and watch what is followed, and to write only what is set up at the start", () => {
  const role = find(manifests("rbac", options), "ClusterRole");
  const rules = role.rules as { resources: string[]; verbs: string[] }[]; // made by rbac.ts
  const writes = rules.filter(({ verbs }) => verbs.some((verb) => !["get", "list", "watch"].includes(verb)));
  deepEqual(
    writes.flatMap(({ resources }) => resources),
    ["clusterinformations", "tiers"],
  );
  ok(rules.every(({ verbs }) => !verbs.includes("*") && !verbs.includes("delete")));
});

test("certificates may come from the host instead of from Secrets", () => {
  const certificates = { from: "host", directory: "/etc/typha" } as const;
  const deployment = find(manifests("typha", { ...options, certificates }), "Deployment");
  equal(at(deployment, "spec.template.spec.volumes.0.hostPath.path"), "/etc/typha");
});

test("without TLS there is no certificate to mount and none to ask for", () => {
  const deployment = find(manifests("typha", { ...options, certificates: { from: "nowhere" } }), "Deployment");
  const mounts = at(deployment, `${container}.volumeMounts`) as { name: string }[]; // made by workload.ts
  const volumes = at(deployment, "spec.template.spec.volumes") as { name: string }[];
  const env = at(deployment, `${container}.env`) as { name: string }[];
  deepEqual([mounts.map(({ name }) => name), volumes.map(({ name }) => name)], [["tmp"], ["tmp"]]);
  deepEqual(
    env.filter(({ name }) => /CAFILE|CLIENT|CERTFILE|KEYFILE/.test(name)),
    [],
  );
});

test("an account that is somebody's already gets the rights and runs the server, and is not made", () => {
  const list = manifests("all", { ...options, serviceAccount: "calico-node" });
  deepEqual(
    list.filter(({ kind }) => kind === "ServiceAccount"),
    [],
  );
  equal(at(find(list, "ClusterRoleBinding"), "subjects.0.name"), "calico-node");
  equal(at(find(list, "Deployment"), "spec.template.spec.serviceAccountName"), "calico-node");
});

test("of the definitions, only those that are asked for", () => {
  const list = manifests("crds", { ...options, crds: ["IPPool", "Tier"] });
  deepEqual(
    list.map((one) => at(one, "spec.names.kind")),
    ["IPPool", "Tier"],
  );
});

test("servers behind a Service that is there bring a Deployment alone, and one that tells its pods from the others", () => {
  const list = manifests("typha", { ...options, name: "cattail-typha", service: "calico-typha" });
  deepEqual(
    list.map(({ kind }) => kind),
    ["Deployment"],
  );
  const labels = { "k8s-app": "calico-typha", "app.kubernetes.io/instance": "cattail-typha" };
  deepEqual(at(list[0], "spec.selector.matchLabels"), labels);
  deepEqual(at(list[0], "spec.template.metadata.labels"), labels);
  // Of all servers of the Service, because they share a port.
  const apart = "spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.0";
  deepEqual(at(list[0], `${apart}.labelSelector.matchLabels`), { "k8s-app": "calico-typha" });
  const env = at(list[0], `${container}.env`) as { name: string; value: string }[]; // made by workload.ts
  equal(env.find(({ name }) => name === "TYPHA_K8SSERVICENAME")?.value, "calico-typha");
});

test("beside the operator nothing is printed that the operator has made", () => {
  const list = manifests("all", { ...options, ...besideOperator, crds: [] });
  deepEqual(
    list.map(({ kind, metadata }) => `${kind} ${at(metadata, "name")}`),
    ["ClusterRole cattail-typha", "ClusterRoleBinding cattail-typha", "Deployment cattail-typha"],
  );
  deepEqual(at(list.at(-1), "spec.template.spec.volumes.0.secret.items"), [
    { key: "tls.crt", path: "typha.crt" },
    { key: "tls.key", path: "typha.key" },
  ]);
});

const nodeOptions = { ...defaultNodeOptions, nodeImage: "r.example/node:1", cniImage: "calico/cni:v3.30.0" };
const ofNode = (node: Partial<NodeInstallOptions> = {}) =>
  manifests("node", { ...options, node: { ...nodeOptions, ...node } });

test("the node's part has each image where it was named, and nothing where none was", () => {
  const set = JSON.stringify(find(ofNode(), "DaemonSet"));
  match(set, /"name":"install-cni","image":"calico\/cni:v3\.30\.0"/);
  match(set, /"name":"calico-node","image":"r\.example\/node:1"/);
  deepEqual(manifests("node", options), []);
});

test("nodes may read Secrets of their own namespace only", () => {
  const roles = ofNode().filter(({ kind }) => kind === "ClusterRole");
  equal(roles.length, 2); // the agent's and the plugin's
  const inCluster = roles.flatMap(({ rules }) => rules as { resources: string[] }[]);
  deepEqual(
    inCluster.filter(({ resources }) => resources.includes("secrets") || resources.includes("configmaps")),
    [],
  );
  match(JSON.stringify(find(ofNode(), "Role")), /"secrets"/);
});

test("under the names that the page on migration gives, nothing of Calico's agent is replaced, and everything fits together", () => {
  const page = readFileSync("docs/guide/coming-from-calico.md", "utf8");
  ok(page.includes("sed -i 's/: calico-node$/: cattail-node/' node.yaml"));
  const named = yamlDocuments(ofNode()).replace(/: calico-node$/gm, ": cattail-node");
  const documents = parseAllDocuments(named).map((document) => document.toJS());
  const names = documents.map((document) => `${at(document, "kind")} ${at(document, "metadata.name")}`);
  deepEqual(
    names.filter((name) => name.endsWith("calico-node")),
    [],
  );
  const asked = documents.flatMap((document) => [
    ...(isRecord(document.roleRef) ? [`${at(document, "roleRef.kind")} ${at(document, "roleRef.name")}`] : []),
    ...(isRecord(document.roleRef) ? [`ServiceAccount ${at(document, "subjects.0.name")}`] : []),
    ...(document.kind === "DaemonSet"
      ? [`ServiceAccount ${at(document, "spec.template.spec.serviceAccountName")}`]
      : []),
  ]);
  ok(asked.length >= 7);
  deepEqual(
    asked.filter((name) => !names.includes(name)),
    [],
  );
  const set = documents.find(({ kind }) => kind === "DaemonSet");
  deepEqual(at(set, "spec.selector.matchLabels"), at(set, "spec.template.metadata.labels"));
});

test("without a Typha the nodes follow the API server themselves, and have no certificates", () => {
  const text = JSON.stringify(ofNode({ typhaService: undefined }));
  doesNotMatch(text, /FELIX_TYPHA|node-certs/);
  match(text, /"networkpolicies"[^}]*"verbs":\["list","watch"\]/);
});

for (const [backend, flags] of [
  ["bird", ["-bird-ready", "-felix-ready"]],
  ["vxlan", ["-felix-ready"]],
] as const)
  test(`with the backend ${backend} readiness asks ${flags.join(" and ")}`, () =>
    ok(JSON.stringify(ofNode({ backend })).includes(JSON.stringify(["/bin/calico-node", ...flags]))));
