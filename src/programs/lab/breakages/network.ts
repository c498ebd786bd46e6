// What is broken between the nodes, or in their kernels.

import { CattailError } from "../../../base/lib/index.ts";
import { openNetlink, readSysctl, writeSysctl } from "../../../base/linux/kernel.ts";
import { killBirds } from "../cluster/birds.ts";
import type { Lab } from "../cluster/lab.ts";
import {
  bridgeOf,
  type LabNode,
  network6,
  type Place,
  switchAddress,
  switchAddress6,
  switchPort,
} from "../world/index.ts";
import type { Breakage } from "./breakage.ts";

/** The guide's nodes: the first has the control plane's name, pods are on the second and the third. */
export const [second, third] = ["cka002", "cka003"] as const;

export const nft = async (place: Place | LabNode, script: string): Promise<void> => {
  await place.run("nft", ["-f", "-"], { stdin: `${script}\n` });
};

/** A table of one chain, at the hook where packets are passed on. */
export function tableOf(name: string, chain: string, rules: readonly string[]): string {
  const lines = ["type filter hook forward priority 0", ...rules].map((rule) => `    ${rule};`);
  return [`table ${name} {`, `  chain ${chain} {`, ...lines, "  }", "}"].join("\n");
}

/** A table of its own, so that to mend is to delete it. */
export const table = "lab_break";

export const networkBreakages: readonly Breakage[] = [
  {
    name: "underlay",
    code: "UNDERLAY_DROPS_PODS",
    says: "the network between the nodes drops packets with addresses of pods, as clouds do",
    modes: ["direct", "bgp"],
    make: ({ world }) =>
      nft(
        world.switch,
        tableOf(`bridge ${table}`, "forward", ["ip saddr 10.244.0.0/16 drop", "ip daddr 10.244.0.0/16 drop"]),
      ),
    mend: ({ world }) => nft(world.switch, `delete table bridge ${table}`),
  },
  {
    name: "vxlan-blocked",
    code: "VXLAN_BLOCKED",
    says: "the network between the nodes drops VXLAN (UDP port 4789)",
    modes: ["vxlan"],
    make: ({ world }) => nft(world.switch, tableOf(`bridge ${table}`, "forward", ["udp dport 4789 drop"])),
    mend: ({ world }) => nft(world.switch, `delete table bridge ${table}`),
  },
  {
    name: "bgp-blocked",
    code: "BGP_SESSION_DOWN",
    says: "TCP port 179 is blocked between two workers only, and everything is green",
    modes: ["bgp"],
    async make(lab) {
      await nft(lab.world.switch, blockBgp(lab));
      await restartBird(lab, [second, third]);
    },
    mend: ({ world }) => nft(world.switch, `delete table bridge ${table}`),
  },
  {
    name: "bgp-wait",
    code: "BGP_WAITS",
    says: "BIRD was restarted while one of its peers cannot be reached, and holds its routes back",
    modes: ["bgp"],
    async make(lab) {
      await nft(lab.world.switch, blockBgp(lab));
      killBirds(lab.world.node(second)); // the agent starts it anew, and it waits for all of its peers
    },
    mend: ({ world }) => nft(world.switch, `delete table bridge ${table}`),
  },
  {
    name: "mtu",
    code: "MTU_PATH",
    says: "a switch port takes smaller packets than the node behind it sends",
    make: ({ world }) => setMtu(world.switch, switchPort(second), 1400),
    mend: ({ world }) => setMtu(world.switch, switchPort(second), 1500),
  },
  {
    name: "forwarding",
    code: "FORWARDING_OFF",
    says: "a node does not forward packets, and the agent that would mind is stopped",
    async make(lab) {
      pause(lab, third);
      writeSysctl("net.ipv4.ip_forward", 0, { namespace: lab.world.node(third).netns });
    },
    async mend(lab) {
      writeSysctl("net.ipv4.ip_forward", 1, { namespace: lab.world.node(third).netns });
      resume(lab, third);
    },
  },
  {
    name: "rp-filter",
    code: "REVERSE_PATH_FILTER",
    says: "a strict reverse path filter, and a way back by another interface",
    modes: ["direct"],
    make: makeAsymmetric,
    mend: mendAsymmetric,
  },
  {
    name: "docker-forward",
    code: "FOREIGN_FORWARD_DROP",
    says: "Docker has set the policy of FORWARD to drop",
    make: ({ world }) => nft(world.node(third), tableOf("ip filter", "FORWARD", ["policy drop"])),
    mend: ({ world }) => nft(world.node(third), "delete table ip filter"),
  },
  {
    name: "agent",
    code: "AGENT_SILENT",
    says: "the agent of a node has ended, and nobody has started it again",
    make: (lab) => lab.stopAgent(third),
    mend: (lab) => lab.startAnew(third),
  },
  {
    name: "missing-route",
    code: "ROUTE_MISSING",
    says: "a route to another node's block is gone, and the agent that would repair it is stopped",
    modes: ["direct", "vxlan"],
    make: makeMissingRoute,
    mend: (lab) => restart(lab, second),
  },
  {
    name: "subnets",
    code: "SUBNETS_WITHOUT_ENCAPSULATION",
    says: "a node is in another network, and the pools have no encapsulation",
    modes: ["direct", "bgp"],
    make: (lab) => moveNode(lab, { to: 1 }),
    mend: (lab) => moveNode(lab, { to: 0 }),
  },
  {
    name: "stale-address",
    code: "NODE_ADDRESS_STALE",
    says: "a node got another address, and its agent has not noticed yet",
    async make(lab) {
      pause(lab, third);
      await readdress(lab.world.node(third), { from: 13, to: 33, network: 0 });
    },
    async mend(lab) {
      await readdress(lab.world.node(third), { from: 33, to: 13, network: 0 });
      await restart(lab, third);
    },
  },
];

/** An agent repairs at once what is broken in its kernel: to be seen, some things need one that does not look. */
export function pause(lab: Lab, name: string): void {
  lab.agentOf(name)?.kill("SIGSTOP");
}

export function resume(lab: Lab, name: string): void {
  lab.agentOf(name)?.kill("SIGCONT");
}

export async function restart(lab: Lab, name: string): Promise<void> {
  resume(lab, name);
  await lab.stopAgent(name);
  await lab.startAnew(name);
}

function blockBgp({ world }: Lab): string {
  const [one, other] = [world.node(second).address, world.node(third).address];
  const rule = (from: string, to: string, port: string) => `ip saddr ${from} ip daddr ${to} tcp ${port} 179 drop`;
  const rules = ["dport", "sport"].flatMap((port) => [rule(one, other, port), rule(other, one, port)]);
  return tableOf(`bridge ${table}`, "forward", rules);
}

/** A session that is established outlives a filter for minutes: the hold time. */
export async function restartBird(lab: Lab, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await lab.world.node(name).run("birdc", ["-s", "/var/run/calico/bird.ctl", "restart", "all"], { alsoGood: [1] });
  }
}

async function setMtu({ netns: namespace }: Place, link: string, mtu: number): Promise<void> {
  await using netlink = openNetlink({ namespace });
  await netlink.change({ do: "edit", link: { link, mtu } });
}

const detour = "detour0";

async function makeAsymmetric({ world, pods }: Lab): Promise<void> {
  const { netns: namespace } = world.node(third);
  await using netlink = openNetlink({ namespace });
  await netlink.change({ do: "create", link: { name: detour, kind: "bridge", up: true } });
  const index = (await netlink.link(detour))?.index;
  for (const { node, address } of pods.all)
    if (node === second && index !== undefined)
      await netlink.change({ do: "create", route: { destination: `${address}/32`, index } });
  writeSysctl("net.ipv4.conf.all.rp_filter", 1, { namespace });
}

async function mendAsymmetric({ world }: Lab): Promise<void> {
  const { netns: namespace } = world.node(third);
  writeSysctl("net.ipv4.conf.all.rp_filter", readSysctl("net.ipv4.conf.default.rp_filter", { namespace }), {
    namespace,
  });
  await using netlink = openNetlink({ namespace });
  await netlink.change({ do: "delete", link: detour });
}

async function makeMissingRoute(lab: Lab): Promise<void> {
  const { netns: namespace } = lab.world.node(second);
  const pod = lab.pods.all.find(({ node }) => node === third);
  if (pod === undefined) throw noPods(third);
  pause(lab, second);
  await using netlink = openNetlink({ namespace });
  const routes = await netlink.routes({ family: "inet" });
  const blocks = routes.filter(({ destination, type }) => type === "unicast" && /^10\.244\..*\/26$/.test(destination));
  const { gateway } = await netlink.routeTo(pod.address);
  for (const route of blocks.filter((each) => each.gateway === gateway))
    await netlink.change({ do: "delete", route: { destination: route.destination } });
}

export function noPods(node: string): CattailError {
  return new CattailError("LAB_BREAK", {
    problem: `${node} has no pods, so there is no route to break`,
    next: `cattail lab pod add NAME --node ${node}`,
  });
}

/** To the other bridge, which the switch routes to; the agent starts anew there, and finds the address. */
async function moveNode(lab: Lab, { to }: { to: 0 | 1 }): Promise<void> {
  const node = lab.world.node(third);
  await using netlink = openNetlink({ namespace: lab.world.switch.netns });
  const name = bridgeOf(to);
  if ((await netlink.link(name)) === undefined) {
    await netlink.change({ do: "create", link: { name, kind: "bridge", up: true } });
    const index = (await netlink.link(name))?.index ?? 0;
    await netlink.change({ do: "create", address: { index, address: `${switchAddress(to)}/24` } });
    if (node.isDualStack)
      await netlink.change({ do: "create", address: { index, address: `${switchAddress6(to)}/64` } });
  }
  const bridge = await netlink.link(name);
  await netlink.change({ do: "edit", link: { link: switchPort(third), master: bridge?.index ?? 0 } });
  const fromNetwork = to === 0 ? 1 : 0;
  await readdress(node, { from: 13, to: 13, network: to, fromNetwork });
  if (node.isDualStack) await readdress6(node, { from: 13, to: 13, network: to, fromNetwork });
  await lab.stopAgent(third);
  const six = node.isDualStack ? [`${network6(to)}13`] : [];
  await setInternalAddresses(lab, third, [`172.31.${to}.13`, ...six]);
  lab.startAgent(third);
  await untilAddress(lab, third, `172.31.${to}.13`);
}

async function setInternalAddresses({ datastore }: Lab, name: string, own: readonly string[]): Promise<void> {
  if (datastore.flavour !== "kubernetes") return;
  const addresses = [...own.map((address) => ({ type: "InternalIP", address })), { type: "Hostname", address: name }];
  await datastore.patch("Node", { namespace: "", name }, { status: { addresses } }, { through: "status" });
}

async function untilAddress({ resources }: Lab, name: string, address: string): Promise<void> {
  for (let turn = 0; turn < 600; turn += 1) {
    const { spec } = await resources.get("Node", { namespace: "", name });
    const bgp = spec?.bgp as { ipv4Address?: string } | undefined; // of our own object
    if (bgp?.ipv4Address?.startsWith(`${address}/`) === true) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

type Move = {
  readonly from: number;
  readonly to: number;
  readonly network: number;
  readonly fromNetwork?: number;
};

export async function readdress6(
  { netns: namespace }: LabNode,
  { from, to, network, fromNetwork = network }: Move,
): Promise<void> {
  await using netlink = openNetlink({ namespace });
  const index = (await netlink.link("eth0"))?.index;
  if (index === undefined) return;
  await netlink.change({ do: "delete", address: { index, address: `${network6(fromNetwork)}${from}/64` } });
  await netlink.change({ do: "create", address: { index, address: `${network6(network)}${to}/64` } });
  const gateway = switchAddress6(network);
  await netlink.change({ do: "replace", route: { destination: "::/0", gateway, index } });
}

async function readdress(
  { netns: namespace }: LabNode,
  { from, to, network, fromNetwork = network }: Move,
): Promise<void> {
  await using netlink = openNetlink({ namespace });
  const eth0 = await netlink.link("eth0");
  if (eth0 === undefined) return;
  await netlink.change({ do: "delete", address: { index: eth0.index, address: `172.31.${fromNetwork}.${from}/24` } });
  await netlink.change({ do: "create", address: { index: eth0.index, address: `172.31.${network}.${to}/24` } });
  const gateway = switchAddress(network);
  await netlink.change({ do: "replace", route: { destination: "0.0.0.0/0", gateway, index: eth0.index } });
}
