// A pretend node in namespaces of its own, as the recordings had it: pods behind veths, hosts and a second node on its network.
//
//   node   eth0 192.0.2.1, 2001:db8::1 ── switch ──  ext1 .11, ext2 .12, nodeb .20 (with its pods on its loopback device)
//     └── caliXXXXXXXXXXX: one veth for each local pod, set up as the CNI plugin does
//
// The agent under test works in the namespace of the node. Routes to pods are the lab's: they are the work of another part.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { deleteNamespace, writeSysctl } from "../../../src/base/linux/kernel.ts";
import { freshNamespace } from "../namespace.ts";
import type { ProbedFlow } from "./flow.ts";
import type { Whereabouts } from "./probe.ts";
import { Servers } from "./servers.ts";

type Space = { readonly name: string; readonly path: string };
type Place = { readonly space: Space; readonly addresses: readonly string[] };

const nodeAddresses = ["192.0.2.1", "2001:db8::1"] as const;
const outside = {
  ext1: ["192.0.2.11", "2001:db8::11"],
  ext2: ["192.0.2.12", "2001:db8::12"],
  nodeb: ["192.0.2.20", "2001:db8::20"],
} as const;
const gateway = "169.254.1.1";
const hostMac = "ee:ee:ee:ee:ee:ee";
const hostLinkLocal = "fe80::ecee:eeff:feee:eeee";

export function interfaceOf(namespace: string, name: string): string {
  return `cali${createHash("sha1").update(`${namespace}.${name}`).digest("hex").slice(0, 11)}`;
}

export class PolicyLab implements Disposable {
  readonly node: Space;
  readonly servers = new Servers();
  readonly #switch: Space = freshNamespace();
  readonly #places = new Map<string, Place>();

  /** Without a namespace for the node, it gets one of its own. */
  constructor(node: Space = freshNamespace()) {
    this.node = node;
    for (const name of ["net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"])
      writeSysctl(name, 1, { namespace: this.node.path });
    for (const name of ["all", "default"])
      writeSysctl(`net.ipv6.conf.${name}.accept_dad`, 0, { namespace: this.node.path });
    writeSysctl("net.ipv6.conf.default.disable_ipv6", 1, { namespace: this.#switch.path });
    ip(node.name, ["link set lo up", `link add eth0 type veth peer name uplink netns ${this.#switch.name}`]);
    ip(this.#switch.name, [
      "link add br0 type bridge mcast_snooping 0",
      "link set br0 up",
      "link set uplink master br0",
      "link set uplink up",
    ]);
    ip(node.name, [
      `addr add ${nodeAddresses[0]}/24 dev eth0`,
      `addr add ${nodeAddresses[1]}/64 dev eth0 nodad`,
      "link set eth0 up",
    ]);
    this.#places.set("node", { space: this.node, addresses: nodeAddresses });
    this.servers.open("node", this.node.path, nodeAddresses);
    for (const [name, addresses] of Object.entries(outside)) this.#outsider(name, addresses);
    this.#routes();
  }

  #outsider(name: string, [four, six]: readonly [string, string]): void {
    const space = freshNamespace();
    quietPlace(space);
    for (const setting of ["net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"])
      writeSysctl(setting, 1, { namespace: space.path });
    ip(space.name, ["link set lo up", `link add eth0 type veth peer name ${name} netns ${this.#switch.name}`]);
    ip(this.#switch.name, [`link set ${name} master br0`, `link set ${name} up`]);
    ip(space.name, [
      `addr add ${four}/24 dev eth0`,
      `addr add ${six}/64 dev eth0 nodad`,
      "link set eth0 up",
      `route add 10.65.0.0/24 via ${nodeAddresses[0]}`,
      `-6 route add fd65::/64 via ${nodeAddresses[1]}`,
    ]);
    this.#places.set(name, { space, addresses: [four, six] });
    this.servers.open(name, space.path, [four, six]);
  }

  #routes(): void {
    const [four, six] = outside.nodeb;
    const toOthers = [`route add 10.65.1.0/24 via ${four}`, `-6 route add fd65:0:0:1::/64 via ${six}`];
    ip(this.node.name, [
      ...toOthers,
      // Without a default route the kernel would not answer ARP for the pods' gateway address.
      `route add default via ${outside.ext1[0]}`,
      `-6 route add default via ${outside.ext1[1]}`,
    ]);
    for (const name of ["ext1", "ext2"]) ip(this.#spaceOf(name).name, toOthers);
  }

  addPod(namespace: string, name: string, addresses: readonly string[], isLocal: boolean): void {
    const place = `${namespace}/${name}`;
    if (!isLocal) {
      const space = this.#spaceOf("nodeb");
      ip(
        space.name,
        addresses.map((address) => `addr add ${single(address)} dev lo${nodad(address)}`),
      );
      this.#places.set(place, { space, addresses });
      this.servers.open(place, space.path, addresses);
      return;
    }
    const space = freshNamespace();
    const device = interfaceOf(namespace, name);
    quietPlace(space);
    ip(this.node.name, [
      `link add ${device} address ${hostMac} type veth peer name eth0 netns ${space.name}`,
      `link set ${device} up`,
    ]);
    const settings: readonly (readonly [string, string, number])[] = [
      ["ipv4/conf", "proxy_arp", 1],
      ["ipv4/neigh", "proxy_delay", 0],
      ["ipv4/conf", "forwarding", 1],
      ["ipv6/conf", "proxy_ndp", 1],
      ["ipv6/conf", "forwarding", 1],
    ];
    for (const [folder, setting, value] of settings)
      writeSysctl(`net/${folder}/${device}/${setting}`, value, { namespace: this.node.path });
    ip(space.name, [
      "link set lo up",
      "link set eth0 up",
      ...addresses.map((address) => `addr add ${single(address)} dev eth0${nodad(address)}`),
      `route add ${gateway} dev eth0 scope link`,
      `route add default via ${gateway} dev eth0`,
      `-6 route add default via ${hostLinkLocal} dev eth0`,
    ]);
    this.#route(device, addresses, "replace");
    this.#places.set(place, { space, addresses });
    this.servers.open(place, space.path, addresses);
  }

  removePod(place: string): void {
    const known = this.#places.get(place);
    if (known === undefined) return;
    this.#places.delete(place);
    this.servers.close(place);
    const { space, addresses } = known;
    if (space === this.#spaceOf("nodeb")) {
      ip(
        space.name,
        addresses.map((address) => `addr del ${single(address)} dev lo`),
      );
      return;
    }
    const [namespace = "", name = ""] = place.split("/");
    ip(this.node.name, [`link del ${interfaceOf(namespace, name)}`]);
    deleteNamespace(space.name);
  }

  readdressPod(place: string, addresses: readonly string[]): void {
    const known = this.#places.get(place);
    if (known === undefined) throw new Error(`no pod ${place}`);
    const [namespace = "", name = ""] = place.split("/");
    const before = known.addresses;
    this.servers.close(place);
    // The new ones first, or the pod would lose its routes with its last address.
    ip(known.space.name, [
      ...addresses.map((address) => `addr add ${single(address)} dev eth0${nodad(address)}`),
      ...before.map((address) => `addr del ${single(address)} dev eth0`),
    ]);
    this.#route(interfaceOf(namespace, name), before, "del");
    this.#route(interfaceOf(namespace, name), addresses, "replace");
    this.#places.set(place, { ...known, addresses });
    this.servers.open(place, known.space.path, addresses);
  }

  /** The name of the namespace that a place is in. */
  namespaceOf(place: string): string {
    return this.#spaceOf(place).name;
  }

  resolve = (flow: ProbedFlow): Whereabouts => {
    const from = this.#places.get(flow.from);
    if (from === undefined) throw new Error(`no place ${flow.from}`);
    const of = (addresses: readonly string[]) =>
      addresses.find((address) => address.includes(":") === (flow.family === 6)) ?? "";
    const to = this.#places.get(flow.to);
    return {
      namespace: from.space.path,
      source: of(from.addresses),
      target: to === undefined ? flow.to : of(to.addresses),
    };
  };

  /** A command on the node. */
  sh(command: string): string {
    return execFileSync("ip", ["netns", "exec", this.node.name, "bash", "-c", `set -e\n${command}`], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  forgetConnections(): void {
    execFileSync("ip", ["netns", "exec", this.node.name, "conntrack", "-F"], { stdio: "ignore" });
  }

  [Symbol.dispose](): void {
    this.servers.closeAll();
    for (const { space } of this.#places.values()) deleteNamespace(space.name);
    deleteNamespace(this.#switch.name);
    deleteNamespace(this.node.name);
  }

  #route(device: string, addresses: readonly string[], word: "replace" | "del"): void {
    ip(
      this.node.name,
      addresses.map((address) =>
        address.includes(":")
          ? `-6 route ${word} ${address} dev ${device}`
          : `route ${word} ${address} dev ${device} scope link`,
      ),
    );
  }

  #spaceOf(name: string): Space {
    const place = this.#places.get(name);
    if (place === undefined) throw new Error(`no place ${name}`);
    return place.space;
  }
}

/** Lines for one namespace, by one program. A line may begin with -6. */
function ip(namespace: string, lines: readonly string[]): void {
  for (const family of ["-4", "-6"]) {
    const own = lines
      .filter((line) => line.startsWith("-6 ") === (family === "-6"))
      .map((line) => line.replace(/^-6 /, ""));
    if (own.length === 0) continue;
    // "-4" would leave out IPv6 addresses of `addr`.
    const words = family === "-6" ? ["-6"] : [];
    execFileSync("ip", [...words, "-n", namespace, "-batch", "-"], {
      input: `${own.join("\n")}\n`,
      stdio: ["pipe", "pipe", "pipe"],
    });
  }
}

function quietPlace({ path }: Space): void {
  for (const name of ["all", "default"]) writeSysctl(`net.ipv6.conf.${name}.accept_dad`, 0, { namespace: path });
}

function single(address: string): string {
  return `${address}/${address.includes(":") ? 128 : 32}`;
}

function nodad(address: string): string {
  return address.includes(":") ? " nodad" : "";
}
