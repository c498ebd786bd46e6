// A cluster as key/values that nodes follow: what Typha would say, with nothing in between.
import type { Feed, FeedConsumer } from "../../../src/node/part/index.ts";

export type PoolMode = "never" | "vxlan" | "vxlan-cross-subnet" | "ipip" | "ipip-cross-subnet";
export type NodeSpec = {
  readonly name: string;
  /** With its mask. */
  readonly address: string;
  readonly address6?: string;
  readonly tunnel?: string | undefined;
  readonly tunnel6?: string | undefined;
  readonly ipipTunnel?: string | undefined;
};

export class TestCluster {
  readonly values = new Map<string, string>();
  readonly #consumers = new Set<FeedConsumer>();

  /** `delayMs`: how long after the others it hears of a change. */
  feed(delayMs = 0): Feed {
    return {
      follow: (_set, consumer) => {
        for (const [path, value] of this.values) consumer.set(path, value);
        consumer.settled({ inSync: true });
        const later = delayMs === 0 ? consumer : delayed(consumer, delayMs);
        this.#consumers.add(later);
        return { [Symbol.dispose]: () => void this.#consumers.delete(later) };
      },
    };
  }

  /** Undefined: deleted. */
  change(changes: { readonly [path: string]: unknown }): void {
    for (const [path, value] of Object.entries(changes)) {
      const text = value === undefined ? undefined : JSON.stringify(value);
      if (text === undefined) this.values.delete(path);
      else this.values.set(path, text);
      for (const consumer of this.#consumers) {
        if (text === undefined) consumer.delete(path);
        else consumer.set(path, text);
      }
    }
    for (const consumer of this.#consumers) consumer.settled({ inSync: true });
  }
}

function delayed(consumer: FeedConsumer, delayMs: number): FeedConsumer {
  const after = (work: () => void) => void setTimeout(work, delayMs);
  return {
    set: (path, value) => after(() => consumer.set(path, value)),
    delete: (path) => after(() => consumer.delete(path)),
    settled: (state) => after(() => consumer.settled(state)),
  };
}

export const nodePath = (name: string): string => `/calico/resources/v3/projectcalico.org/nodes/${name}`;
export const poolPath = (cidr: string): string =>
  `/calico/v1/ipam/v${cidr.includes(":") ? 6 : 4}/pool/${cidr.replace("/", "-")}`;
export const blockPath = (cidr: string): string =>
  `/calico/ipam/v2/assignment/ipv${cidr.includes(":") ? 6 : 4}/block/${cidr.replace("/", "-")}`;
export const endpointPath = (node: string, pod: string): string =>
  `/calico/v1/host/${node}/workload/k8s/default%2f${pod}/endpoint/eth0`;

export function nodeValue({ name, address, address6, tunnel, tunnel6, ipipTunnel }: NodeSpec): unknown {
  return {
    kind: "Node",
    apiVersion: "projectcalico.org/v3",
    metadata: { name },
    spec: {
      bgp: {
        ipv4Address: address,
        ...(address6 && { ipv6Address: address6 }),
        ...(ipipTunnel && { ipv4IPIPTunnelAddr: ipipTunnel }),
      },
      ...(tunnel && { ipv4VXLANTunnelAddr: tunnel }),
      ...(tunnel6 && { ipv6VXLANTunnelAddr: tunnel6 }),
    },
  };
}

export function poolValue(cidr: string, mode: PoolMode, more: object = {}): unknown {
  return {
    ...{ cidr, ipip: "", masquerade: false, ipam: true, disabled: false, disableBGPExport: false },
    ipip_mode: mode === "ipip" ? "always" : mode === "ipip-cross-subnet" ? "cross-subnet" : "",
    vxlan_mode: mode === "vxlan" ? "always" : mode === "vxlan-cross-subnet" ? "cross-subnet" : "",
    assignment_mode: "Automatic",
    ...more,
  };
}

/** `assigned`: which address, counted from the first, is assigned on which node. */
export function blockValue(cidr: string, owner: string | undefined, assigned: { readonly [at: number]: string } = {}) {
  const bits = (cidr.includes(":") ? 128 : 32) - Number(cidr.split("/")[1]);
  const allocations: (number | null)[] = new Array(2 ** bits).fill(null);
  const nodes = [...new Set(Object.values(assigned))];
  for (const [at, node] of Object.entries(assigned)) allocations[Number(at)] = nodes.indexOf(node);
  return {
    cidr,
    affinity: owner === undefined ? null : `host:${owner}`,
    allocations,
    unallocated: [],
    attributes: nodes.map((node) => ({ handle_id: "h", secondary: { node } })),
    ...{ sequenceNumber: 0, sequenceNumberForAllocation: null, deleted: false },
  };
}

export function endpointValue(interfaceName: string, addresses: readonly string[]): unknown {
  const nets = (v6: boolean) =>
    addresses.filter((one) => one.includes(":") === v6).map((one) => `${one}/${v6 ? 128 : 32}`);
  const or = (list: string[]) => (list.length === 0 ? null : list);
  return {
    ...{ state: "active", name: interfaceName, active_instance_id: "", mac: null, profile_ids: ["kns.default"] },
    ...{ ipv4_nets: or(nets(false)), ipv6_nets: or(nets(true)), labels: {} },
  };
}
