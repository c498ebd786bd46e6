// Key by key the calculation says what asking for everything anew would say: random histories, against a model that remembers nothing.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { seededRandom, testSeed } from "../../../../test/kit/random.ts";
import {
  blockPath,
  blockValue,
  endpointPath,
  endpointValue,
  nodePath,
  nodeValue,
  type PoolMode,
  poolPath,
  poolValue,
} from "../../../../test/kit/route-nodes/cluster.ts";
import { modelRoutes } from "../../../../test/kit/route-nodes/model.ts";
import { RouteCalculation } from "./calculation.ts";
import type { Resolved } from "./desired.ts";
import type { Ways } from "./resolve.ts";

const names = ["a", "b", "c", "d"];
const pools = ["10.1.0.0/16", "10.1.128.0/17", "10.2.0.0/16", "fd01::/48"];
const blocks = ["10.1.0.0/30", "10.1.128.0/30", "10.1.200.0/32", "10.2.0.4/30", "10.3.0.0/30", "fd01::4/126"];
const modes: PoolMode[] = ["never", "vxlan", "vxlan-cross-subnet", "ipip", "ipip-cross-subnet"];
const asPools = { vxlan: undefined, ipip: undefined, ipipBy: "us" } as const;
const ways: Ways[] = [
  { ...asPools, plain: "us", families: [4, 6] },
  { ...asPools, plain: "bird", families: [4, 6] },
  { ...asPools, plain: "others", families: [4] },
  { ...asPools, plain: "us", vxlan: false, families: [4, 6] },
  { ...asPools, plain: "us", ipip: false, families: [4, 6] },
  { ...asPools, plain: "bird", ipipBy: "bird", families: [4, 6] },
  { ...asPools, plain: "us", ipipBy: "others", families: [4] },
];

/** As the model words it. */
function line(destination: string, resolved: Resolved): string | undefined {
  if (resolved.is === "unroutable") return resolved.isPassing ? `${destination} passing` : undefined;
  if (resolved.is === "left to BGP") return `${destination} bgp ${resolved.node}`;
  const { way } = resolved;
  if (way.is === "workload") return `${destination} dev ${way.interfaceName}`;
  return `${destination} ${way.is}${"gateway" in way ? ` ${way.gateway}` : ""}`;
}

test("random histories: key by key is as all at once", () => {
  const seed = testSeed();
  const random = seededRandom(seed);
  for (let history = 0; history < 60; history++) {
    let current = random.pick(ways);
    const calculation = new RouteCalculation("a", current);
    const values = new Map<string, string>();
    const known = new Map<string, Resolved>();
    const apply = (path: string, value: unknown) => {
      if (value === undefined) {
        values.delete(path);
        calculation.delete(path);
      } else {
        values.set(path, JSON.stringify(value));
        calculation.set(path, JSON.stringify(value));
      }
    };
    for (let step = 0; step < 80; step++) {
      const isGone = random.isOneIn(4);
      const what = random.below(9);
      if (what < 3) {
        const name = random.pick(names);
        const at = names.indexOf(name) + 1;
        const node = nodeValue({
          name,
          address: random.isOneIn(3) ? `172.16.9.${at}/24` : `172.16.0.${at}/${random.pick([24, 32])}`,
          ...(random.isOneIn(2) && { address6: `fd16::${at}/64` }),
          // Also one in a block of somebody else.
          tunnel: random.isOneIn(3) ? undefined : random.pick([`10.1.0.${at - 1}`, `10.2.0.${at + 3}`]),
          tunnel6: random.isOneIn(2) ? undefined : `fd01::${at + 3}`,
        });
        apply(nodePath(name), isGone ? undefined : node);
      } else if (what < 5) {
        const cidr = random.pick(pools);
        const more = {
          disabled: random.isOneIn(3),
          disableBGPExport: random.isOneIn(5),
          ...(random.isOneIn(6) && { allowed_uses: ["LoadBalancer"] }),
        };
        apply(poolPath(cidr), isGone ? undefined : poolValue(cidr, random.pick(modes), more));
      } else if (what < 7) {
        const cidr = random.pick(blocks);
        const size = 2 ** ((cidr.includes(":") ? 128 : 32) - Number(cidr.split("/")[1]));
        const assigned: { [at: number]: string } = {};
        for (let i = 0; i < size; i++) if (random.isOneIn(2)) assigned[i] = random.pick(names);
        const owner = random.isOneIn(6) ? undefined : random.pick(names);
        apply(blockPath(cidr), isGone ? undefined : blockValue(cidr, owner, assigned));
      } else if (what === 7) {
        const pod = `pod${random.below(3)}`;
        const addresses = [random.pick(["10.1.0.1", "10.2.0.5", "10.9.9.9"]), random.pick(["fd01::5", "fd01::6"])];
        apply(endpointPath("a", pod), isGone ? undefined : endpointValue(`cali${pod}`, addresses));
      } else {
        current = random.pick(ways);
        calculation.configure(current);
      }
      if (!random.isOneIn(2)) continue;
      for (const destination of calculation.take().destinations.keys()) {
        const now = calculation.resolved.get(destination);
        if (now === undefined) known.delete(destination);
        else known.set(destination, now);
      }
      const told = [...known].flatMap(([destination, resolved]) => line(destination, resolved) ?? []).sort();
      deepEqual(told, modelRoutes(values, "a", current), `seed ${seed}, history ${history}, step ${step}`);
    }
  }
});

test("one key in, its own destinations out", () => {
  const calculation = new RouteCalculation("a", { ...asPools, plain: "us", families: [4, 6] });
  const set = (path: string, value: unknown) => calculation.set(path, JSON.stringify(value));
  set(poolPath("10.1.0.0/16"), poolValue("10.1.0.0/16", "never"));
  for (const [i, name] of names.entries()) {
    set(nodePath(name), nodeValue({ name, address: `172.16.0.${i + 1}/24` }));
    set(blockPath(`10.1.${i}.0/26`), blockValue(`10.1.${i}.0/26`, name));
  }
  equal(calculation.take().destinations.size, 4);
  set(nodePath("b"), nodeValue({ name: "b", address: "172.16.0.9/24" }));
  deepEqual([...calculation.take().destinations.keys()], ["10.1.1.0/26"]);
  // What says the same in other words changes nothing.
  set(nodePath("b"), { ...(nodeValue({ name: "b", address: "172.16.0.9/24" }) as object), metadata: { labels: {} } });
  set(blockPath("10.1.1.0/26"), blockValue("10.1.1.0/26", "b", { 3: "b" }));
  set("/calico/v1/host/b/workload/k8s/x%2fy/endpoint/eth0", endpointValue("cali1", ["10.1.1.3"]));
  const changes = calculation.take();
  equal(changes.destinations.size, 0);
  equal(changes.areTunnelsDirty, false);
});
