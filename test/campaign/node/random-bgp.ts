// One random change after another to a cluster of whole agents with BIRD, in processes of their own: mesh, reflectors, BGPPeers, blocks, the
// pool's mode; agents, BIRDs and Typha killed; routes deleted behind everybody's back. And what the kernel's routes should then be.
import { systemClock } from "../../../src/base/lib/index.ts";
import { openNetlink } from "../../../src/base/linux/kernel.ts";
import { type Ipam, openIpam, openIpamAccess } from "../../../src/calico/ipam-client/index.ts";
import { killBirds } from "../../../src/programs/lab/cluster/birds.ts";
import type { Lab } from "../../../src/programs/lab/cluster/lab.ts";
import { pools } from "../../../src/programs/lab/cluster/objects.ts";
import { ended } from "../../../src/programs/lab/world/index.ts";
import type { Random } from "../../kit/random.ts";
import { type BgpWorld, hearersOf } from "./bgp-model.ts";

type Mode = "Never" | "Always" | "CrossSubnet";
type PeerName = "reflectors" | "between-reflectors" | "zone" | "to-the-third";

const [pool] = pools;
const spareBlocks = Array.from({ length: 8 }, (_, i) => `10.244.${40 + i}.0/26`);
const clusterIds = ["1.0.0.1", "1.0.0.2"];

export class RandomBgp {
  readonly #lab: Lab;
  readonly #random: Random;
  readonly #ipam: Ipam;
  readonly #names: readonly string[];
  readonly #reflectors = new Map<string, string>();
  readonly #zone = new Set<string>();
  readonly #peers = new Set<PeerName>();
  #mesh = true;
  #mode: Mode = "Never";
  #isExported = true;

  constructor(lab: Lab, random: Random) {
    this.#lab = lab;
    this.#random = random;
    this.#names = lab.world.nodes.map(({ name }) => name);
    const edge = { clock: systemClock, random: Math.random };
    this.#ipam = openIpam(openIpamAccess(lab.datastore, edge), edge);
  }

  /** Returns what was done. */
  async step(): Promise<string> {
    const what = this.#random.below(16);
    if (what < 10) return await this.#changeData();
    const node = this.#random.pick(this.#names);
    if (what < 13) {
      const agent = this.#lab.agentOf(node);
      if (agent !== undefined) await ended(agent, "SIGKILL");
      // Mostly it misses something.
      const meanwhile = this.#random.isOneIn(3) ? "nothing" : await this.#changeData();
      this.#lab.startAgent(node);
      return `agent of ${node} killed; meanwhile ${meanwhile}`;
    }
    if (what === 13) {
      killBirds(this.#lab.world.node(node));
      return `BIRD of ${node} killed`;
    }
    if (what === 14) {
      await this.#lab.killTypha();
      const meanwhile = await this.#changeData();
      this.#lab.runTypha();
      return `Typha killed; meanwhile ${meanwhile}`;
    }
    return await this.#vandalise(node);
  }

  /** What the model goes by, for whoever looks for a difference. */
  get state(): string {
    const reflectors = [...this.#reflectors].map(([name, id]) => `${name}=${id}`);
    const peers = [...this.#peers].join(",");
    return `mesh ${this.#mesh}, pool ${this.#mode}, exported ${this.#isExported}, reflectors ${reflectors.join(",")}, zone ${[...this.#zone].join(",")}, peers ${peers}`;
  }

  /** The routes to blocks that each node should have, in the words of kernelRoutes, without the metric of BIRD's. */
  async expected(): Promise<ReadonlyMap<string, readonly string[]>> {
    const { nodes } = this.#lab.world;
    const addresses = new Map(nodes.map(({ name, address }) => [name, address]));
    const owners = await this.#owners();
    const tunnels = await this.#tunnels();
    const hearers = new Map(this.#names.map((name) => [name, hearersOf(this.#world(), name)]));
    const lines = (own: string): string[] =>
      [...owners].flatMap(([block, owner]) => {
        if (owner === own) return [`blackhole ${block} proto ${this.#mode === "Never" ? "bird" : "80"}`];
        const direct = `${block} via ${addresses.get(owner)} dev eth0`;
        if (this.#mode === "Always")
          return [`${block} via ${tunnels.get(owner)} dev vxlan.calico proto boot onlink mtu 1450`];
        if (this.#mode === "CrossSubnet") return [`${direct} proto 80 onlink`];
        return this.#isExported && hearers.get(owner)?.has(own) === true ? [`${direct} proto bird`] : [];
      });
    return new Map(this.#names.map((name) => [name, lines(name).sort()]));
  }

  #world(): BgpWorld {
    const isIn = (name: PeerName) => this.#peers.has(name);
    const isReflector = (node: string) => this.#reflectors.has(node);
    const third = this.#names[2];
    return {
      nodes: this.#names,
      mesh: this.#mesh,
      reflectors: this.#reflectors,
      peers: (one, other) =>
        (isIn("reflectors") && !isReflector(one) && isReflector(other)) ||
        (isIn("between-reflectors") && isReflector(one) && isReflector(other)) ||
        (isIn("zone") && this.#zone.has(one) && this.#zone.has(other)) ||
        (isIn("to-the-third") && other === third),
      byAddress: (_one, other) => isIn("to-the-third") && other === third,
    };
  }

  async #changeData(): Promise<string> {
    const random = this.#random;
    const node = random.pick(this.#names);
    switch (random.below(8)) {
      case 0:
        return await this.#setMesh(!this.#mesh);
      case 1:
      case 2:
        return await this.#setReflector(node, this.#reflectors.has(node) ? undefined : random.pick(clusterIds));
      case 3:
      case 4:
        return await this.#turnPeer(random.pick(["reflectors", "between-reflectors", "zone", "to-the-third"]));
      case 5:
        return await this.#setZone(node);
      case 6:
        return await this.#turnBlock(random.pick(spareBlocks), node);
      default:
        return await this.#setPool();
    }
  }

  async #setMesh(mesh: boolean): Promise<string> {
    // Two sessions of two kinds between the same addresses are nobody's wish.
    if (mesh) for (const name of ["zone", "to-the-third"] as const) await this.#setPeer(name, false);
    this.#mesh = mesh;
    const metadata = { name: "default" };
    const spec = { nodeToNodeMeshEnabled: mesh };
    await this.#lab.resources.apply("BGPConfiguration", {
      ...{ apiVersion: "projectcalico.org/v3", kind: "BGPConfiguration", metadata, spec },
    });
    return `mesh ${mesh ? "on" : "off"}`;
  }

  async #setReflector(node: string, clusterId: string | undefined): Promise<string> {
    if (clusterId === undefined) this.#reflectors.delete(node);
    else this.#reflectors.set(node, clusterId);
    const labels = { reflector: clusterId === undefined ? null : "true" };
    const annotations = { "projectcalico.org/RouteReflectorClusterID": clusterId ?? null };
    await this.#lab.datastore.patch("Node", { namespace: "", name: node }, { metadata: { labels, annotations } });
    return `${node} ${clusterId === undefined ? "is no reflector" : `reflects as ${clusterId}`}`;
  }

  async #setZone(node: string): Promise<string> {
    const isIn = !this.#zone.has(node);
    if (isIn) this.#zone.add(node);
    else this.#zone.delete(node);
    const labels = { zone: isIn ? "a" : null };
    await this.#lab.datastore.patch("Node", { namespace: "", name: node }, { metadata: { labels } });
    return `${node} ${isIn ? "is in" : "leaves"} the zone`;
  }

  async #turnPeer(name: PeerName): Promise<string> {
    const isOn = !this.#peers.has(name);
    const besides =
      isOn && (name === "zone" || name === "to-the-third") && this.#mesh ? await this.#setMesh(false) : "";
    await this.#setPeer(name, isOn);
    return `peer ${name} ${isOn ? "comes" : "goes"} ${besides}`;
  }

  async #setPeer(name: PeerName, isOn: boolean): Promise<void> {
    if (isOn === this.#peers.has(name)) return;
    const third = this.#names[2] ?? "";
    const specs = {
      reflectors: { nodeSelector: "!has(reflector)", peerSelector: "has(reflector)" },
      "between-reflectors": { nodeSelector: "has(reflector)", peerSelector: "has(reflector)" },
      zone: { nodeSelector: "zone == 'a'", peerSelector: "zone == 'a'" },
      "to-the-third": { peerIP: this.#lab.world.node(third).address, asNumber: 64512 },
    };
    const id = { namespace: "", name };
    if (isOn)
      await this.#lab.resources.create("BGPPeer", {
        ...{ apiVersion: "projectcalico.org/v3", kind: "BGPPeer", metadata: { name }, spec: specs[name] },
      });
    else await this.#lab.resources.delete("BGPPeer", id);
    if (isOn) this.#peers.add(name);
    else this.#peers.delete(name);
  }

  async #turnBlock(cidr: string, node: string): Promise<string> {
    const owner = (await this.#owners()).get(cidr);
    if (owner === undefined) {
      await this.#ipam.claimAffinity(cidr, node);
      return `block ${cidr} of ${node}`;
    }
    await this.#ipam.releaseAffinity(cidr, owner, { mustBeEmpty: false });
    return `block ${cidr} goes`;
  }

  async #setPool(): Promise<string> {
    const random = this.#random;
    if (random.isOneIn(3)) this.#isExported = !this.#isExported;
    else this.#mode = random.pick(["Never", "Never", "Always", "CrossSubnet"]);
    await this.#lab.setPool(pool.name, { vxlanMode: this.#mode, disableBGPExport: !this.#isExported });
    return `pool ${this.#mode}, ${this.#isExported ? "" : "not "}exported`;
  }

  async #vandalise(name: string): Promise<string> {
    await using netlink = openNetlink({ namespace: this.#lab.world.node(name).netns });
    const routes = (await netlink.routes({ table: 254, family: "inet" })).filter(({ destination }) =>
      /^10\.244\..*\/26$/.test(destination),
    );
    if (routes.length === 0) return "nothing";
    const { destination, protocol, metric } = this.#random.pick(routes);
    await netlink.changeAll([{ do: "delete", route: { destination, protocol, ...(metric && { metric }) } }]);
    return `route ${destination} of ${name} deleted`;
  }

  async #owners(): Promise<Map<string, string>> {
    const owners = new Map<string, string>();
    const { signal } = new AbortController();
    for await (const { items } of this.#lab.datastore.list("IPAMBlock", { signal })) {
      for (const { value } of items) {
        const { cidr, affinity } = (value as { spec: { cidr: string; affinity?: string | null } }).spec; // as it is written
        if (affinity?.startsWith("host:") === true) owners.set(cidr, affinity.slice("host:".length));
      }
    }
    return owners;
  }

  async #tunnels(): Promise<Map<string, string>> {
    const { items } = await this.#lab.resources.list("Node");
    return new Map(items.map(({ metadata, spec }) => [metadata.name ?? "", String(spec.ipv4VXLANTunnelAddr)]));
  }
}
