// From etcd to Kubernetes: a real etcd is filled, locked and exported, and a real API server gets it all. With the original's calicoctl
// (CATTAIL_ORIGINAL_CALICOCTL names it) its export must be ours to the letter but for what we repair, ours must import its, and both imports leave the same objects.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { isRecord, systemClock, writeJson } from "../../src/base/lib/index.ts";
import { etcdStore } from "../conformance/ctl/etcd-store.ts";
import { kubernetesStore } from "../conformance/ctl/kubernetes-store.ts";
import { Masks } from "../conformance/ctl/masks.ts";
import { aProcess, type Program, withinTest } from "../conformance/ctl/programs.ts";
import { asFile, samples } from "../conformance/ctl/samples.ts";
import type { Store } from "../conformance/ctl/store.ts";
import { type Cluster, clusterPeer, startCluster } from "../kit/cluster.ts";
import { startEtcd } from "../kit/etcd.ts";

const { CATTAIL_ORIGINAL_CALICOCTL: original } = process.env;
const notGiven = original === undefined ? "CATTAIL_ORIGINAL_CALICOCTL does not name the original's calicoctl" : false;
const theirs: Program = aProcess((original ?? "").split(" "));

/** Nodes whose names in etcd and in Kubernetes differ, and everything that names them. */
const withNodes = `
apiVersion: projectcalico.org/v3
kind: Node
metadata: {name: a, labels: {rack: r1}}
spec:
  bgp: {ipv4Address: 10.0.0.1/24, ipv4IPIPTunnelAddr: 10.244.0.1}
  orchRefs: [{nodeName: k8s-a, orchestrator: k8s}]
---
apiVersion: projectcalico.org/v3
kind: Node
metadata: {name: gone}
spec:
  orchRefs: [{nodeName: k8s-gone, orchestrator: k8s}]
---
apiVersion: projectcalico.org/v3
kind: FelixConfiguration
metadata: {name: node.a}
spec: {logSeverityScreen: Debug, defaultEndpointToHostAction: ACCEPT}
---
apiVersion: projectcalico.org/v3
kind: BGPConfiguration
metadata: {name: node.a}
spec: {logSeverityScreen: Info}
---
apiVersion: projectcalico.org/v3
kind: StagedNetworkPolicy
metadata: {name: staged, namespace: prod}
spec: {selector: all()}
---
apiVersion: projectcalico.org/v3
kind: NetworkSet
metadata: {name: set, namespace: prod}
spec: {nets: [10.9.0.0/16]}
`;

const aboutNodes = `
apiVersion: projectcalico.org/v3
kind: BGPPeer
metadata: {name: of-node-a}
spec: {node: a, peerIP: 192.0.2.7, asNumber: 64512}
`;

const block = {
  cidr: "10.244.0.0/26",
  affinity: "host:a",
  allocations: [0, 1, ...Array(62).fill(null)],
  unallocated: Array.from({ length: 62 }, (_, at) => at + 2),
  attributes: [
    { handle_id: "ipip-tunnel-addr-a", secondary: { node: "a", type: "ipipTunnelAddress" } },
    { handle_id: "k8s-pod-network.c1", secondary: { namespace: "prod", node: "a", pod: "web" } },
  ],
  sequenceNumber: 1723456789012345678n,
  sequenceNumberForAllocation: { 0: 1723456789012345677n, 1: 1723456789012345677n },
  deleted: false,
};
const ipam: [key: string, value: object][] = [
  ["assignment/ipv4/block/10.244.0.0-26", block],
  ["host/a/ipv4/block/10.244.0.0-26", { state: "confirmed", deleted: false }],
  ["handle/ipip-tunnel-addr-a", { block: { "10.244.0.0/26": 1 }, deleted: false }],
  ["handle/k8s-pod-network.c1", { block: { "10.244.0.0/26": 1 }, deleted: false }],
  ["config", { strict_affinity: true, auto_allocate_blocks: true, maxBlocksPerHost: 20 }],
];

/** Kinds that an export does not have, or has otherwise than it was given. */
const notExported = ["CalicoNodeStatus", "IPAMConfiguration", "WorkloadEndpoint", "Profile", "Node"];

describe("a migration from etcd to Kubernetes", { skip: (await clusterPeer()).missing ?? false }, () => {
  const until = new AsyncDisposableStack();
  const cwd = mkdtempSync(join(tmpdir(), "cattail-migrate-"));
  let cluster: Cluster;
  let etcd: Store;
  const run = async (program: Program, env: Store["env"], ...argv: string[]) => {
    const all = { PATH: process.env.PATH ?? "", HOME: cwd, ...env };
    return await program({ argv, env: all, cwd, stdin: "", timeoutMs: 120_000 });
  };
  const must = async (program: Program, env: Store["env"], ...argv: string[]) => {
    const { rc, stdout, stderr } = await run(program, env, ...argv);
    equal(rc, 0, `${argv.join(" ")}: ${stdout}${stderr}`);
    return stdout;
  };
  const kubernetes = () => ({ DATASTORE_TYPE: "kubernetes", KUBECONFIG: cluster.kubeconfig });
  const migrate = (program: Program, env: Store["env"], ...argv: string[]) =>
    must(program, env, "datastore", "migrate", ...argv);
  /** A server whose definitions were just replaced asks to be asked again. */
  const patiently = async <T>(ask: (store: Store) => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await ask(await kubernetesStore(cluster));
      } catch (error) {
        if (attempt > 100 || !/: 429 /.test(String(error))) throw error;
        await systemClock.sleep(100);
      }
    }
  };
  const dump = () => patiently((store) => store.dump());
  const emptied = async () => {
    await patiently((store) => store.clean());
    for (const name of ["prod", ...new Set(samples.flatMap(({ metadata }) => namespaceOf(metadata)))]) {
      await cluster.ask("POST", "/api/v1/namespaces", { metadata: { name } });
    }
    await cluster.must("POST", "/api/v1/nodes", { metadata: { name: "k8s-a" } });
  };

  before(async () => {
    cluster = until.use(await startCluster());
    const [member] = until.use(await startEtcd()).members;
    if (member === undefined) throw new Error("no etcd member");
    etcd = etcdStore(member);
    const objects = samples.filter(({ kind }) => !notExported.includes(String(kind)));
    writeFileSync(join(cwd, "objects.json"), asFile(objects));
    writeFileSync(join(cwd, "nodes.yaml"), withNodes);
    await must(withinTest, etcd.env, "apply", "-f", "objects.json");
    await must(withinTest, etcd.env, "apply", "-f", "nodes.yaml");
    for (const [key, value] of ipam) {
      await member.ask({ do: "put", key: `/calico/ipam/v2/${key}`, value: writeJson(value) ?? "" });
    }
    equal(await migrate(withinTest, etcd.env, "lock"), "Datastore locked.\n");
  });
  after(async () => {
    rmSync(cwd, { recursive: true, force: true });
    await until.disposeAsync();
  });

  test("what ours exports, ours imports: objects, the cluster's identity, addresses", async () => {
    writeFileSync(join(cwd, "peer.yaml"), aboutNodes);
    await must(withinTest, etcd.env, "apply", "-f", "peer.yaml");
    writeFileSync(join(cwd, "export.yaml"), await migrate(withinTest, etcd.env, "export"));
    await must(withinTest, etcd.env, "delete", "bgppeer", "of-node-a");
    await emptied();
    const said = await migrate(withinTest, kubernetes(), "import", "-f", "export.yaml");
    match(
      said,
      /^Datastore locked\.\n\[WARNING\] Attempted to import node k8s-gone from etcd.*\nSuccessfully applied \d+ resource/,
    );
    match(
      said,
      /\nImporting IPAM resources\nSuccessfully applied 5 IPAM resource\(s\)\nDatastore information successfully/,
    );
    const stored = await dump();
    const named = (kind: string, name: string) =>
      stored.find((object) => object.kind === kind && Object(object.metadata).name === name);
    deepEqual(Object(named("BGPPeer", "of-node-a")?.spec).node, "k8s-a");
    deepEqual(Object(named("FelixConfiguration", "node.k8s-a")?.spec).defaultEndpointToHostAction, "Accept");
    ok(named("StagedNetworkPolicy", "staged"), "policies of all namespaces are exported");
    const { attributes, affinity, sequenceNumber } = Object(named("IPAMBlock", "10-244-0-0-26")?.spec);
    deepEqual(
      [affinity, sequenceNumber, attributes[0].handle_id, attributes[1].secondary.node],
      ["host:k8s-a", 1723456789012345678n, "ipip-tunnel-addr-k8s-a", "k8s-a"],
    );
    ok(named("BlockAffinity", "k8s-a-10-244-0-0-26"));
    ok(named("IPAMHandle", "ipip-tunnel-addr-k8s-a"));
    deepEqual(Object(named("IPAMConfig", "default")?.spec).strictAffinity, true);
    const [there] = (await etcd.dump()).filter(({ key }) => String(key).endsWith("clusterinformations/default"));
    const { clusterGUID, datastoreReady } = Object(named("ClusterInformation", "default")?.spec);
    deepEqual([clusterGUID, datastoreReady], [Object(Object(there?.value).spec).clusterGUID, false]);
    const node = stored.find(({ kind }) => kind === "v1 Node");
    equal(Object(Object(node?.metadata).annotations)["projectcalico.org/IPv4Address"], "10.0.0.1/24");
    equal(await migrate(withinTest, kubernetes(), "unlock"), "Datastore unlocked.\n");
  });

  test("a datastore that is not empty is left as it is", async () => {
    const before = await dump();
    const { rc, stderr } = await run(withinTest, kubernetes(), "datastore", "migrate", "import", "-f", "export.yaml");
    equal(rc, 1);
    match(stderr, /^datastore already has Calico resources: found existing Calico IPPool resource\. Clear out all/);
    deepEqual(await dump(), before);
  });

  test("policies with their tier before their name get their name", async () => {
    await emptied();
    const path = "/apis/crd.projectcalico.org/v1/globalnetworkpolicies";
    const type = { apiVersion: "crd.projectcalico.org/v1", kind: "GlobalNetworkPolicy" };
    const annotations = { "projectcalico.org/metadata": '{"name":"old","labels":{"a":"b"}}' };
    const spec = { tier: "default", selector: "all()", types: ["Ingress"] };
    await cluster.must("POST", path, { ...type, metadata: { name: "default.old", annotations }, spec });
    const said = await must(withinTest, kubernetes(), "datastore", "migrate-policy-names");
    equal(said, "Policy name migration complete, migrated 1 policies.\n");
    const got = await must(withinTest, kubernetes(), "get", "gnp", "old", "-o", "yaml");
    match(got, /labels:\n {4}a: b\n {4}projectcalico.org\/tier: default|labels:\n {4}a: b\n/);
    equal((await run(withinTest, kubernetes(), "get", "gnp", "default.old")).rc, 1);
  });

  const bad: { name: string; text: string | undefined; says: RegExp }[] = [
    {
      name: "a file that is missing",
      text: undefined,
      says: /^error while reading migration file: open bad.yaml: no such file/,
    },
    { name: "a file that is no export", text: "kind: IPPool\n", says: /bad.yaml is improperly formatted/ },
    { name: "an export that was cut", text: "---\n===\n{}\n===\n{", says: /^failed to read IPAM resources: / },
    {
      name: "records of somebody else",
      text: '---\n===\n{}\n===\n{"blocks":[{"Key":"/x","Value":{}}]}',
      says: /blocks\[0\]\.Key/,
    },
  ];
  for (const { name, text, says } of bad) {
    test(`${name} changes nothing`, async () => {
      rmSync(join(cwd, "bad.yaml"), { force: true });
      if (text !== undefined) writeFileSync(join(cwd, "bad.yaml"), text);
      await emptied();
      const { rc, stderr } = await run(withinTest, kubernetes(), "datastore", "migrate", "import", "-f", "bad.yaml");
      equal(rc, 1);
      match(stderr, says);
      const stored = await dump();
      deepEqual(
        stored.filter(({ kind }) => kind !== "v1 Node"),
        [],
      );
    });
  }

  test("the original's export is ours, and both imports leave the same objects", {
    skip: notGiven,
    timeout: 300_000,
  }, async () => {
    // The original forgets staged policies outside of the namespace "default".
    await must(withinTest, etcd.env, "delete", "stagednetworkpolicy", "staged", "-n", "prod");
    // It cannot import peers that have filters: these come last.
    for (const { kind, metadata, spec } of samples) {
      if (kind !== "BGPPeer" || Object(spec).filters === undefined) continue;
      await must(withinTest, etcd.env, "delete", "bgppeer", String(Object(metadata).name));
    }
    const byTheirs = await migrate(theirs, etcd.env, "export");
    equal(await migrate(withinTest, etcd.env, "export"), byTheirs);
    writeFileSync(join(cwd, "theirs.yaml"), byTheirs);
    const imported = async (program: Program): Promise<unknown> => {
      await emptied();
      await migrate(program, kubernetes(), "import", "-f", "theirs.yaml");
      const masks = new Masks([]);
      return (await dump()).map((object) => masks.value(object));
    };
    const ours = await imported(withinTest);
    deepEqual(ours, await imported(theirs));
  });
});

function namespaceOf(metadata: unknown): string[] {
  const { namespace } = isRecord(metadata) ? metadata : {};
  return typeof namespace === "string" && namespace !== "" ? [namespace] : [];
}
