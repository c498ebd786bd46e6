// Who uses an address: a pod (its workload endpoint), a node for one of its tunnels, a service. The addresses come from v3 objects
// and, for services, from Kubernetes; an address that cannot be read is left out, because nobody can be using it.
import { addressText, parseRange } from "../../../base/lib/index.ts";

export type Tunnel = "ipip" | "vxlan" | "vxlan-v6" | "wireguard" | "wireguard-v6";

export type User =
  /** `name` is the workload endpoint's. */
  | {
      readonly is: "workload";
      readonly namespace: string;
      readonly name: string;
      readonly node: string;
      readonly pod: string;
    }
  | { readonly is: "node"; readonly node: string; readonly tunnel: Tunnel }
  | { readonly is: "service"; readonly namespace: string; readonly service: string };

export type AddressUse = { readonly address: string; readonly user: User };
export type StartingPod = { readonly namespace: string; readonly pod: string };

/** As the original's check names it. */
export function userText(user: User): string {
  switch (user.is) {
    case "workload":
      return `Workload(${user.namespace}/${user.name})`;
    case "node":
      return `Node(${user.node})`;
    case "service":
      return user.service;
  }
}

/** An address, or a CIDR around one, in its short form. Undefined: neither. */
export function canonicalAddress(text: string): string | undefined {
  const [address = ""] = text.split("/", 1);
  const range = parseRange(address);
  return range === undefined ? undefined : addressText(range.family, range.first);
}

export type WorkloadObject = {
  readonly metadata: { readonly namespace?: string | undefined; readonly name?: string | undefined };
  readonly spec: {
    readonly node?: string | undefined;
    readonly pod?: string | undefined;
    readonly ipNetworks?: readonly string[] | undefined;
  };
};

/** Of a WorkloadEndpoint. One without addresses is a pod that starts, or one that has finished: who asks for neither gets none. */
export function usesOfWorkload({ metadata, spec }: WorkloadObject): AddressUse[] {
  const { namespace = "", name = "" } = metadata;
  const user: User = { is: "workload", namespace, name, node: spec.node ?? "", pod: spec.pod ?? "" };
  return (spec.ipNetworks ?? []).flatMap((text) => usedBy(text, user));
}

export type NodeObject = {
  readonly metadata: { readonly name?: string | undefined };
  readonly spec: {
    readonly bgp?: { readonly ipv4IPIPTunnelAddr?: string | undefined } | undefined;
    readonly ipv4VXLANTunnelAddr?: string | undefined;
    readonly ipv6VXLANTunnelAddr?: string | undefined;
    readonly wireguard?:
      | { readonly interfaceIPv4Address?: string | undefined; readonly interfaceIPv6Address?: string | undefined }
      | undefined;
  };
};

/** In the original's order, which does not know of those for IPv6. */
export function usesOfNode({ metadata, spec }: NodeObject): AddressUse[] {
  const { name: node = "" } = metadata;
  const tunnels: readonly (readonly [Tunnel, string | undefined])[] = [
    ["vxlan", spec.ipv4VXLANTunnelAddr],
    ["wireguard", spec.wireguard?.interfaceIPv4Address],
    ["ipip", spec.bgp?.ipv4IPIPTunnelAddr],
    ["vxlan-v6", spec.ipv6VXLANTunnelAddr],
    ["wireguard-v6", spec.wireguard?.interfaceIPv6Address],
  ];
  return tunnels.flatMap(([tunnel, text]) => usedBy(text ?? "", { is: "node", node, tunnel }));
}

export type ServiceObject = {
  readonly metadata: { readonly namespace?: string | undefined; readonly name?: string | undefined };
  readonly spec: { readonly type?: string | undefined };
  readonly status?:
    | {
        readonly loadBalancer?:
          | { readonly ingress?: readonly { readonly ip?: string | undefined }[] | undefined }
          | undefined;
      }
    | undefined;
};

/** Of a Kubernetes Service of type LoadBalancer; whether Calico gave the address is not looked at, so none is taken from it. */
export function usesOfService({ metadata, spec, status }: ServiceObject): AddressUse[] {
  if (spec.type !== "LoadBalancer") return [];
  const { namespace = "", name: service = "" } = metadata;
  const ingress = status?.loadBalancer?.ingress ?? [];
  return ingress.flatMap(({ ip = "" }) => usedBy(ip, { is: "service", namespace, service }));
}

function usedBy(text: string, user: User): AddressUse[] {
  const address = canonicalAddress(text);
  return address === undefined ? [] : [{ address, user }];
}
