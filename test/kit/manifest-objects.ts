// What `cattail manifests` and `cattail certs secret` print, as objects, and `kubectl apply --server-side` for them.
import { parseAllDocuments } from "yaml";
import { cattail } from "./cattail-process.ts";
import type { Cluster, Rule } from "./cluster.ts";
import { eventually } from "./eventually.ts";

export type Printed = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string };
  rules?: Rule[];
  spec?: { template?: { spec: { containers: { env: { name: string; value: string }[] }[] } } };
};
export type Applied = { metadata: { resourceVersion: string; generation?: number } };

const plurals: { readonly [kind: string]: string } = {
  CustomResourceDefinition: "customresourcedefinitions",
  Namespace: "namespaces",
  ServiceAccount: "serviceaccounts",
  ClusterRole: "clusterroles",
  ClusterRoleBinding: "clusterrolebindings",
  Role: "roles",
  RoleBinding: "rolebindings",
  Deployment: "deployments",
  DaemonSet: "daemonsets",
  Service: "services",
  PodDisruptionBudget: "poddisruptionbudgets",
  ConfigMap: "configmaps",
  Secret: "secrets",
};

/** Runs the command and reads the YAML that it prints. */
export async function printObjects(parameters: readonly string[]): Promise<{ text: string; objects: Printed[] }> {
  const { code, stdout: text, stderr } = await cattail(parameters);
  if (code !== 0) throw new Error(`cattail ${parameters.join(" ")} ended with ${code}: ${stderr}`);
  return { text, objects: parseAllDocuments(text).map((document) => document.toJS() as Printed) }; // what we printed
}

export function findObject(objects: readonly Printed[], kind: string): Printed {
  const found = objects.find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`no ${kind} was printed`);
  return found;
}

/** The environment that the printed Deployment gives its container. */
export function deployedEnvironment(objects: readonly Printed[]): { [name: string]: string } {
  const given = findObject(objects, "Deployment").spec?.template?.spec.containers[0]?.env ?? [];
  return Object.fromEntries(given.map(({ name, value }) => [name, value]));
}

export async function applyObject(cluster: Cluster, one: Printed): Promise<Applied> {
  return (await cluster.must("PATCH", `${pathOf(one)}?fieldManager=kubectl`, one)) as Applied; // a Kubernetes object
}

export async function lookUpObject(cluster: Cluster, one: Printed): Promise<Applied> {
  return (await cluster.must("GET", pathOf(one))) as Applied; // a Kubernetes object
}

/** Waits until the API server serves the kinds that were defined. */
export async function untilDefined(cluster: Cluster, objects: readonly Printed[]): Promise<void> {
  for (const { kind, metadata } of objects) {
    if (kind !== "CustomResourceDefinition") continue;
    const [plural = "", ...group] = metadata.name.split(".");
    await eventually(async () => {
      return (await cluster.ask("GET", `/apis/${group.join(".")}/v1/${plural}?limit=1`)).status === 200;
    }, `${plural} are served`);
  }
}

function pathOf({ apiVersion, kind, metadata }: Printed): string {
  const plural = plurals[kind];
  if (plural === undefined) throw new Error(`where do ${kind}s go?`);
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const scope = metadata.namespace === undefined ? "" : `/namespaces/${metadata.namespace}`;
  return `${root}${scope}/${plural}/${metadata.name}`;
}
