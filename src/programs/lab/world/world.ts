// The machines of a lab, as namespaces: a switch and nodes at its ports. What runs on them is the business of whoever asks.
//
//   switch   br0 172.31.0.254/24, forwards; a port for each node
//     ├── cka001   eth0 172.31.0.11/24 (with both families: and fd00:172:31::11/64), default route to the switch; its own mounts (mounts.ts), host name
//     ├── cka002   eth0 172.31.0.12/24     ├── pods, by the CNI plugin (pods.ts)
//     └── cka003   eth0 172.31.0.13/24
//
// Tests use it like this (root, or inside a user namespace; nothing is left when the process ends, however it ends):
//
//   await using world = await buildWorld({ folder: mkdtempSync("/tmp/my-lab-"), nodes: 3 });
//   const node = world.node("cka002");
//   await node.run("ip", ["route"]);                                     a program on a node, to its end
//   node.start(process.execPath, [...], { env, log: "/tmp/x.log" });     one that stays
//   node.netns                                                           for netlink, ping, sysctls: { namespace: node.netns }
//   node.path("/var/lib/calico/nodename")                                the same file, seen from outside
//   const pods = new Pods({ world, ... });  await pods.add({ name: "a", node: "cka002" });
//   const pinged = await pingPairs(pairsOf(world.ends(), pods.ends()));
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { CattailError } from "../../../base/lib/index.ts";
import { openNamespace, openNetlink, writeSysctl } from "../../../base/linux/kernel.ts";
import type { End } from "./matrix.ts";
import { bindFolders, nodeFolders } from "./mounts.ts";
import { Place, type RunOptions, type StartOptions } from "./place.ts";

export type WorldOptions = {
  /** For what nodes keep; made where it is not there. */
  readonly folder: string;
  readonly nodes?: number;
  /** The third byte of each node's network; a world with two networks has the switch as its router. */
  readonly networkOf?: (node: number) => number;
  /** IPv6 beside IPv4. */
  readonly isDualStack?: boolean;
  /** The switch is the network that this process is in: of one that has a network to itself. */
  readonly isSwitchHere?: boolean;
};

export const switchPort = (node: string): string => `p-${node}`;
export const switchAddress = (network: number): string => `172.31.${network}.254`;
/** As the kernel writes them, which leaves out a part of zeros. */
export const network6 = (network: number): string => (network === 0 ? "fd00:172:31::" : `fd00:172:31:${network}::`);
export const switchAddress6 = (network: number): string => `${network6(network)}254`;
export const bridgeOf = (network: number): string => `br${network}`;
export const mostNodes = 99;

export class LabNode implements AsyncDisposable {
  readonly place: Place;
  readonly number: number;
  readonly network: number;
  readonly folder: string;
  readonly isDualStack: boolean;

  constructor(place: Place, facts: { number: number; network: number; folder: string; isDualStack: boolean }) {
    this.place = place;
    this.isDualStack = facts.isDualStack;
    this.number = facts.number;
    this.network = facts.network;
    this.folder = facts.folder;
  }

  get name(): string {
    return this.place.name;
  }

  get netns(): string {
    return this.place.netns;
  }

  get address(): string {
    return `172.31.${this.network}.${10 + this.number}`;
  }

  get address6(): string | undefined {
    return this.isDualStack ? `${network6(this.network)}${10 + this.number}` : undefined;
  }

  run(program: string, args: readonly string[] = [], options: RunOptions = {}) {
    return this.place.run(program, args, options);
  }

  start(program: string, args: readonly string[], options: StartOptions) {
    return this.place.start(program, args, options);
  }

  /** Where a file of the node's own folders lies for everybody else. */
  path(file: string): string {
    for (const [target, name] of Object.entries(nodeFolders))
      if (file === target || file.startsWith(`${target}/`)) return join(this.folder, name, file.slice(target.length));
    throw new CattailError("LAB_NO_FOLDER", {
      problem: `${file} is in no folder that the node ${this.name} has of its own`,
      next: `It has ${Object.keys(nodeFolders).join(", ")}`,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.place[Symbol.asyncDispose]();
  }
}

export class World implements AsyncDisposable {
  readonly folder: string;
  readonly switch: Place;
  readonly nodes: readonly LabNode[];
  readonly #stack: AsyncDisposableStack;

  constructor(folder: string, parts: { place: Place; nodes: readonly LabNode[]; stack: AsyncDisposableStack }) {
    this.folder = folder;
    this.switch = parts.place;
    this.nodes = parts.nodes;
    this.#stack = parts.stack;
  }

  node(name: string): LabNode {
    const node = this.nodes.find((each) => each.name === name);
    if (node !== undefined) return node;
    throw new CattailError("LAB_NO_NODE", {
      problem: `the lab has no node ${JSON.stringify(name)}`,
      next: `It has ${this.nodes.map((each) => each.name).join(", ")}`,
    });
  }

  ends(): End[] {
    return this.nodes.map(({ name, address, address6, netns }) => {
      const six = address6 === undefined ? {} : { address6 };
      return { name, node: name, address, ...six, netns };
    });
  }

  /** What is to go before the nodes do. */
  defer(end: () => Promise<void>): void {
    this.#stack.defer(end);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

export async function buildWorld(options: WorldOptions): Promise<World> {
  const { folder, nodes: count = 3, networkOf = () => 0, isSwitchHere = false, isDualStack = false } = options;
  if (!Number.isInteger(count) || count < 1 || count > mostNodes)
    throw new CattailError("LAB_NODES", {
      problem: `a lab cannot have ${count} nodes`,
      next: `Ask for 1 to ${mostNodes}`,
    });
  await using stack = new AsyncDisposableStack();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const place = stack.use(await Place.make("switch", isSwitchHere ? [] : ["net"]));
  const numbers = Array.from({ length: count }, (_, i) => i + 1);
  await makeSwitch(place, new Set(numbers.map(networkOf)), isDualStack);
  const nodes = await Promise.all(
    numbers.map(async (number) => {
      const name = nodeName(number);
      const own = stack.use(await Place.make(name, ["net", "mount", "uts"]));
      const facts = { number, network: networkOf(number), folder: join(folder, "nodes", name), isDualStack };
      const node = new LabNode(own, facts);
      await Promise.all([plugIn(place, node), furnish(node, folder)]);
      return node;
    }),
  );
  return new World(folder, { place, nodes, stack: stack.move() });
}

export function nodeName(number: number): string {
  return `cka${String(number).padStart(3, "0")}`;
}

async function makeSwitch(
  { netns: namespace }: Place,
  networks: ReadonlySet<number>,
  isDualStack: boolean,
): Promise<void> {
  await using netlink = openNetlink({ namespace });
  if (isDualStack) withoutWaiting(namespace);
  await netlink.change({ do: "edit", link: { link: "lo", up: true } });
  for (const network of networks) {
    const name = bridgeOf(network);
    await netlink.change({ do: "create", link: { name, kind: "bridge", up: true } });
    const bridge = await netlink.link(name);
    if (bridge === undefined) continue;
    await netlink.change({ do: "create", address: { index: bridge.index, address: `${switchAddress(network)}/24` } });
    const six = `${switchAddress6(network)}/64`;
    if (isDualStack) await netlink.change({ do: "create", address: { index: bridge.index, address: six } });
  }
  if (isDualStack) writeSysctl("net.ipv6.conf.all.forwarding", 1, { namespace });
  writeSysctl("net.ipv4.ip_forward", 1, { namespace });
  // A router that knows a better way says so to the sender, and a lab's pings would go around what is under test.
  for (const name of ["all", "default"]) writeSysctl(["net", "ipv4", "conf", name, "send_redirects"], 0, { namespace });
}

/** An address is of use at once, and not after the kernel has looked for others that have it. */
function withoutWaiting(namespace: string): void {
  for (const name of ["all", "default"]) writeSysctl(["net", "ipv6", "conf", name, "accept_dad"], 0, { namespace });
}

async function plugIn(place: Place, node: LabNode): Promise<void> {
  if (node.isDualStack) withoutWaiting(node.netns);
  await using here = openNetlink({ namespace: place.netns });
  await using there = openNetlink({ namespace: node.netns });
  using namespace = openNamespace(node.netns);
  const bridge = await here.link(bridgeOf(node.network));
  const name = switchPort(node.name);
  await here.change({
    do: "create",
    link: {
      name,
      kind: "veth",
      peer: { name: "eth0", namespaceFd: namespace.fd },
      ...(bridge === undefined ? {} : { master: bridge.index }),
    },
  });
  await here.change({ do: "edit", link: { link: name, up: true } });
  const eth0 = await there.link("eth0");
  if (eth0 === undefined) return;
  await there.change({ do: "edit", link: { link: "lo", up: true } });
  await there.change({ do: "edit", link: { link: "eth0", up: true } });
  await there.change({ do: "create", address: { index: eth0.index, address: `${node.address}/24` } });
  const gateway = switchAddress(node.network);
  await there.change({ do: "create", route: { destination: "0.0.0.0/0", gateway, index: eth0.index } });
  if (node.address6 === undefined) return;
  await there.change({ do: "create", address: { index: eth0.index, address: `${node.address6}/64` } });
  const gateway6 = switchAddress6(node.network);
  await there.change({ do: "create", route: { destination: "::/0", gateway: gateway6, index: eth0.index } });
}

async function furnish(node: LabNode, world: string): Promise<void> {
  mkdirSync(node.folder, { recursive: true, mode: 0o700 });
  await nameHost(node);
  await bindFolders(node.place, { folder: node.folder, world });
}

/** The file takes the name of root only, also where a user namespace makes one root; the program asks the kernel. Not every machine has it. */
async function nameHost({ place, name }: LabNode): Promise<void> {
  const { code } = await place.run("hostname", [name], { alsoGood: [1, 126, 127] });
  if (code !== 0) await place.run("tee", ["/proc/sys/kernel/hostname"], { stdin: name });
}
