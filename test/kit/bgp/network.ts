// The pretend network of the BGP cases: two bridges joined by a router, machines on them as network namespaces, with names that tell whose
// they are: those of a killed run go with it, or else with the next.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { deleteNamespace, namespaceNames } from "../../../src/base/linux/kernel.ts";
import { namespacesGoToo } from "../when-gone.ts";
import type { Workload } from "./case.ts";

export type Machine = {
  readonly ip?: string;
  readonly ip6?: string;
  readonly net?: "a" | "b";
  readonly workloads?: readonly Workload[];
  readonly routes?: readonly string[];
};

const nets = {
  a: { four: "172.30.0.254", six: "fd30::254", other: "172.30.1.0/24", other6: "fd31::/64" },
  b: { four: "172.30.1.254", six: "fd31::254", other: "172.30.0.0/24", other6: "fd30::/64" },
};

let made = 0;
let isSwept = false;

export class CaseNetwork implements Disposable {
  readonly #prefix: string;
  readonly #namespaces: string[] = [];
  readonly #switch: string;
  #ports = 0;

  constructor() {
    sweep();
    made += 1;
    this.#prefix = `cattail-bgp-${process.pid}-${made}-`;
    this.#switch = this.#add("sw");
    for (const bridge of ["bra", "brb"]) {
      ip("-n", this.#switch, "link", "add", bridge, "type", "bridge");
      ip("-n", this.#switch, "link", "set", bridge, "up");
    }
    const router = this.#add("rt");
    sysctl(router, "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1");
    this.#plug(router, "a", "eth0", ["172.30.0.254/24", "fd30::254/64"]);
    this.#plug(router, "b", "eth1", ["172.30.1.254/24", "fd31::254/64"]);
  }

  /** The name of its namespace. */
  machine(name: string, machine: Machine): string {
    const namespace = this.#add(name);
    const { net = "a", ip: four, ip6: six } = machine;
    const addresses = [four, six].filter((each) => each !== undefined);
    this.#plug(namespace, net, "eth0", addresses);
    const { four: gateway, six: gateway6, other, other6 } = nets[net];
    if (four !== undefined) ip("-n", namespace, "route", "add", other, "via", gateway);
    if (six !== undefined) ip("-n", namespace, "-6", "route", "add", other6, "via", gateway6);
    for (const [at, workload] of (machine.workloads ?? []).entries()) this.#workload(namespace, at, workload);
    for (const route of machine.routes ?? []) ip("-n", namespace, "route", "add", ...route.split(" "));
    return namespace;
  }

  [Symbol.dispose](): void {
    for (const name of this.#namespaces.splice(0)) deleteNamespace(name);
  }

  #add(name: string): string {
    const namespace = this.#prefix + name;
    ip("netns", "add", namespace);
    this.#namespaces.push(namespace);
    ip("-n", namespace, "link", "set", "lo", "up");
    for (const which of ["all", "default"]) {
      sysctl(
        namespace,
        `net.ipv6.conf.${which}.accept_dad=0`,
        `net.ipv6.conf.${which}.disable_ipv6=0`,
        `net.ipv4.conf.${which}.rp_filter=0`,
      );
    }
    return namespace;
  }

  #plug(namespace: string, net: "a" | "b", device: string, addresses: readonly string[]): void {
    this.#ports += 1;
    const port = `p${this.#ports}`;
    ip("-n", this.#switch, "link", "add", port, "type", "veth", "peer", "name", device, "netns", namespace);
    ip("-n", this.#switch, "link", "set", port, "master", `br${net}`, "up");
    ip("-n", namespace, "link", "set", device, "up");
    for (const address of addresses) {
      ip("-n", namespace, "addr", "add", address, "dev", device, ...(address.includes(":") ? ["nodad"] : []));
    }
  }

  /** What the node's agent would have put there. */
  #workload(namespace: string, at: number, { ip: address, dev = `cali${at}`, metric = 1024 }: Workload): void {
    ip("-n", namespace, "link", "add", dev, "type", "veth", "peer", "name", `w${at}`);
    for (const device of [dev, `w${at}`]) ip("-n", namespace, "link", "set", device, "up");
    const isSix = address.includes(":");
    const scope = isSix ? [] : ["scope", "link"];
    ip("-n", namespace, ...(isSix ? ["-6"] : []), "route", "add", address, "dev", dev, ...scope, "metric", `${metric}`);
  }
}

export function ip(...parameters: readonly string[]): string {
  return execFileSync("ip", parameters, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

function sysctl(namespace: string, ...settings: readonly string[]): void {
  ip("netns", "exec", namespace, "sysctl", "-qw", ...settings);
}

function sweep(): void {
  if (isSwept) return;
  isSwept = true;
  const remove = (isOurs: (pid: string) => boolean) => {
    for (const name of namespaceNames()) {
      const [, pid] = /^cattail-bgp-(\d+)-/.exec(name) ?? [];
      if (pid !== undefined && isOurs(pid)) deleteNamespace(name);
    }
  };
  remove((pid) => !existsSync(`/proc/${pid}`));
  process.once("exit", () => remove((pid) => pid === `${process.pid}`));
  namespacesGoToo(`cattail-bgp-${process.pid}-`);
}
