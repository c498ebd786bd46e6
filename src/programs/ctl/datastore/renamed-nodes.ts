// In etcd a node has a name of its own; in Kubernetes it has the name of the Kubernetes node, which it says in its reference to the orchestrator.
// Everything that names a node is renamed on the way. Pure.
import { isRecord, type JsonRecord } from "../../../base/lib/index.ts";
import type { V3Object } from "../../../calico/resources/index.ts";
import { CtlError } from "../console.ts";

/** Names in etcd to names in Kubernetes. */
export type NodeNames = ReadonlyMap<string, string>;

export function kubernetesNodeNames(nodes: readonly V3Object[]): NodeNames {
  return new Map(nodes.map((node) => [node.metadata.name ?? "", kubernetesName(node)]));
}

function kubernetesName({ metadata: { name = "" }, spec }: V3Object): string {
  const references = Array.isArray(spec.orchRefs) ? spec.orchRefs.filter(isRecord) : [];
  const { nodeName } = references.findLast(({ orchestrator }) => orchestrator === "k8s") ?? {};
  if (typeof nodeName === "string" && nodeName !== "") return nodeName;
  const problem = `node ${name} missing a 'k8s' orchestrator reference`;
  const rule = "Unable to export data unless every node has a 'k8s' orchestrator reference";
  throw new CtlError(`unable to process metadata for export for Node resource: ${problem}. ${rule}`);
}

/** As it is exported: without what belongs to this datastore, and with the names of nodes that Kubernetes has. */
export function exported(object: V3Object, names: NodeNames): V3Object {
  const { uid: _, resourceVersion: __, creationTimestamp: ___, ...rest } = object.metadata;
  const { deletionTimestamp: ____, deletionGracePeriodSeconds: _____, ...metadata } = rest;
  const { name = "" } = metadata;
  switch (object.kind) {
    case "Node":
      return { ...object, metadata: { ...metadata, name: names.get(name) ?? name } };
    case "FelixConfiguration":
      return { ...object, metadata: { ...metadata, name: ofNode(name, names) }, spec: withIptablesWords(object.spec) };
    case "BGPConfiguration":
      return { ...object, metadata: { ...metadata, name: ofNode(name, names) } };
    // The original leaves these as they are, so that they are about no node afterwards.
    case "BGPPeer":
    case "HostEndpoint": {
      const node = typeof object.spec.node === "string" ? names.get(object.spec.node) : undefined;
      return { ...object, metadata, spec: node === undefined ? object.spec : { ...object.spec, node } };
    }
    default:
      return { ...object, metadata };
  }
}

/** node.NAME is the settings of one node. */
function ofNode(name: string, names: NodeNames): string {
  const node = name.startsWith("node.") ? names.get(name.slice("node.".length)) : undefined;
  return node === undefined ? name : `node.${node}`;
}

const iptablesWords = [
  "defaultEndpointToHostAction",
  "iptablesFilterAllowAction",
  "iptablesMangleAllowAction",
  "iptablesFilterDenyAction",
];

/** Written in capitals by the first version of the API. */
function withIptablesWords(spec: JsonRecord): JsonRecord {
  const changed = iptablesWords.flatMap((field): [string, string][] => {
    const word = spec[field];
    if (typeof word !== "string" || word === "") return [];
    return [[field, `${word.charAt(0).toUpperCase()}${word.slice(1).toLowerCase()}`]];
  });
  return { ...spec, ...Object.fromEntries(changed) };
}
