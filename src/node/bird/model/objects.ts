// What is known of the bgp data set: every key/value read once, as it comes, into what the sessions are worked out from. An object that cannot be
// read counts as missing, and is named among the problems.
import {
  canonicalIp,
  isRecord,
  type JsonRecord,
  parseCidr,
  parseIp,
  parseRange,
  rangeText,
} from "../../../base/lib/index.ts";
import {
  type BgpConfigurationSpec,
  type BgpFilterSpec,
  type BgpPeerSpec,
  bgpConfigurationSpec,
  bgpFilterSpec,
  bgpPeerSpec,
  nodeSpec,
} from "../../../calico/kinds/index.ts";
import { FieldError, type Key, type Labels, pathToKey, readSchema, type Schema } from "../../../calico/model/index.ts";

export type BgpNode = {
  readonly name: string;
  readonly labels: Labels;
  /** Without their masks. */
  readonly address: { readonly 4: string | undefined; readonly 6: string | undefined };
  /** The subnet of the address; undefined where the object gives no mask. */
  readonly network: { readonly 4: string | undefined; readonly 6: string | undefined };
  readonly wireguard: { readonly 4: string | undefined; readonly 6: string | undefined };
  readonly asNumber: number | undefined;
  readonly clusterId: string | undefined;
  readonly podCidrs: readonly string[];
};

export type BgpPool = {
  readonly cidr: string;
  readonly family: 4 | 6;
  readonly encapsulation: "none" | "ipip" | "ipip-cross-subnet" | "vxlan";
  readonly isExported: boolean;
};

export type BgpBlock = { readonly cidr: string; readonly family: 4 | 6; readonly state: string };

/** What a peer or a filter is called, and what it says. */
export type Named<Spec> = { readonly name: string; readonly spec: Spec };

export class BgpObjects {
  readonly nodes = new Map<string, BgpNode>();
  readonly pools = new Map<string, BgpPool>();
  readonly configurations = new Map<string, Named<BgpConfigurationSpec>>();
  readonly peers = new Map<string, Named<BgpPeerSpec>>();
  readonly filters = new Map<string, Named<BgpFilterSpec>>();
  /** Of every host, by host and then by block: a Typha sends those of all nodes. */
  readonly blocks = new Map<string, Map<string, BgpBlock>>();
  /** By path: why an object counts as missing. */
  readonly problems = new Map<string, string>();

  /** Whether anything that was known has changed; a key of another kind changes nothing. */
  set(path: string, value: string): boolean {
    const key = pathToKey(path);
    if (key === undefined) return false;
    this.problems.delete(path);
    try {
      return this.#take(key, value);
    } catch (error) {
      if (!(error instanceof FieldError) && !(error instanceof SyntaxError)) throw error;
      this.problems.set(path, error.message);
      this.#forget(key);
      return true;
    }
  }

  delete(path: string): boolean {
    const key = pathToKey(path);
    this.problems.delete(path);
    return key !== undefined && this.#forget(key);
  }

  #take(key: Key, text: string): boolean {
    if (key.is === "IpPool") return put(this.pools, key.cidr, readPool(key.cidr, text));
    if (key.is === "BlockAffinity") {
      if (key.affinityType !== "" && key.affinityType !== "host") return false;
      const blocks = this.blocks.get(key.host) ?? new Map<string, BgpBlock>();
      this.blocks.set(key.host, blocks);
      return put(blocks, key.cidr, readBlock(key.cidr, text));
    }
    if (key.is !== "Resource") return false;
    const { name } = key;
    switch (key.kind) {
      case "Node":
        return put(this.nodes, name, readNode(name, text));
      case "BGPConfiguration":
        return put(this.configurations, name, { name, spec: readSpec(bgpConfigurationSpec, text) });
      case "BGPPeer":
        return put(this.peers, name, { name, spec: readSpec(bgpPeerSpec, text) });
      case "BGPFilter":
        return put(this.filters, name, { name, spec: readSpec(bgpFilterSpec, text) });
      default:
        return false;
    }
  }

  #forget(key: Key): boolean {
    if (key.is === "IpPool") return this.pools.delete(key.cidr);
    if (key.is === "BlockAffinity") {
      const blocks = this.blocks.get(key.host);
      const isGone = blocks?.delete(key.cidr) ?? false;
      if (blocks?.size === 0) this.blocks.delete(key.host);
      return isGone;
    }
    if (key.is !== "Resource") return false;
    switch (key.kind) {
      case "Node":
        return this.nodes.delete(key.name);
      case "BGPConfiguration":
        return this.configurations.delete(key.name);
      case "BGPPeer":
        return this.peers.delete(key.name);
      case "BGPFilter":
        return this.filters.delete(key.name);
      default:
        return false;
    }
  }
}

/** A kubelet writes its node every few seconds; what BGP needs of it stays the same. */
function put<T extends object>(map: Map<string, T>, name: string, value: T): boolean {
  const before = map.get(name);
  if (before !== undefined && JSON.stringify(before, plain) === JSON.stringify(value, plain)) return false;
  map.set(name, value);
  return true;
}

const plain = (_name: string, value: unknown) => (typeof value === "bigint" ? `${value}` : value);

function readObject(text: string): JsonRecord {
  const object: unknown = JSON.parse(text);
  if (!isRecord(object)) throw new FieldError("", "must be an object");
  return object;
}

function readSpec<T>(schema: Schema<T>, text: string): T {
  return readSchema(schema, readObject(text).spec ?? {}, "spec");
}

function readNode(name: string, text: string): BgpNode {
  const object = readObject(text);
  const { bgp, wireguard } = readSchema(nodeSpec, object.spec ?? {}, "spec");
  const metadata = isRecord(object.metadata) ? object.metadata : {};
  const status = isRecord(object.status) ? object.status : {};
  const four = addressOf(bgp?.ipv4Address, 4);
  const six = addressOf(bgp?.ipv6Address, 6);
  return {
    name,
    labels: labelsOf(metadata.labels),
    address: { 4: four?.address, 6: six?.address },
    network: { 4: four?.network, 6: six?.network },
    wireguard: { 4: wireguard?.interfaceIPv4Address || undefined, 6: wireguard?.interfaceIPv6Address || undefined },
    asNumber: bgp?.asNumber || undefined,
    clusterId: clusterIdOf(bgp?.routeReflectorClusterID),
    podCidrs: Array.isArray(status.podCIDRs) ? status.podCIDRs.filter((each) => typeof each === "string") : [],
  };
}

function labelsOf(labels: unknown): Labels {
  if (!isRecord(labels)) return {};
  return Object.fromEntries(
    Object.entries(labels).filter((pair): pair is [string, string] => typeof pair[1] === "string"),
  );
}

function addressOf(
  text: string | undefined,
  family: 4 | 6,
): { address: string; network: string | undefined } | undefined {
  if (text === undefined || text === "") return undefined;
  const [bare = ""] = text.split("/");
  const address = canonicalIp(bare);
  if (address === undefined || parseIp(address)?.version !== family) return undefined;
  const range = parseCidr(text) === undefined ? undefined : parseRange(text);
  return { address, network: range === undefined ? undefined : rangeText(range) };
}

/** It is written into the configuration, so only an address counts. */
function clusterIdOf(text: string | undefined): string | undefined {
  const [bare = ""] = (text ?? "").split("/");
  return parseIp(bare)?.version === 4 ? canonicalIp(bare) : undefined;
}

function readPool(cidr: string, text: string): BgpPool {
  const object = readObject(text);
  const range = parseRange(cidr);
  if (range === undefined) throw new FieldError("cidr", "must be a network");
  return {
    cidr: rangeText(range),
    family: range.family,
    encapsulation: encapsulationOf(object),
    isExported: object.disableBGPExport !== true,
  };
}

function encapsulationOf({ vxlan_mode: vxlan, ipip_mode: ipip }: JsonRecord): BgpPool["encapsulation"] {
  if (vxlan === "always" || vxlan === "cross-subnet") return "vxlan";
  if (ipip === "always") return "ipip";
  return ipip === "cross-subnet" ? "ipip-cross-subnet" : "none";
}

function readBlock(cidr: string, text: string): BgpBlock {
  const { state } = readObject(text);
  const range = parseRange(cidr);
  if (range === undefined) throw new FieldError("cidr", "must be a network");
  return { cidr: rangeText(range), family: range.family, state: typeof state === "string" ? state : "" };
}
