// Which interface leads to which endpoint's chains. An interface that two endpoints claim is governed by the lower one, and passes to the
// other when that one goes. An interface that nobody claims is led nowhere, and so passes nothing where it looks like a pod's.
import { type AddressRange, holds } from "../../../base/lib/index.ts";
import type { Endpoint } from "../../../calico/policy/index.ts";
import type { BuildOptions } from "../settings.ts";
import { hostMaps, workloadMaps } from "./base-chains.ts";
import { endpointChain, isInterfaceName } from "./names.ts";
import type { NftRuleset } from "./ruleset.ts";

/** An interface of the host and the addresses that it carries now. */
export type HostInterface = { readonly name: string; readonly addresses: readonly AddressRange[] };

type Claims = Map<string, Set<string>>;

export class Dispatch {
  readonly #ruleset: NftRuleset;
  #interfaces: readonly HostInterface[] = [];
  readonly #workloads: Claims = new Map();
  readonly #interfaceOf = new Map<string, string>();
  readonly #hosts = new Map<string, Endpoint & { readonly is: "host" }>();

  constructor(ruleset: NftRuleset) {
    this.#ruleset = ruleset;
    for (const name of workloadMaps) ruleset.declareMap(name, "type ifname : verdict;", "closed");
    for (const { name } of hostMaps) ruleset.declareMap(name, "type ifname : verdict;");
  }

  get interfaces(): readonly HostInterface[] {
    return this.#interfaces;
  }

  takeInterfaces(interfaces: readonly HostInterface[]): void {
    this.#interfaces = interfaces;
    this.#leadHosts();
  }

  take(id: string, endpoint: Endpoint | undefined, options: BuildOptions): void {
    if (endpoint?.is === "host" || this.#hosts.has(id)) {
      if (endpoint?.is === "host") this.#hosts.set(id, endpoint);
      else this.#hosts.delete(id);
      this.#leadHosts();
    } else this.#takeWorkload(id, endpoint?.is === "workload" ? claimed(endpoint, options) : undefined);
  }

  get hasHosts(): boolean {
    return this.#hosts.size > 0;
  }

  /** The endpoint for every interface that no other one governs. */
  get ofOthers(): string | undefined {
    return [...this.#hosts]
      .filter(([, { interfaceName }]) => interfaceName === "*")
      .map(([id]) => id)
      .sort()[0];
  }

  #takeWorkload(id: string, name: string | undefined): void {
    const before = this.#interfaceOf.get(id);
    if (before === name) return;
    if (before !== undefined) {
      this.#workloads.get(before)?.delete(id);
      this.#interfaceOf.delete(id);
      this.#leadWorkload(before);
    }
    if (name === undefined) return;
    this.#interfaceOf.set(id, name);
    this.#workloads.set(name, (this.#workloads.get(name) ?? new Set()).add(id));
    this.#leadWorkload(name);
  }

  #leadWorkload(name: string): void {
    const [id] = [...(this.#workloads.get(name) ?? [])].sort();
    if (id === undefined) this.#workloads.delete(name);
    const lead = (direction: "ingress" | "egress") =>
      id === undefined ? undefined : leadTo(endpointChain(id, direction, "workload"));
    this.#ruleset.setMapElement("map-from-workload", `"${name}"`, lead("egress"));
    this.#ruleset.setMapElement("map-to-workload", `"${name}"`, lead("ingress"));
  }

  #leadHosts(): void {
    const governing = new Map<string, string>();
    for (const [id, endpoint] of [...this.#hosts].sort(([a], [b]) => (a < b ? 1 : -1)))
      for (const name of this.#interfacesOf(endpoint)) governing.set(`"${name}"`, id);
    for (const { name: map, stage, direction } of hostMaps) {
      for (const key of this.#ruleset.elements(map).keys())
        if (!governing.has(key)) this.#ruleset.setMapElement(map, key, undefined);
      for (const [key, id] of governing)
        this.#ruleset.setMapElement(map, key, leadTo(endpointChain(id, direction, stage)));
    }
  }

  #interfacesOf({ interfaceName, addresses }: Endpoint): readonly string[] {
    if (interfaceName !== "") return isInterfaceName(interfaceName) ? [interfaceName] : [];
    const carries = (one: HostInterface) =>
      one.addresses.some((address) => addresses.some((wanted) => holds(wanted, address)));
    return this.#interfaces.filter(carries).map(({ name }) => name);
  }
}

/**
 * A packet takes all rules of one moment and asks a map at a later one. So it may be led to a chain that is new, and empty to it: then it has
 * to come back to what follows, which closes a pod's interface. "goto" would end the base chain there, and accept.
 */
function leadTo(chain: string): string {
  return `jump ${chain}`;
}

/** A pod that asks for what the node does not allow is as good as unknown, which lets nothing pass. */
function claimed(
  { interfaceName, allowedSources }: Endpoint & { readonly is: "workload" },
  { settings }: BuildOptions,
): string | undefined {
  if (allowedSources.length > 0 && !settings.allowsSpoofedSources) return undefined;
  return isInterfaceName(interfaceName) ? interfaceName : undefined;
}
