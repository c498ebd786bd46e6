// Random changes to nodes, pools, blocks, modes, endpoints, agents and the kernel itself, on five nodes; after each the routes of every node are
// those that a model says, which knows nothing but the data. `npm run campaign:node` makes a thousand of them.
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openNetlink } from "../../src/base/linux/kernel.ts";
import { vtepMac } from "../../src/calico/routing/index.ts";
import { afterTest } from "../kit/after-test.ts";
import { say, sayWrong, size } from "../kit/campaign.ts";
import { noNamespaces } from "../kit/namespace.ts";
import { seededRandom, testSeed } from "../kit/random.ts";
import { modelRoutes } from "../kit/route-nodes/model.ts";
import { kernelRoutes } from "../kit/route-nodes/running.ts";
import { type Member, RandomCluster } from "./node/random-cluster.ts";

const limitMs = 20_000;
const asPools = { vxlan: undefined, ipip: undefined, ipipBy: "us", families: [4, 6] } as const;

/** As the kernel's own are written; what a tunnel address is still awaited for may have its old route, or none. */
function expected(values: ReadonlyMap<string, string>, { node, plain }: Member) {
  const lines: string[] = [];
  const passing = new Set<string>();
  for (const line of modelRoutes(values, node.name, { ...asPools, plain })) {
    const [destination = "", ...words] = line.split(" ");
    const isV6 = destination.includes(":");
    const device = isV6 ? "dev vxlan-v6.calico proto boot" : "dev vxlan.calico proto boot";
    const mtu = isV6 ? "mtu 1430" : "mtu 1450";
    const way = words.join(" ");
    if (way === "passing") passing.add(destination);
    else if (way === "blackhole") lines.push(`blackhole ${destination} proto 80`);
    else if (way === "vxlan link") lines.push(`${destination} ${device} ${mtu}`);
    else if (words[0] === "vxlan") lines.push(`${destination} via ${words[1]} ${device} onlink ${mtu}`);
    else if (words[0] === "direct") lines.push(`${destination} via ${words[1]} dev eth0 proto 80 onlink`);
    else lines.push(`${destination} ${way} proto boot${isV6 ? "" : " metric 1024"}`);
  }
  return { lines: lines.sort(), passing };
}

/** What is wrong on a node; undefined: nothing. */
async function fault(values: ReadonlyMap<string, string>, member: Member): Promise<string | undefined> {
  const { lines, passing } = expected(values, member);
  const seen = (await kernelRoutes(member.node.namespace)).filter((line) => {
    const destination = line.startsWith("blackhole ") ? line.split(" ")[1] : line.split(" ")[0];
    return !passing.has(destination ?? "");
  });
  const missing = lines.filter((line) => !seen.includes(line));
  const excess = seen.filter((line) => !lines.includes(line));
  if (missing.length + excess.length > 0) {
    return `${member.node.name}: missing ${JSON.stringify(missing)}, in excess ${JSON.stringify(excess)}`;
  }
  return await tunnelFault(values, member);
}

/** Forwarding entries of the IPv4 tunnel, where routes go through it. */
async function tunnelFault(values: ReadonlyMap<string, string>, { node }: Member): Promise<string | undefined> {
  await using netlink = openNetlink({ namespace: node.namespace });
  const device = await netlink.link("vxlan.calico");
  const isNeeded = [...values].some(
    ([path, value]) => path.includes("/v4/pool/") && !value.includes('"vxlan_mode":""'),
  );
  const nodes = [...values].filter(([path]) => path.includes("/nodes/")).map(([, value]) => JSON.parse(value));
  if (!isNeeded || !nodes.some((one) => one.metadata.name === node.name)) return undefined;
  if (device === undefined) return `${node.name}: no device`;
  const ends = nodes
    .filter((one) => one.metadata.name !== node.name && one.spec.ipv4VXLANTunnelAddr !== undefined)
    .map((one) => `${vtepMac(one.metadata.name, 4)} ${String(one.spec.bgp.ipv4Address).split("/")[0]}`);
  // One that is no end any more stays known as long as a route that waits for the next one leads there.
  const { index } = device;
  const gateways = (await netlink.routes({ table: 254 })).flatMap((route) =>
    route.index === index ? (route.gateway ?? route.destination.split("/")[0] ?? "") : [],
  );
  const kept = (await netlink.neighbours({ family: "inet", index })).flatMap(({ address, mac }) =>
    address !== undefined && gateways.includes(address) ? (mac ?? "") : [],
  );
  const entries = (await netlink.neighbours({ family: "bridge", index }))
    .filter(({ mac }) => mac?.startsWith("66:"))
    .map(({ mac, address }) => ({ mac: mac ?? "", text: `${mac} ${address}` }))
    .filter(({ mac, text }) => ends.includes(text) || !kept.includes(mac))
    .map(({ text }) => text);
  const isSame = JSON.stringify(ends.sort()) === JSON.stringify(entries.sort());
  return isSame ? undefined : `${node.name}: far ends ${JSON.stringify(entries)}, not ${JSON.stringify(ends)}`;
}

test("random changes on five nodes: every node's routes are the model's", {
  skip: noNamespaces,
  timeout: size({ short: 300_000, long: 3_600_000 }),
}, async (t) => {
  const seed = testSeed();
  const random = afterTest(t).use(new RandomCluster(seededRandom(seed)));
  await random.start();
  const steps = size({ short: 40, long: 1_000 });
  const tookMs: number[] = [];
  const done: string[] = [];
  for (let step = 0; step <= steps; step++) {
    if (step > 0) done.push(await random.step());
    const beganMs = performance.now();
    for (const member of random.members) {
      for (;;) {
        const wrong = await fault(random.cluster.values, member);
        if (wrong === undefined) break;
        if (performance.now() - beganMs > limitMs) {
          const { detail } = member.running.health();
          sayWrong("routes of five nodes", `${done.at(-1) ?? "start"}: ${wrong}`, { changes: step }, seed);
          throw new Error(`seed ${seed}, step ${step}: ${done.slice(-5).join("; ")}\n${wrong}\n${detail}`);
        }
        await sleep(2);
      }
    }
    tookMs.push(performance.now() - beganMs);
  }
  const sorted = tookMs.slice(1).sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  say("routes of five nodes", { changes: steps, p50Ms: at(0.5), p99Ms: at(0.99), worstMs: at(1) }, seed);
});
