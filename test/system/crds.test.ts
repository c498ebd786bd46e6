// Our CRDs in a real API server: each golden case's Calico objects must be accepted, refused and defaulted as Calico's own
// CRDs did when the case was recorded.
import { deepEqual, equal } from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { calicoKind, crdManifest, type V3KindName, v3KindNames, v3Schemas } from "../../src/model/index.ts";
import { type Cluster, clusterPeer, startCluster } from "../kit/cluster.ts";
import { installCrds } from "../kit/crds.ts";

type Metadata = { name: string; namespace?: string; resourceVersion?: string };
type KubernetesObject = { apiVersion: string; kind: string; metadata: Metadata; spec?: unknown; status?: unknown };
type Observed = { op: string; object: string; answer?: KubernetesObject & { rejected?: string; code?: number } };
type Step = { op: string; objects?: KubernetesObject[] };

const root = "test/vectors/golden/cases";
const group = "crd.projectcalico.org/v1";
const isOurs = (kind: string): kind is V3KindName => kind in v3Schemas;

/** The writes of Calico objects of a case, each with what the API server once answered. */
function writesOf(name: string): { op: string; object: KubernetesObject; observed: Observed }[] {
  const observed: Observed[] = JSON.parse(readFileSync(`${root}/${name}/observed.json`, "utf8"));
  const { steps }: { steps: Step[] } = JSON.parse(readFileSync(`${root}/${name}/steps.json`, "utf8"));
  const writes = steps.flatMap(({ op, objects = [] }) => objects.map((object) => ({ op, object })));
  return writes
    .map((write, at) => ({ ...write, observed: observed[at] ?? { op: "", object: "" } }))
    .filter(({ object }) => object.apiVersion === group && isOurs(object.kind));
}

const cases = readdirSync(root).filter((name) => {
  const files = ["observed.json", "steps.json"].map((file) => `${root}/${name}/${file}`);
  return files.every((file) => existsSync(file)) && writesOf(name).length > 0;
});

function pathOf({ kind, metadata }: KubernetesObject): string {
  const { plural, namespaced } = calicoKind(kind as V3KindName); // only our kinds are written
  const namespace = namespaced ? `namespaces/${metadata.namespace}/` : "";
  return `/apis/${group}/${namespace}${plural}`;
}

const peer = await clusterPeer();
describe("our CRDs in a real API server", { skip: peer.missing ?? false }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster();
    await installCrds(
      cluster,
      v3KindNames.map((kind) => crdManifest(kind)),
    );
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  async function write(op: string, object: KubernetesObject): Promise<{ status: number; body: string }> {
    const path = pathOf(object);
    if (op === "create") return cluster.ask("POST", path, object);
    const one = `${path}/${object.metadata.name}`;
    if (op === "delete") return cluster.ask("DELETE", one);
    const stored: KubernetesObject = JSON.parse((await cluster.ask("GET", one)).body);
    if (op === "status") return cluster.ask("PUT", `${one}/status`, { ...stored, status: object.status });
    const { resourceVersion } = stored.metadata;
    return cluster.ask("PUT", one, { ...object, metadata: { ...object.metadata, resourceVersion } });
  }

  for (const name of cases) {
    test(name, async () => {
      const writes = writesOf(name);
      for (const namespace of new Set(writes.map(({ object }) => object.metadata.namespace))) {
        if (namespace !== undefined) await cluster.ask("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
      }
      for (const { op, object, observed } of writes) {
        const { status, body } = await write(op, object);
        const what = `${op} ${object.kind} ${object.metadata.name}: ${body.slice(0, 400)}`;
        const { answer } = observed;
        if (op === "delete") continue; // some of what is deleted was made by the server under test
        equal(status, answer?.code ?? (op === "create" ? 201 : 200), what);
        if (status >= 300) continue;
        const stored: KubernetesObject = JSON.parse(body);
        deepEqual(stored.spec, answer?.spec, what);
        deepEqual(stored.status, answer?.status, what);
      }
      for (const { object } of writes) await write("delete", object);
    });
  }
});
