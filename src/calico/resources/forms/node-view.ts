// Calico's Node as a view of the Kubernetes Node. Reading is convert's (node/kubernetes-node.ts). A write changes
// annotations and nothing else: each field of the v3 object has one, which is set, or removed where the object lacks the field.
//
//   spec.bgp.ipv4Address, .asNumber, …   projectcalico.org/IPv4Address, /ASNumber, …
//   metadata.labels                      projectcalico.org/labels       {"rack":"r1"}, without those that Kubernetes has
//   metadata.annotations                 projectcalico.org/annotations  without kube-labels, which is made up when reading
//   spec.addresses, spec.orchRefs, status.podCIDRs   made up when reading: never written

import { isRecord, type JsonRecord } from "../../../base/lib/index.ts";
import { kubernetesNode, ownText, parseTextMap } from "../../convert/views.ts";
import { type NodeSpec, nodeSpec, nodeStatus } from "../../kinds/index.ts";
import {
  cleanJson,
  goList,
  goMap,
  goString,
  goStruct,
  omitEmpty,
  readSchema,
  recordOf,
  type StringMap,
  stringMapAt,
} from "../../model/index.ts";
import type { Id } from "../names.ts";
import { toV3, type V3Object } from "../v3-object.ts";

const prefix = "projectcalico.org/";
const kubeLabels = `${prefix}kube-labels`;

/** Throws FieldError for what is no node. */
export function fromKubernetesNode(
  { id, value, revision }: { id: Id; value: unknown; revision: string },
  { usePodCidr }: { usePodCidr: boolean },
): V3Object {
  const { metadata, spec, status } = kubernetesNode(id.name, recordOf(cleanJson(value), ""), { usePodCidr }).value;
  return toV3("Node", { metadata: { ...metadata, resourceVersion: revision }, spec, status });
}

/** The Kubernetes node with the annotations that the Calico node asks for. Throws FieldError. */
export function toKubernetesNode(node: V3Object, current: unknown): JsonRecord {
  const object = recordOf(cleanJson(current), "");
  const metadata = recordOf(object.metadata ?? {}, "metadata");
  const annotations: Record<string, string> = { ...stringMapAt(metadata, "annotations", "metadata") };
  for (const [name, text] of wantedAnnotations(node, metadata)) {
    if (text === undefined || text === "") delete annotations[prefix + name];
    else annotations[prefix + name] = text;
  }
  return { ...object, metadata: { ...metadata, annotations } };
}

function wantedAnnotations(node: V3Object, metadata: JsonRecord): readonly (readonly [string, string | undefined])[] {
  const spec = readSchema(nodeSpec, cleanJson(node.spec), "spec");
  const status = readSchema(nodeStatus, cleanJson(node.status ?? {}), "status");
  const { bgp, wireguard } = spec;
  return [
    ["labels", writeTexts(ownLabels(node, metadata))],
    ["annotations", writeTexts(without(node.metadata.annotations ?? {}, [kubeLabels]))],
    ["IPv4Address", bgp?.ipv4Address],
    ["IPv6Address", bgp?.ipv6Address],
    ["ASNumber", bgp?.asNumber?.toString()],
    ["RouteReflectorClusterID", bgp?.routeReflectorClusterID],
    ["IPv4IPIPTunnelAddr", bgp?.ipv4IPIPTunnelAddr],
    ["IPv4VXLANTunnelAddr", spec.ipv4VXLANTunnelAddr],
    ["VXLANTunnelMACAddr", spec.vxlanTunnelMACAddr],
    ["IPv6VXLANTunnelAddr", spec.ipv6VXLANTunnelAddr],
    ["VXLANTunnelMACAddrV6", spec.vxlanTunnelMACAddrV6],
    ["IPv4WireguardInterfaceAddr", wireguard?.interfaceIPv4Address],
    ["IPv6WireguardInterfaceAddr", wireguard?.interfaceIPv6Address],
    ["WireguardPublicKey", status.wireguardPublicKey],
    ["WireguardPublicKeyV6", status.wireguardPublicKeyV6],
    ["Interfaces", spec.interfaces === undefined ? undefined : interfaces.write(spec.interfaces)],
  ];
}

type Interface = NonNullable<NodeSpec["interfaces"]>[number];

const interfaces = goList(goStruct<Interface>({ name: omitEmpty(goString), addresses: omitEmpty(goList(goString)) }));

/** The object's labels but for Kubernetes' own: those it has now, and those it had when the object was read. */
function ownLabels({ metadata: { labels = {}, annotations = {} } }: V3Object, metadata: JsonRecord): StringMap {
  const read = parseTextMap(ownText(annotations, kubeLabels) ?? "") ?? {};
  const now = isRecord(metadata.labels) ? metadata.labels : {};
  return without(labels, [...Object.keys(read), ...Object.keys(now)]);
}

function without(texts: StringMap, names: readonly string[]): StringMap {
  return Object.fromEntries(Object.entries(texts).filter(([name]) => !names.includes(name)));
}

function writeTexts(texts: StringMap): string | undefined {
  return Object.keys(texts).length === 0 ? undefined : goMap(goString).write(texts);
}
