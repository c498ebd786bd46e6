// A real API server as the datastore of a case, with Calico's CRDs or without.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRecord, type JsonRecord, parseJson } from "../../../src/base/lib/index.ts";
import { type Cluster, kubeconfigText } from "../../kit/cluster.ts";
import { withoutBookkeeping } from "./masks.ts";
import { type Store, withParsedNotes } from "./store.ts";

const group = "/apis/crd.projectcalico.org/v1";
const rbac = "/apis/rbac.authorization.k8s.io/v1";
const systemNamespaces = ["default", "kube-system", "kube-public", "kube-node-lease"];
/** The label of roles and accounts that a case brought; the recordings have it. */
const mark = "ctl-golden";
const marked = ["ClusterRole", "ClusterRoleBinding", "ServiceAccount"];
const jsonNotes = ["projectcalico.org/metadata", "projectcalico.org/labels", "projectcalico.org/annotations"];

/** What a case may bring besides Calico's own: plural, and whether it has a namespace. */
const core: { readonly [kind: string]: readonly [plural: string, isNamespaced: boolean] } = {
  Namespace: ["namespaces", false],
  Node: ["nodes", false],
  Pod: ["pods", true],
  Service: ["services", true],
  ServiceAccount: ["serviceaccounts", true],
  NetworkPolicy: ["networkpolicies", true],
  ClusterRole: ["clusterroles", false],
  ClusterRoleBinding: ["clusterrolebindings", false],
  Secret: ["secrets", true],
};

type Served = { readonly name: string; readonly namespaced: boolean; readonly kind: string };

export async function kubernetesStore(cluster: Cluster): Promise<Store> {
  const served = await servedKinds(cluster);

  const clean = async () => {
    const custom = served.map(({ name }) => `${group}/${name}`);
    const built = ["/api/v1/nodes", "/api/v1/pods", "/apis/networking.k8s.io/v1/networkpolicies", "/api/v1/services"];
    const brought = [`${rbac}/clusterrolebindings`, `${rbac}/clusterroles`, "/api/v1/serviceaccounts"];
    await Promise.all([
      ...[...custom, ...built].map((path) => removeAll(cluster, path)),
      ...brought.map((path) => removeAll(cluster, path, `?labelSelector=${mark}`)),
    ]);
    for (const namespace of await itemsOf(cluster, "/api/v1/namespaces")) await removeNamespace(cluster, namespace);
  };

  const create = async (object: JsonRecord) => {
    const { status, ...rest } = object;
    const isCustom = object.apiVersion === "crd.projectcalico.org/v1";
    const metadata = metadataOf(object);
    const labels = marked.includes(String(object.kind))
      ? { labels: { ...Object(metadata.labels), [mark]: "true" } }
      : {};
    const path = pathOf(object, served);
    const body = { ...rest, metadata: { ...metadata, ...labels } };
    const made = await must(cluster, "POST", path, isCustom && status !== undefined ? { ...body, status } : body);
    if (status === undefined || isCustom) return;
    await must(cluster, "PUT", `${path}/${metadata.name}/status`, { ...made, status });
  };

  const dump = async () => {
    const custom = await Promise.all(
      served.map(async ({ name, kind }) =>
        (await itemsOf(cluster, `${group}/${name}`)).map(({ apiVersion: _, ...object }) => ({ ...object, kind })),
      ),
    );
    const views = await Promise.all(
      [["/api/v1/nodes", "v1 Node"] as const, ["/api/v1/pods", "v1 Pod"] as const].map(async ([path, kind]) =>
        (await itemsOf(cluster, path)).map((object) => viewOf(kind, object)),
      ),
    );
    const parse = (text: string) => withoutBookkeeping(parseJson(text));
    const keyOf = (object: JsonRecord) => {
      const { namespace = "", name = "" } = metadataOf(object);
      return [object.kind, namespace, name].join("\u0000");
    };
    return [...custom, ...views]
      .flat()
      .map((object) => withParsedNotes(withoutOwnFields(object), jsonNotes, parse))
      .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  };

  return {
    clean,
    create,
    dump,
    async revisionOf(reference) {
      const [plural = "", ...names] = reference.split("/");
      const within = names.length === 2 ? `/namespaces/${names[0]}` : "";
      const path = plural === "nodes" ? `/api/v1/nodes/${names[0]}` : `${group}${within}/${plural}/${names.at(-1)}`;
      return String(metadataOf(await must(cluster, "GET", path)).resourceVersion);
    },
    env: { DATASTORE_TYPE: "kubernetes", KUBECONFIG: cluster.kubeconfig },
    variables: { kubeconfig: cluster.kubeconfig, api: cluster.server },
    masks: [
      [cluster.kubeconfig, "<kubeconfig>"],
      [cluster.server, "<api>"],
      [`127.0.0.1:${cluster.port}`, "<addr>"],
    ],
    async actAs(account, folder) {
      const [namespace = "", name = ""] = account.split("/");
      const token = await cluster.makeToken(name, { namespace });
      const path = join(folder, "as-kubeconfig");
      writeFileSync(path, kubeconfigText({ server: cluster.server, dir: cluster.dir, user: { token } }), {
        mode: 0o600,
      });
      return path;
    },
  };
}

/** None where the CRDs are missing. */
async function servedKinds(cluster: Cluster): Promise<Served[]> {
  const { status, body } = await cluster.ask("GET", group);
  if (status === 404) return [];
  const { resources } = JSON.parse(body) as { resources: Served[] }; // Kubernetes' APIResourceList
  return resources.filter(({ name }) => !name.includes("/"));
}

/** As `cluster.must`, with integers of any size. */
async function must(cluster: Cluster, method: string, path: string, body?: unknown): Promise<JsonRecord> {
  const answer = await cluster.ask(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body.slice(0, 500)}`);
  return Object(parseJson(answer.body));
}

async function itemsOf(cluster: Cluster, path: string): Promise<JsonRecord[]> {
  const { items } = await must(cluster, "GET", path);
  return Array.isArray(items) ? items : [];
}

function metadataOf(object: JsonRecord): JsonRecord {
  return isRecord(object.metadata) ? object.metadata : {};
}

function pathOf({ apiVersion, kind, metadata }: JsonRecord, served: readonly Served[]): string {
  const own = served.find((each) => each.kind === kind);
  const isCustom = apiVersion === "crd.projectcalico.org/v1";
  const [plural, isNamespaced] = isCustom ? [own?.name, own?.namespaced] : (core[String(kind)] ?? []);
  const within = isNamespaced === true ? `/namespaces/${Object(metadata).namespace ?? "default"}` : "";
  return `${apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`}${within}/${plural}`;
}

function viewOf(kind: string, object: JsonRecord): JsonRecord {
  const { name, namespace, labels, annotations } = metadataOf(object);
  const kept = Object.entries({ name, namespace, labels, annotations }).filter(([, value]) => value !== undefined);
  return { kind, metadata: Object.fromEntries(kept) };
}

function withoutOwnFields(object: JsonRecord): JsonRecord {
  const { managedFields: _, generation: __, selfLink: ___, ...metadata } = metadataOf(object);
  return { ...object, metadata };
}

async function removeAll(cluster: Cluster, path: string, query = ""): Promise<void> {
  const found = await itemsOf(cluster, path + query);
  await Promise.all(
    found.map(async (object) => {
      const { namespace, name } = metadataOf(object);
      if (path === "/api/v1/services" && name === "kubernetes") return;
      const at = namespace === undefined ? path : path.replace(/\/([^/]+)$/, `/namespaces/${namespace}/$1`);
      const { status, body } = await cluster.ask("DELETE", `${at}/${name}`, {
        apiVersion: "v1",
        kind: "DeleteOptions",
        gracePeriodSeconds: 0,
      });
      if (status >= 300 && status !== 404) throw new Error(`DELETE ${at}/${name}: ${status} ${body}`);
    }),
  );
}

/** There is no controller that would empty and finish it. */
async function removeNamespace(cluster: Cluster, namespace: JsonRecord): Promise<void> {
  const { resourceVersion: _, ...metadata } = metadataOf(namespace);
  if (systemNamespaces.includes(String(metadata.name))) return;
  const path = `/api/v1/namespaces/${metadata.name}`;
  await cluster.ask("DELETE", path);
  await cluster.ask("PUT", `${path}/finalize`, { ...namespace, metadata, spec: { finalizers: [] } });
  while ((await cluster.ask("GET", path)).status !== 404);
}
