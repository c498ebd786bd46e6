// What the original gets wrong, on namespaces with a real BIRD: each test is a fault that was seen there.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { nodeStatusPart } from "../../src/node/bird/index.ts";
import type { BgpCase, KubeObject, MachineFacts } from "../kit/bgp/case.ts";
import { noBird } from "../kit/bgp/daemon.ts";
import { ip } from "../kit/bgp/network.ts";
import { PlayedCase } from "../kit/bgp/play.ts";
import { testWorld } from "../kit/bgp/world.ts";
import { eventually } from "../kit/eventually.ts";
import { noNamespaces } from "../kit/namespace.ts";
import { recordLog } from "../kit/recorded-log.ts";

const crd = (kind: string, name: string, spec: object): KubeObject => ({
  apiVersion: "crd.projectcalico.org/v1",
  kind,
  metadata: { name },
  spec,
});
const pool = crd("IPPool", "pool", {
  cidr: "10.244.0.0/16",
  ipipMode: "Never",
  vxlanMode: "Never",
  blockSize: 26,
  nodeSelector: "all()",
});
const block = (node: string, cidr: string) =>
  crd("BlockAffinity", `${node}-${cidr.replaceAll(/[./]/g, "-")}`, {
    cidr,
    node,
    state: "confirmed",
    deleted: "false",
    type: "host",
  });
const n1 = { name: "n1", ip: "172.30.0.11/24" };
const n2 = { name: "n2", ip: "172.30.0.12/24" };
const tor = { name: "tor1", ip: "172.30.0.201/24", as: 64999, neighbors: [{ ip: "172.30.0.11", as: 64512 }] };
const torPeer = (more: object = {}) =>
  crd("BGPPeer", "tor", { peerIP: "172.30.0.201", asNumber: 64999, node: "n1", ...more });
const noMesh = crd("BGPConfiguration", "default", { nodeToNodeMeshEnabled: false });
const blocks = [block("n1", "10.244.1.0/26"), block("n2", "10.244.2.0/26")];

const sliceOf = (service: string): KubeObject => ({
  kind: "EndpointSlice",
  metadata: {
    name: `${service}-abc`,
    namespace: "default",
    labels: { "kubernetes.io/service-name": service },
  } as KubeObject["metadata"],
  addressType: "IPv4",
  endpoints: [{ addresses: ["10.244.1.5"], nodeName: "n1", conditions: { ready: true } }],
});

const up = (facts: MachineFacts | undefined, peer: string) =>
  facts?.sessions?.some((session) => session.peer === peer && session.state === "Established") === true;
const received = (facts: MachineFacts | undefined, peer: string) =>
  (facts?.received?.[peer] ?? []).map(({ prefix }) => prefix).sort();

async function until(
  run: PlayedCase,
  isSo: (facts: Awaited<ReturnType<PlayedCase["facts"]>>["facts"]) => boolean,
  what: string,
) {
  let last: unknown;
  await eventually(
    async () => {
      const { facts } = await run.facts();
      last = facts;
      return isSo(facts);
    },
    () => `${what}: ${JSON.stringify(last)}`,
  );
}

const readiness = (run: PlayedCase, node: string) => run.worlds.get(node)?.whole.summary().components[0];

describe("better than the original", { concurrency: 4, skip: noNamespaces || noBird }, () => {
  test("a route of somebody else's inside a pool stays what it is, though other nodes announce the same", async () => {
    const routes = ["10.244.88.0/26 via 172.30.0.254"];
    await using run = await PlayedCase.start({
      about: "a static route on every node",
      nodes: [n1, n2].map((node) => ({ ...node, routes })),
      objects: [pool, ...blocks],
    });
    const shown = () =>
      ["n1", "n2"].map((name) => ip("-n", run.namespaces.get(name) ?? "", "route", "show", "10.244.88.0/26"));
    const isBeside = () =>
      shown().every(
        (text) => /^10\.244\.88\.0\/26 via \S+ dev eth0 *$/m.test(text) && /proto bird metric 1 /.test(text),
      );
    await eventually(
      async () => {
        await run.facts();
        return isBeside();
      },
      () => shown().join(),
    );
  });

  test("a node with an AS number of its own peers in the mesh with nodes that have none", async () => {
    const played: BgpCase = { about: "", nodes: [{ ...n1, as: 65001 }, n2], objects: [pool, ...blocks] };
    await using run = await PlayedCase.start(played);
    await until(run, ({ nodes }) => up(nodes.n1, "172.30.0.12") && up(nodes.n2, "172.30.0.11"), "the session is up");
    await until(run, ({ nodes }) => received(nodes.n2, "172.30.0.11").includes("10.244.1.0/26"), "the block arrives");
  });

  test("a filter that does not exist lets nothing out; made, it lets out what it says", async () => {
    const { log, lines } = recordLog();
    const open = { ...tor, name: "tor2", ip: "172.30.0.202/24" };
    const openPeer = crd("BGPPeer", "open", { peerIP: "172.30.0.202", asNumber: 64999, node: "n1" });
    const objects = [pool, noMesh, ...blocks, torPeer({ filters: ["later"] }), openPeer];
    await using run = await PlayedCase.start({ about: "", nodes: [n1], objects, tors: [tor, open] }, { log });
    await until(run, ({ tors }) => up(tors.tor1, "172.30.0.11"), "the session is up");
    await until(
      run,
      ({ tors }) => received(tors.tor2, "172.30.0.11").includes("10.244.1.0/26"),
      "the other router hears",
    );
    ok(lines.some(({ fields }) => fields.code === "BGP_FILTER_MISSING"));
    const { facts } = await run.facts();
    deepEqual(received(facts.tors.tor1, "172.30.0.11"), []);
    await run.stage({
      apply: [
        crd("BGPFilter", "later", { exportV4: [{ cidr: "10.244.0.0/16", matchOperator: "In", action: "Accept" }] }),
      ],
    });
    await until(run, ({ tors }) => received(tors.tor1, "172.30.0.11").includes("10.244.1.0/26"), "the block arrives");
  });

  test("routes of the agent to other nodes are not announced by this one; an address that it lent is", async () => {
    const played: BgpCase = { about: "", nodes: [n1], objects: [pool, noMesh, ...blocks, torPeer()], tors: [tor] };
    await using run = await PlayedCase.start(played);
    const namespace = run.namespaces.get("n1") ?? "";
    ip("-n", namespace, "route", "add", "10.244.2.0/26", "via", "172.30.0.12", "dev", "eth0", "proto", "80", "onlink");
    ip("-n", namespace, "link", "add", "cali9", "type", "veth", "peer", "name", "w9");
    for (const device of ["cali9", "w9"]) ip("-n", namespace, "link", "set", device, "up");
    ip(
      "-n",
      namespace,
      "route",
      "add",
      "10.244.2.9/32",
      "dev",
      "cali9",
      "proto",
      "80",
      "scope",
      "link",
      "metric",
      "1024",
    );
    await until(
      run,
      ({ tors }) => received(tors.tor1, "172.30.0.11").includes("10.244.2.9/32"),
      "the lent address arrives",
    );
    const { facts } = await run.facts();
    deepEqual(received(facts.tors.tor1, "172.30.0.11"), ["10.244.1.0/26", "10.244.2.9/32"]);
  });

  test("a quote in the mesh's password leaves out the mesh, and nothing else", async () => {
    const secret = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "bgp", namespace: "kube-system" },
      stringData: { p: 'a"b' },
    };
    const mesh = crd("BGPConfiguration", "default", { nodeMeshPassword: { secretKeyRef: { name: "bgp", key: "p" } } });
    const objects = [pool, mesh, secret, ...blocks, torPeer()];
    await using run = await PlayedCase.start({ about: "", nodes: [n1, n2], objects, tors: [tor] });
    await until(run, ({ tors }) => up(tors.tor1, "172.30.0.11"), "the other session is up");
    const health = await eventuallyHealth(run, /has a quote/);
    equal(health?.ready, "no");
    equal(health?.detail.includes('a"b'), false, "the password is not told");
    await run.stage({ apply: [{ ...secret, stringData: { p: "good" } }] });
    await until(run, ({ nodes }) => up(nodes.n1, "172.30.0.12"), "the mesh is up with a good password");
  });

  test("the last endpoint slice of a service withdraws its address", async () => {
    const meta = { name: "s", namespace: "default" };
    const service: KubeObject = {
      kind: "Service",
      metadata: meta,
      spec: {
        type: "NodePort",
        clusterIP: "10.96.0.7",
        clusterIPs: ["10.96.0.7"],
        ipFamilies: ["IPv4"],
        externalTrafficPolicy: "Local",
      },
    };
    const ranges = crd("BGPConfiguration", "default", {
      nodeToNodeMeshEnabled: false,
      serviceClusterIPs: [{ cidr: "10.96.0.0/16" }],
    });
    const objects = [pool, ranges, service, sliceOf("s"), ...blocks, torPeer()];
    await using run = await PlayedCase.start({ about: "", nodes: [n1], objects, tors: [tor] });
    await until(
      run,
      ({ tors }) => received(tors.tor1, "172.30.0.11").includes("10.96.0.7/32"),
      "the address is announced",
    );
    await run.stage({ delete: [["EndpointSlice", "s-abc", "default"]] });
    await until(
      run,
      ({ tors }) => {
        const routes = received(tors.tor1, "172.30.0.11");
        return routes.includes("10.96.0.0/16") && !routes.includes("10.96.0.7/32");
      },
      "the address is withdrawn, its range stays",
    );
  });

  test("a range of one address is no blackhole on the node itself", async () => {
    const one: KubeObject = {
      kind: "Service",
      metadata: { name: "one", namespace: "default" },
      spec: {
        type: "NodePort",
        clusterIP: "10.96.0.8",
        clusterIPs: ["10.96.0.8"],
        externalIPs: ["203.0.113.9"],
        externalTrafficPolicy: "Cluster",
        ipFamilies: ["IPv4"],
      },
    };
    const ranges = crd("BGPConfiguration", "default", {
      nodeToNodeMeshEnabled: false,
      serviceExternalIPs: [{ cidr: "203.0.113.9/32" }],
    });
    await using run = await PlayedCase.start({
      about: "",
      nodes: [n1],
      objects: [pool, ranges, one, sliceOf("one"), ...blocks, torPeer()],
      tors: [tor],
    });
    await until(
      run,
      ({ tors }) => received(tors.tor1, "172.30.0.11").includes("203.0.113.9/32"),
      "the address is announced",
    );
    const { facts } = await run.facts();
    deepEqual(
      facts.nodes.n1?.kernel?.map(({ dst }) => dst),
      ["10.244.1.0/26"],
    );
  });

  test("what BIRD refuses leaves the last good configuration, and is said; the files are nobody else's to read", async () => {
    const played: BgpCase = { about: "", nodes: [n1], objects: [pool, noMesh, ...blocks, torPeer()], tors: [tor] };
    const flag = `/tmp/cattail-bgp-refuse-${process.pid}`;
    const wrapper = `/tmp/cattail-bgp-bird-${process.pid}`;
    writeFileSync(
      wrapper,
      `#!/bin/sh\nif [ "$1" = -p ] && [ -e ${flag} ]; then echo "bird: line 1: no thanks" >&2; exit 1; fi\nexec bird "$@"\n`,
    );
    chmodSync(wrapper, 0o755);
    try {
      await using run = await PlayedCase.start(played, { env: { CATTAIL_BIRD: wrapper } });
      await until(run, ({ tors }) => up(tors.tor1, "172.30.0.11"), "the session is up");
      const file = join(run.folder, "n1", "bird.cfg");
      equal(statSync(file).mode & 0o777, 0o600);
      const before = readFileSync(file, "utf8");
      writeFileSync(flag, "");
      await run.stage({ apply: [block("n1", "10.244.7.0/26")] });
      match((await eventuallyHealth(run, /no thanks/))?.detail ?? "", /refuses/);
      equal(readFileSync(file, "utf8"), before);
      equal(existsSync(join(run.folder, "n1", ".bird.cfg.candidate")), false);
      rmSync(flag);
      await run.stage({ apply: [block("n1", "10.244.8.0/26")] });
      await until(
        run,
        ({ tors }) => received(tors.tor1, "172.30.0.11").includes("10.244.7.0/26"),
        "the next one is taken",
      );
      await eventually(() => readiness(run, "n1")?.ready === "yes", "ready again");
    } finally {
      rmSync(flag, { force: true });
      rmSync(wrapper, { force: true });
    }
  });

  test("under churn BIRD is told ten times a second at most", async () => {
    await using run = await PlayedCase.start({
      about: "",
      nodes: [n1],
      objects: [pool, noMesh, ...blocks, torPeer()],
      tors: [tor],
    });
    await until(run, ({ tors }) => up(tors.tor1, "172.30.0.11"), "the session is up");
    const reloads = async () =>
      Number(/^cattail_bird_reloads (\d+)/m.exec((await run.worlds.get("n1")?.metrics.text()) ?? "")?.[1]);
    const [before, startMs] = [await reloads(), performance.now()];
    for (let at = 0; at < 200; at++) {
      await run.datastore.put("BlockAffinity", block("n1", `10.244.${10 + (at % 100)}.0/26`));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(
      run,
      ({ tors }) => received(tors.tor1, "172.30.0.11").includes("10.244.109.0/26"),
      "the last block arrives",
    );
    const [times, seconds] = [(await reloads()) - before, (performance.now() - startMs) / 1000];
    ok(times >= 1 && times <= seconds * 10 + 2, `${times} reloads in ${seconds} s`);
  });

  test("readiness names the peer that is down", async () => {
    await using run = await PlayedCase.start({
      about: "",
      nodes: [n1, n2, { name: "n3", ip: "172.30.0.13/24", absent: true }],
      objects: [pool, ...blocks],
    });
    await until(run, ({ nodes }) => up(nodes.n1, "172.30.0.12"), "one session is up");
    const health = await eventuallyHealth(run, /^BGP not established with 172\.30\.0\.13$/);
    equal(health?.ready, "no");
  });

  test("CalicoNodeStatus: written, of BIRD 2, and not again while nothing changes", async (t) => {
    await using run = await PlayedCase.start({ about: "", nodes: [n1, n2], objects: [pool, ...blocks] });
    await until(run, ({ nodes }) => up(nodes.n1, "172.30.0.12"), "the session is up");
    const status = crd("CalicoNodeStatus", "mine", {
      node: "n1",
      classes: ["Agent", "BGP", "Routes"],
      updatePeriodSeconds: 1,
    });
    await run.datastore.put("CalicoNodeStatus", status);
    await run.datastore.put("CalicoNodeStatus", {
      ...status,
      metadata: { name: "other" },
      spec: { ...(status.spec as object), node: "n2" },
    });
    const world = testWorld({
      node: "n1",
      feed: { follow: () => ({ [Symbol.dispose]: () => undefined }) },
      datastore: run.datastore,
    });
    const ends = new AbortController();
    t.after(() => ends.abort());
    const sockets = { 4: [join(run.folder, "n1", "bird.ctl")], 6: [join(run.folder, "n1", "bird6.ctl")] };
    const running = nodeStatusPart({ sockets }).run(world, ends.signal);
    const read = async (name: string) =>
      (await run.datastore.get("CalicoNodeStatus", { namespace: "", name })) as {
        revision: string;
        value: StatusObject;
      };
    await eventually(async () => {
      const { bgp, routes } = (await read("mine")).value.status ?? {};
      const hasRoute = routes?.routesV4.some(({ destination }) => destination === "10.244.2.0/26");
      return bgp?.numberEstablishedV4 === 1 && hasRoute === true;
    }, "the status is written");
    equal((await read("mine")).value.status?.agent.birdV4.state, "Ready");
    // Longer than its period: a look that finds the same writes nothing. A BIRD that has just begun is told of its configuration once more, and says when.
    let [revision, sinceMs] = [(await read("mine")).revision, performance.now()];
    await eventually(async () => {
      const now = (await read("mine")).revision;
      if (now !== revision) [revision, sinceMs] = [now, performance.now()];
      return performance.now() - sinceMs > 2_500;
    }, "the status stays as it is");
    equal((await read("other")).value.status, undefined);
    ends.abort();
    await running;
  });
});

type StatusObject = {
  status?: {
    agent: { birdV4: { state: string; version: string } };
    bgp: { numberEstablishedV4: number };
    routes: { routesV4: { destination: string }[] };
  };
};

async function eventuallyHealth(run: PlayedCase, detail: RegExp) {
  await eventually(
    () => detail.test(readiness(run, "n1")?.detail ?? ""),
    () => `health says ${detail}, but: ${readiness(run, "n1")?.detail}`,
  );
  return readiness(run, "n1");
}
