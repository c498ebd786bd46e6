// Kernel settings that forwarding depends on: of the whole node, and of each workload's interface. What is right is not written again; what
// cannot be written is said once.
import { type Log, messageOf } from "../../../base/lib/index.ts";
import { readSysctl, type SysctlName, writeSysctl } from "../../../base/linux/kernel.ts";

export type Sysctl = { readonly name: readonly string[]; readonly value: string; readonly isOptional?: boolean };

export function nodeSysctls(options: { setsForwarding: boolean; hasIpv6: boolean }): Sysctl[] {
  const forwarding: Sysctl[] = [{ name: ["net", "ipv4", "ip_forward"], value: "1" }];
  if (options.hasIpv6) {
    forwarding.push({ name: ["net", "ipv6", "conf", "all", "forwarding"], value: "1", isOptional: true });
  }
  return [
    ...(options.setsForwarding ? forwarding : []),
    { name: ["net", "netfilter", "nf_conntrack_acct"], value: "1", isOptional: true },
  ];
}

/** `rpFilter`: what the node gives new interfaces; an endpoint that may send from others' addresses has none. */
export function workloadSysctls(
  interfaceName: string,
  options: { rpFilter: string; maySpoof: boolean; hasIpv6: boolean },
): Sysctl[] {
  const v4 = (key: string, value: string): Sysctl => ({ name: ["net", "ipv4", "conf", interfaceName, key], value });
  const v6 = (key: string, value: string): Sysctl => ({
    name: ["net", "ipv6", "conf", interfaceName, key],
    value,
    isOptional: true,
  });
  return [
    // Packets of containers to 169.254.169.254 and the like are for this node, though they come from elsewhere.
    v4("route_localnet", "1"),
    v4("proxy_arp", "1"),
    v4("forwarding", "1"),
    v4("rp_filter", options.maySpoof ? "0" : options.rpFilter),
    { name: ["net", "ipv4", "neigh", interfaceName, "proxy_delay"], value: "0" },
    ...(options.hasIpv6 ? [v6("accept_ra", "0"), v6("proxy_ndp", "1"), v6("forwarding", "1")] : []),
  ];
}

export class SysctlKeeper {
  readonly #namespace: string | undefined;
  readonly #log: Log;
  readonly #said = new Set<string>();

  constructor(options: { namespace: string | undefined; log: Log }) {
    this.#namespace = options.namespace;
    this.#log = options.log;
  }

  read(name: SysctlName): string | undefined {
    try {
      return readSysctl(name, { namespace: this.#namespace });
    } catch {
      return undefined; // this kernel, or this interface, has it not
    }
  }

  /** Returns those that were otherwise and are right now. */
  apply(settings: readonly Sysctl[]): Sysctl[] {
    return settings.filter((setting) => this.#applyOne(setting));
  }

  #applyOne({ name, value, isOptional = false }: Sysctl): boolean {
    const seen = this.read(name);
    if (seen === value || (seen === undefined && isOptional)) return false;
    try {
      writeSysctl(name, value, { namespace: this.#namespace });
      return true;
    } catch (error) {
      const key = name.join(".");
      if (!this.#said.has(key)) {
        this.#log.warn("A kernel setting cannot be written", { setting: key, value, seen, reason: messageOf(error) });
      }
      this.#said.add(key);
      return false;
    }
  }
}
