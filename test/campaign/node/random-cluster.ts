// One random change after another to a cluster of nodes in namespaces: to its data, to the agents, to the kernel behind their backs.
import { openNetlink } from "../../../src/base/linux/kernel.ts";
import type { Random } from "../../kit/random.ts";
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
  TestCluster,
} from "../../kit/route-nodes/cluster.ts";
import { TestNetwork, type TestNode, type TestPod } from "../../kit/route-nodes/network.ts";
import { type RunningRoutes, runRoutes } from "../../kit/route-nodes/running.ts";

export type Member = {
  readonly node: TestNode;
  readonly pods: readonly TestPod[];
  running: RunningRoutes;
  plain: "us" | "others";
};

const names = ["n1", "n2", "n3", "n4", "n5"];
const pools = ["10.50.0.0/16", "10.51.0.0/16", "fd50::/48"];
const modes: PoolMode[] = ["never", "vxlan", "vxlan-cross-subnet"];
const v4Blocks = [...pools.slice(0, 2)].flatMap((pool) =>
  Array.from({ length: 8 }, (_, i) => pool.replace(".0.0/16", `.${i}.0/28`)),
);
const v6Blocks = Array.from({ length: 4 }, (_, i) => `fd50::${i + 1}:0/124`);
const blocks = [...v4Blocks, ...v6Blocks, "10.52.0.0/28"]; // the last is in no pool
const options = { bgp: "none", graceMs: 0, lingerMs: 200 } as const;

export class RandomCluster implements AsyncDisposable {
  readonly cluster = new TestCluster();
  readonly members: Member[] = [];
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  async start(): Promise<void> {
    const network = new TestNetwork();
    for (const [i, name] of names.entries()) {
      const node = await network.addNode(name, i < 3 ? 0 : 1);
      const pods = [];
      for (let pod = 0; pod < 2; pod++) {
        pods.push(await network.addPod(node, [`10.50.${i}.${3 + pod}`, `fd50::${i + 1}:${3 + pod}`]));
      }
      const running = runRoutes(node, this.cluster, options);
      this.members.push({ node, pods, running, plain: "us" });
    }
    for (let i = 0; i < 60; i++) this.#changeData();
  }

  /** Returns what was done, for the one who must bring it back. */
  async step(): Promise<string> {
    const random = this.#random;
    const what = random.below(12);
    if (what < 8) return this.#changeData();
    const member = random.pick(this.members);
    if (what === 8) {
      await member.running[Symbol.asyncDispose]();
      member.running = runRoutes(member.node, this.cluster, {
        ...options,
        settings: { ProgramClusterRoutes: member.plain === "us" ? "Enabled" : "Disabled" },
      });
      return `restart ${member.node.name}`;
    }
    if (what === 9) {
      member.plain = member.plain === "us" ? "others" : "us";
      member.running.settings.set("ProgramClusterRoutes", member.plain === "us" ? "Enabled" : "Disabled");
      return `plain routes of ${member.node.name} by ${member.plain}`;
    }
    return await this.#vandalise(member.node);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { running } of this.members) await running[Symbol.asyncDispose]();
  }

  #changeData(): string {
    const random = this.#random;
    const [what, isGone] = [random.below(10), random.isOneIn(5)];
    if (what < 3) {
      const i = random.below(names.length);
      const node = this.members[i]?.node;
      if (node === undefined) return "nothing";
      // Mostly in a block of its own; now and then wherever there is one.
      const at = random.isOneIn(4) ? random.below(5) : i;
      const tunnel = random.isOneIn(5) ? undefined : `10.50.${at}.${8 + i}`;
      const tunnel6 = random.isOneIn(5) ? undefined : `fd50::${at + 1}:${8 + i}`;
      this.cluster.change({ [nodePath(node.name)]: isGone ? undefined : nodeValue({ ...node, tunnel, tunnel6 }) });
      return `node ${node.name} ${isGone ? "goes" : `has tunnels ${tunnel} ${tunnel6}`}`;
    }
    if (what < 5) {
      const [cidr, mode] = [random.pick(pools), random.pick(modes)];
      const more = { disabled: random.isOneIn(3) };
      this.cluster.change({ [poolPath(cidr)]: isGone ? undefined : poolValue(cidr, mode, more) });
      return `pool ${cidr} ${isGone ? "goes" : mode}`;
    }
    if (what < 8) {
      const cidr = random.pick(blocks);
      const assigned: { [at: number]: string } = {};
      for (let i = 0; i < 16; i++) {
        // Tunnel addresses (8 and up) are their nodes', whose block it may be.
        if (random.isOneIn(6)) assigned[i] = names[i - 8] ?? random.pick(names);
      }
      const owner = random.isOneIn(8) ? undefined : random.pick(names);
      this.cluster.change({ [blockPath(cidr)]: isGone ? undefined : blockValue(cidr, owner, assigned) });
      return `block ${cidr} ${isGone ? "goes" : `of ${owner}, with ${JSON.stringify(assigned)}`}`;
    }
    const { node, pods } = random.pick(this.members);
    const pod = random.pick(pods);
    const value = isGone ? undefined : endpointValue(pod.interfaceName, pod.addresses);
    this.cluster.change({ [endpointPath(node.name, pod.name)]: value });
    return `endpoint ${pod.name} on ${node.name} ${isGone ? "goes" : "is there"}`;
  }

  async #vandalise({ name, namespace }: TestNode): Promise<string> {
    const random = this.#random;
    await using netlink = openNetlink({ namespace });
    const device = await netlink.link(random.pick(["vxlan.calico", "vxlan-v6.calico"]));
    if (device !== undefined && random.isOneIn(4)) {
      await netlink.changeAll([{ do: "delete", link: device.index }]);
      return `${device.name} of ${name} deleted`;
    }
    const routes = (await netlink.routes({ table: 254 })).filter(
      ({ protocol }) => protocol === 80 || protocol === "boot",
    );
    if (routes.length === 0) return "nothing";
    const { destination, protocol } = random.pick(routes);
    await netlink.changeAll([{ do: "delete", route: { destination, protocol } }]);
    return `route ${destination} of ${name} deleted`;
  }
}
