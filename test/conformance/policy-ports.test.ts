// A question without a port is answered for all ports at once, in ranges: each port has to have the verdict that it gets when it is asked alone.
// On random clusters with host endpoints of both kinds and untracked rules, where a port may stand on either side of a rule.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { judge, judgePorts, worldOf } from "../../src/calico/policy/index.ts";
import { randomCluster } from "../campaign/policy/random-cluster.ts";
import { seededRandom, testSeed } from "../kit/random.ts";

const clusters = Number(process.env.CATTAIL_CLUSTERS ?? 40);
const ports = [
  0, 1, 22, 52, 53, 54, 79, 80, 81, 442, 443, 444, 999, 1000, 1002, 1003, 8079, 8080, 8081, 9091, 9092, 65535,
];
const pairs = [
  ["red/web", "red/db"],
  ["red/web", "ext1"],
  ["ext1", "red/web"],
  ["ext1", "node"],
  ["node", "ext1"],
  ["red/far", "blue/client"],
];
const forward = (port: number | string) => ({
  tier: "default",
  selector: "h == 'all'",
  types: ["ingress", "egress"],
  inbound_rules: [{ action: "deny", protocol: "tcp", dst_ports: [port] }, { action: "allow" }],
  outbound_rules: [{ action: "allow" }],
  apply_on_forward: true,
});
const answers = {
  tier: "default",
  selector: "has(h)",
  types: ["egress"],
  outbound_rules: [{ action: "deny", protocol: "tcp", src_ports: [443] }],
  untracked: true,
  apply_on_forward: true,
};

test(`${clusters} random clusters: ranges of ports have the verdict of each of their ports`, () => {
  const seed = testSeed();
  for (let number = 0; number < clusters; number += 1) {
    const own = (seed + number) >>> 0;
    const random = seededRandom(own);
    const { world } = randomCluster(random);
    const say = (path: string, value: object) => world.data.set(path, JSON.stringify(value));
    say("/calico/v1/host/node-a/endpoint/all", { name: "*", labels: { h: "all" } });
    if (random.isOneIn(2)) {
      say("/calico/v1/host/node-a/endpoint/eth0", { name: "eth0", labels: { h: "one" } });
      say("/calico/v1/policy/GlobalNetworkPolicy//answers", answers);
    }
    say("/calico/v1/policy/GlobalNetworkPolicy//forward", forward(random.pick([80, "1000:1002"])));
    const judged = worldOf(world.data, { isEnforcedOn: (node) => node === "node-a" });
    for (const [from, to] of pairs) {
      const flow = world.flow(`${from} > ${to} tcp:80`);
      if ("left" in flow) continue;
      const ranges = judgePorts(flow, judged);
      const found = ports.map((port) => ranges.find(({ first, last }) => first <= port && port <= last));
      deepEqual(
        Object.fromEntries(ports.map((port, at) => [port, found[at]?.verdict.verdict])),
        Object.fromEntries(ports.map((port) => [port, judge({ ...flow, destinationPort: port }, judged).verdict])),
        `the cluster of seed ${own}, ${from} > ${to}`,
      );
    }
  }
});
