// Kubernetes nodes to Calico's: what calico-node and the tunnel allocator wrote into annotations becomes spec and status.
// An annotation that cannot be used counts as not being there.
import {
  canonicalIp,
  canonicalMac,
  isRecord,
  type JsonRecord,
  parseCidr,
  parseCidrOrIp,
} from "../../../base/lib/index.ts";
import { isStrictNetwork, type NodeSpec, nodeSpec } from "../../kinds/index.ts";
import {
  canonicalAsNumber,
  cleanJson,
  FieldError,
  goMap,
  goString,
  listAt,
  readSchema,
  recordAt,
  recordOf,
  type StringMap,
  stringAt,
  stringListAt,
  stringMapAt,
} from "../../model/index.ts";
import { annotationField, ownText, parseOrUndefined, parseTextMap } from "../object/annotations.ts";
import { creationTimeOf } from "../object/kubernetes-metadata.ts";
import { attempt, type Processor, type Warning } from "../processor/processor.ts";
import type { V3Node } from "./calico-node.ts";
import { createNodeProcessorOf, type NodeReader, readStoredNode } from "./node-processor.ts";

type NodeOptions = { readonly usePodCidr: boolean };

const prefix = "projectcalico.org/";

export function createNodeProcessor(options: NodeOptions): Processor {
  const read: NodeReader = (id, value) => kubernetesNode(id.name, recordOf(value, ""), options);
  return createNodeProcessorOf({ read, ...options });
}

/** For a folder, which may hold nodes as Kubernetes has them and nodes as Calico has them. */
export function createEitherNodeProcessor(options: NodeOptions): Processor {
  const read: NodeReader = (id, value) => {
    const node = recordOf(value, "");
    return isCalicoNode(node) ? readStoredNode(id, node) : kubernetesNode(id.name, node, options);
  };
  return createNodeProcessorOf({ read, ...options });
}

/** Calico's own node, and not Kubernetes'. */
export function isCalicoNode(value: unknown): boolean {
  return isRecord(value) && value.apiVersion === "projectcalico.org/v3";
}

/** Throws FieldError for what is no node. */
export function kubernetesNode(name: string, node: JsonRecord, { usePodCidr }: NodeOptions): ReturnType<NodeReader> {
  const metadata = recordAt(node, "metadata", "");
  const spec = recordAt(node, "spec", "");
  const annotations = stringMapAt(metadata, "annotations", "metadata") ?? {};
  const warnings: Warning[] = [];
  const calicoSpec = readSpec({ name, node, spec, annotations, usePodCidr, warnings });
  const podCIDRs = stringListAt(spec, "podCIDRs", "spec");
  const status = {
    wireguardPublicKey: ownText(annotations, `${prefix}WireguardPublicKey`),
    wireguardPublicKeyV6: ownText(annotations, `${prefix}WireguardPublicKeyV6`),
    podCIDRs: podCIDRs.length === 0 ? undefined : podCIDRs,
  };
  const value: V3Node = { metadata: readMetadata(name, metadata, annotations), spec: calicoSpec, status };
  return { value, warnings };
}

/** Calico's own labels and annotations lie in annotations; Kubernetes' labels win, and are kept apart as well. */
function readMetadata(name: string, metadata: JsonRecord, annotations: StringMap): V3Node["metadata"] {
  const kubernetesLabels = stringMapAt(metadata, "labels", "metadata");
  const own = (what: string) => parseTextMap(ownText(annotations, `${prefix}${what}`) ?? "") ?? {};
  const labels = { ...own("labels"), ...kubernetesLabels };
  const kubeLabels = kubernetesLabels === undefined ? "null" : goMap(goString).write(kubernetesLabels);
  return {
    name,
    uid: stringAt(metadata, "uid", "metadata"),
    resourceVersion: stringAt(metadata, "resourceVersion", "metadata"),
    creationTimestamp: creationTimeOf(metadata),
    labels,
    annotations: { ...own("annotations"), [`${prefix}kube-labels`]: kubeLabels },
  };
}

type SpecSource = {
  readonly name: string;
  readonly node: JsonRecord;
  readonly spec: JsonRecord;
  readonly annotations: StringMap;
  readonly usePodCidr: boolean;
  readonly warnings: Warning[];
};

/** Annotations by what they are about; what does not pass its check is dropped and named. */
function annotationReader(annotations: StringMap, warnings: Warning[]) {
  const checked = (what: string, check: (text: string) => boolean, rule: string) => {
    const text = ownText(annotations, prefix + what);
    if (text === undefined || text === "" || check(text)) return text;
    warnings.push({ field: annotationField(prefix + what), rule, effect: "dropped" });
    return undefined;
  };
  return {
    address: (what: string, version: 4 | 6) =>
      checked(
        what,
        (text) => parseCidrOrIp(text)?.ip.version === version,
        `must be an IPv${version} address or network`,
      ),
    network: (what: string, version: 4 | 6) =>
      checked(what, (text) => isStrictNetwork(text, version), `must be an IPv${version} address or a masked network`),
    mac: (what: string) => checked(what, (text) => canonicalMac(text) !== undefined, "must be a MAC address"),
  };
}

function readSpec({ name, node, spec, annotations, usePodCidr, warnings }: SpecSource): NodeSpec {
  const { address, network, mac } = annotationReader(annotations, warnings);
  const podCidr = stringAt(spec, "podCIDR", "spec") ?? "";
  const isFromPodCidr = usePodCidr && podCidr !== "";
  const tunnelAddress = isFromPodCidr ? secondAddress(podCidr) : undefined;
  const hasKey = (ownText(annotations, `${prefix}WireguardPublicKey`) ?? "") !== "";
  const ipv4Address = address("IPv4Address", 4);
  const ipv6Address = address("IPv6Address", 6);
  const bgp = {
    asNumber: readAsNumber(annotations, warnings),
    ipv4Address,
    ipv6Address,
    ipv4IPIPTunnelAddr: isFromPodCidr ? tunnelAddress : network("IPv4IPIPTunnelAddr", 4),
    routeReflectorClusterID: network("RouteReflectorClusterID", 4),
  };
  const wireguard = isFromPodCidr
    ? { interfaceIPv4Address: hasKey ? tunnelAddress : undefined, interfaceIPv6Address: undefined }
    : {
        interfaceIPv4Address: network("IPv4WireguardInterfaceAddr", 4),
        interfaceIPv6Address: network("IPv6WireguardInterfaceAddr", 6),
      };
  return {
    bgp: hasAny(bgp) ? bgp : undefined,
    ipv4VXLANTunnelAddr: network("IPv4VXLANTunnelAddr", 4),
    vxlanTunnelMACAddr: mac("VXLANTunnelMACAddr"),
    ipv6VXLANTunnelAddr: network("IPv6VXLANTunnelAddr", 6),
    vxlanTunnelMACAddrV6: mac("VXLANTunnelMACAddrV6"),
    orchRefs: [{ nodeName: name, orchestrator: "k8s" }],
    wireguard: hasAny(wireguard) ? wireguard : undefined,
    addresses: readAddresses(node, [ipv4Address, ipv6Address]),
    interfaces: readInterfaces(annotations, warnings),
  };
}

function hasAny(values: { readonly [name: string]: unknown }): boolean {
  return Object.values(values).some((value) => value !== undefined && value !== "");
}

function readAsNumber(annotations: StringMap, warnings: Warning[]): number | undefined {
  const text = ownText(annotations, `${prefix}ASNumber`);
  if (text === undefined) return undefined;
  const number = canonicalAsNumber(text);
  if (number === undefined) {
    const rule = "must be an AS number such as 64512 or 1.10";
    warnings.push({ field: annotationField(`${prefix}ASNumber`), rule, effect: "dropped" });
  }
  return number;
}

/** The tunnel's address of a node that has its pods from spec.podCIDR: the CIDR's own with its last byte counted up. */
function secondAddress(podCidr: string): string | undefined {
  const cidr = parseCidr(podCidr);
  if (cidr === undefined) throw new FieldError("spec.podCIDR", "must be a network");
  if (cidr.ip.version !== 4) return undefined;
  const [a, b, c, d = 0] = cidr.ip.bytes;
  return `${a}.${b}.${c}.${(d + 1) % 256}`;
}

function readAddresses(node: JsonRecord, own: readonly (string | undefined)[]): NodeSpec["addresses"] {
  const found: { address: string; type: string }[] = own.flatMap((address) =>
    address === undefined || address === "" ? [] : [{ address, type: "CalicoNodeIP" }],
  );
  for (const [at, item] of listAt(recordAt(node, "status", ""), "addresses", "status").entries()) {
    const field = `status.addresses[${at}]`;
    const record = recordOf(item, field);
    const type = stringAt(record, "type", field);
    const address = stringAt(record, "address", field) ?? "";
    if (type === "InternalIP" || type === "ExternalIP") found.push({ address, type });
  }
  return found;
}

function readInterfaces(annotations: StringMap, warnings: Warning[]): NodeSpec["interfaces"] {
  const text = ownText(annotations, `${prefix}Interfaces`);
  if (text === undefined) return undefined;
  const parsed = parseOrUndefined(text);
  if (parsed === null) return undefined;
  // An entry that is null is an empty one, as Go reads it.
  const interfaces = Array.isArray(parsed) ? parsed.map((entry) => entry ?? {}) : (parsed ?? "");
  const spec = attempt(() => readSchema(nodeSpec, cleanJson({ interfaces }), ""));
  if (spec instanceof FieldError) {
    const rule = "must be a JSON list of interfaces with name and addresses";
    warnings.push({ field: annotationField(`${prefix}Interfaces`), rule, effect: "dropped" });
    return undefined;
  }
  return spec.interfaces?.map(({ name, addresses }) => ({
    name,
    addresses: addresses?.filter((address) => canonicalIp(address) !== undefined),
  }));
}
