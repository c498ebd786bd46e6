// Our CRDs in a real API server, in both of Calico's groups: each golden case's Calico objects must be accepted, refused
// and defaulted as Calico's own CRDs did when the case was recorded. The cases are of the old group; what the new one
// treats otherwise has a table of its own.
import { deepEqual, equal } from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { type CalicoGroup, type CustomKind, crdManifest, customKinds, kindInfo } from "../../src/calico/kinds/index.ts";
import { type Cluster, clusterPeer, startCluster } from "../kit/cluster.ts";
import { installCrds } from "../kit/crds.ts";

type Metadata = { name: string; namespace?: string; resourceVersion?: string };
type KubernetesObject = { apiVersion: string; kind: string; metadata: Metadata; spec?: unknown; status?: unknown };
type Observed = { op: string; object: string; answer?: KubernetesObject & { rejected?: string; code?: number } };
type Step = { op: string; objects?: KubernetesObject[] };

const root = "test/vectors/golden/cases";
const isOurs = (kind: string): kind is CustomKind => customKinds.some((name) => name === kind);
const groups: [group: CalicoGroup, version: string, differing: CustomKind[]][] = [
  ["crd.projectcalico.org", "v1", []],
  ["projectcalico.org", "v3", ["BlockAffinity", "IPAMConfig"]],
];

/** The writes of Calico objects of a case, each with what the API server once answered. */
function writesOf(name: string): { op: string; object: KubernetesObject; observed: Observed }[] {
  const observed: Observed[] = JSON.parse(readFileSync(`${root}/${name}/observed.json`, "utf8"));
  const { steps }: { steps: Step[] } = JSON.parse(readFileSync(`${root}/${name}/steps.json`, "utf8"));
  const writes = steps.flatMap(({ op, objects = [] }) => objects.map((object) => ({ op, object })));
  return writes
    .map((write, at) => ({ ...write, observed: observed[at] ?? { op: "", object: "" } }))
    .filter(({ object }) => object.apiVersion === "crd.projectcalico.org/v1" && isOurs(object.kind));
}

const cases = readdirSync(root).filter((name) => {
  const files = ["observed.json", "steps.json"].map((file) => `${root}/${name}/${file}`);
  return files.every((file) => existsSync(file)) && writesOf(name).length > 0;
});

/** Objects of the new group as Calico's own programs write them, and some that must not be; with the stored spec. */
const block = { cidr: "10.65.0.0/31", allocations: [0, null], unallocated: [1], strictAffinity: false, deleted: false };
const affinity = { cidr: "10.65.0.0/26", deleted: false, node: "node-1", state: "confirmed", type: "host" };
const newGroup: [what: string, kind: string, spec: unknown, stored: unknown][] = [
  ["an affinity in use", "BlockAffinity", affinity, affinity],
  ["one on its way out", "BlockAffinity", { ...affinity, deleted: true }, { ...affinity, deleted: true }],
  ["one without a state yet", "BlockAffinity", { ...affinity, state: "" }, { ...affinity, state: "" }],
  ["one that does not say deleted", "BlockAffinity", { ...affinity, deleted: undefined }, affinity],
  ["the old group's text for deleted", "BlockAffinity", { ...affinity, deleted: "false" }, "refused"],
  ["a state that there is not", "BlockAffinity", { ...affinity, state: "lost" }, "refused"],
  ["an affinity of no network", "BlockAffinity", { ...affinity, cidr: "10.65.0.0" }, "refused"],
  [
    "a block with attributes, and null for a map that was never made",
    "IPAMBlock",
    { ...block, affinity: "host:node-1.a_b", attributes: [{ handle_id: "h" }], sequenceNumberForAllocation: null },
    { ...block, affinity: "host:node-1.a_b", attributes: [{ handle_id: "h" }], sequenceNumber: 0 },
  ],
  ["a block of nobody", "IPAMBlock", { ...block, attributes: [] }, { ...block, attributes: [], sequenceNumber: 0 }],
  ["a block of an odd owner", "IPAMBlock", { ...block, attributes: [], affinity: "pod:a" }, "refused"],
  ["a block of no network", "IPAMBlock", { ...block, attributes: [], cidr: "here" }, "refused"],
  [
    "settings of IPAM that say nothing",
    "IPAMConfiguration",
    {},
    { strictAffinity: false, autoAllocateBlocks: true, maxBlocksPerHost: 0 },
  ],
  [
    "settings of IPAM that say everything",
    "IPAMConfiguration",
    { strictAffinity: true, autoAllocateBlocks: false, maxBlocksPerHost: 1_000_000, ipCooldownSeconds: 1200 },
    { strictAffinity: true, autoAllocateBlocks: false, maxBlocksPerHost: 1_000_000, ipCooldownSeconds: 1200 },
  ],
  ["too many blocks for a host", "IPAMConfiguration", { maxBlocksPerHost: 1_000_001 }, "refused"],
  ["a kind that needs no field, without a spec", "GlobalNetworkSet", undefined, "refused"],
  ["the same with an empty one", "GlobalNetworkSet", {}, {}],
];

const peer = await clusterPeer();
describe("our CRDs in a real API server", { skip: peer.missing ?? false }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster();
    const crds = groups.flatMap(([group]) => customKinds.map((kind) => crdManifest(kind, group)));
    await installCrds(cluster, crds);
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  function pathOf({ apiVersion, kind, metadata }: KubernetesObject): string {
    const { kubernetes, namespaced } = kindInfo(kind as CustomKind); // only our kinds are written
    const namespace = namespaced ? `namespaces/${metadata.namespace}/` : "";
    return `/apis/${apiVersion}/${namespace}${kubernetes?.plural}`;
  }

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

  for (const [group, version, differing] of groups) {
    const isSame = ({ object: { kind } }: { object: KubernetesObject }) => !differing.some((name) => name === kind);
    const apiVersion = `${group}/${version}`;
    for (const name of cases) {
      test(`${apiVersion}: ${name}`, async () => {
        const recorded = writesOf(name).filter(isSame);
        const writes = recorded.map((write) => ({ ...write, object: { ...write.object, apiVersion } }));
        for (const namespace of new Set(writes.map(({ object }) => object.metadata.namespace))) {
          if (namespace === undefined) continue;
          await cluster.ask("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
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
  }

  const plurals: { [kind: string]: string } = {
    BlockAffinity: "blockaffinities",
    GlobalNetworkSet: "globalnetworksets",
    IPAMBlock: "ipamblocks",
    IPAMConfiguration: "ipamconfigurations",
  };
  for (const [what, kind, spec, stored] of newGroup) {
    test(`projectcalico.org/v3: ${what} is ${stored === "refused" ? "refused" : "stored"}`, async () => {
      const apiVersion = "projectcalico.org/v3";
      const path = `/apis/${apiVersion}/${plurals[kind]}`;
      const { status, body } = await cluster.ask("POST", path, { apiVersion, kind, metadata: { name: "one" }, spec });
      equal(status, stored === "refused" ? 422 : 201, body.slice(0, 400));
      if (status !== 201) return;
      await cluster.must("DELETE", `${path}/one`);
      deepEqual(JSON.parse(body).spec, stored);
    });
  }
});
