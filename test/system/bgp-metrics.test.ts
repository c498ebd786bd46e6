// BIRD 2 leaves a route beside the one with another metric that takes its place; the agent removes it (src/node/bird/part/other-metrics.ts).
import { equal } from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../src/base/lib/index.ts";
import { askBird } from "../../src/node/bird/index.ts";
import { OtherMetrics } from "../../src/node/bird/part/other-metrics.ts";
import type { BgpCase, KubeObject } from "../kit/bgp/case.ts";
import { noBird } from "../kit/bgp/daemon.ts";
import { ip } from "../kit/bgp/network.ts";
import { PlayedCase } from "../kit/bgp/play.ts";
import { eventually } from "../kit/eventually.ts";
import { noNamespaces } from "../kit/namespace.ts";

const crd = (kind: string, name: string, spec: object): KubeObject => ({
  apiVersion: "crd.projectcalico.org/v1",
  kind,
  metadata: { name },
  spec,
});
const router = (i: number) => ({
  name: `tor${i}`,
  ip: `172.30.0.20${i}/24`,
  as: 64_999 - i,
  neighbors: [{ ip: "172.30.0.11", as: 64_512 }],
  announce: ["10.9.0.0/16"],
});
const filter = (name: string, priority: number) =>
  crd("BGPFilter", name, { importV4: [{ action: "Accept", operations: [{ setPriority: { value: priority } }] }] });
const peer = (i: number) =>
  crd("BGPPeer", `tor${i}`, { peerIP: `172.30.0.20${i}`, asNumber: 64_999 - i, filters: [`of-${i}`] });
const played: BgpCase = {
  about: "two routers for one network, the first one preferred",
  nodes: [{ name: "n1", ip: "172.30.0.11/24" }],
  objects: [filter("of-1", 500), filter("of-2", 600), peer(1), peer(2)],
  tors: [router(1), router(2)],
};

const block = (node: string, cidr: string) =>
  crd("BlockAffinity", `${node}-${cidr.replaceAll(/[./]/g, "-")}`, {
    ...{ cidr, node, state: "confirmed", deleted: "false", type: "host" },
  });

test("a block that becomes this node's own does not lead to the node that had it before", {
  skip: noNamespaces || noBird,
  timeout: 180_000,
}, async () => {
  const modes = { ipipMode: "Never", vxlanMode: "Never", blockSize: 26, nodeSelector: "all()" };
  const moving = "10.244.50.0/26";
  await using run = await PlayedCase.start({
    about: "two nodes and a block",
    nodes: [
      { name: "n1", ip: "172.30.0.11/24" },
      { name: "n2", ip: "172.30.0.12/24" },
    ],
    objects: [crd("IPPool", "pool", { cidr: "10.244.0.0/16", ...modes }), block("n1", moving)],
  });
  const namespace = run.namespaces.get("n2") ?? "";
  const socket = run.birds.get("n2")?.[0]?.socket ?? "";
  const shown = () => ip("-n", namespace, "-4", "route", "show", moving);
  const until = (isSo: () => boolean, what: string) =>
    eventually(
      async () => {
        await run.facts();
        return isSo();
      },
      () => `${what}: ${shown()}`,
    );
  await until(() => shown().includes("via 172.30.0.11"), "it leads to n1");
  await run.stage({ apply: [block("n2", moving)] });
  await until(() => shown().includes("blackhole"), "it is n2's");
  await run.stage({ delete: [["BlockAffinity", `n1-${moving.replaceAll(/[./]/g, "-")}`]] });
  const stop = new AbortController();
  await using metrics = new OtherMetrics({
    log: silentLog,
    signal: stop.signal,
    namespace: `/run/netns/${namespace}`,
    ask: (destination) => askBird(socket, `show route ${destination} all`),
  });
  await eventually(
    async () => {
      await metrics.clear();
      return /^blackhole \S+ proto bird\s*$/.test(shown());
    },
    () => shown(),
  );
});

test("a router that was the preferred one gets nothing any more when it is not, whatever metric its route had", {
  skip: noNamespaces || noBird,
  timeout: 180_000,
}, async () => {
  await using run = await PlayedCase.start(played);
  const namespace = run.namespaces.get("n1") ?? "";
  const socket = run.birds.get("n1")?.[0]?.socket ?? "";
  const routes = () =>
    ip("-n", namespace, "-4", "route", "show", "10.9.0.0/16")
      .split("\n")
      .flatMap((line) => /via (\S+) .*metric (\d+)/.exec(line)?.slice(1).join(" ") ?? [])
      .sort();
  const until = (wanted: readonly string[], what: string) =>
    eventually(
      async () => {
        await run.facts(); // which starts what can be started
        return routes().join() === wanted.join();
      },
      () => `${what}: ${routes().join()}`,
    );
  const established = async () => {
    const { facts } = await run.facts();
    return facts.nodes.n1?.sessions?.filter(({ state }) => state === "Established").length === 2;
  };
  await eventually(async () => (await established()) && routes().includes("172.30.0.201 500"), "the better router's");
  const stop = new AbortController();
  await using metrics = new OtherMetrics({
    log: silentLog,
    signal: stop.signal,
    namespace: `/run/netns/${namespace}`,
    ask: (destination) => askBird(socket, `show route ${destination} all`),
  });
  const cleared = async () => {
    await metrics.clear();
    return routes().join();
  };
  // Whichever came first: the other one's may be beside it.
  await eventually(async () => (await cleared()) === "172.30.0.201 500", "what is alone is left alone");

  await run.stage({ apply: [filter("of-1", 700)] });
  await until(["172.30.0.201 500", "172.30.0.202 600"], "BIRD leaves the one that was the better one");
  equal(await cleared(), "172.30.0.202 600");
});
