// The WorkloadEndpoint that stands for a pod's interface. On Kubernetes only its addresses are written, as annotations of the pod; in etcd all
// of it is.
import type { JsonRecord } from "../../base/lib/index.ts";
import { workloadEndpointName } from "../../calico/kinds/index.ts";
import { readV3, type V3Object } from "../../calico/resources/index.ts";
import { mesosLabels } from "./asked/mesos-labels.ts";
import { EndpointError } from "./endpoint-error.ts";
import type { EndpointRequest } from "./request.ts";
import { networkOf } from "./result.ts";

export type EndpointFacts = {
  readonly addresses: readonly { readonly address: string }[];
  readonly mac: string;
  /** The pod as an endpoint, with the addresses that it has now; undefined where pods are not read. */
  readonly view: V3Object | undefined;
  readonly floatingAddresses: readonly string[];
};

/** Those who are no pods have the namespace default, unless Mesos names one. */
export function endpointId(request: EndpointRequest): { namespace: string; name: string } {
  const { pod, configuration } = request;
  return {
    namespace: pod?.namespace ?? (mesosLabels(configuration).namespace || "default"),
    name: nameFor(request, "name"),
  };
}

/** What all names of the pod's endpoint would begin with must be possible. Before anything is asked of a datastore, as by the original. */
export function checkEndpointPrefix(request: EndpointRequest): void {
  nameFor({ ...request, ifname: "eth0" }, "prefix");
}

function nameFor({ node, pod, containerId, ifname }: EndpointRequest, part: "name" | "prefix"): string {
  const orchestrator = pod === undefined ? "cni" : "k8s";
  const names = { node, orchestrator, pod: pod?.name ?? "", containerID: containerId, endpoint: ifname };
  const naming = workloadEndpointName(names);
  if (naming.is !== "problem") return naming.name;
  const { field, value = "", reason } = naming;
  throw new EndpointError(
    `error constructing WorkloadEndpoint ${part}: error with field ${field} = '${value}' (${reason})`,
  );
}

export function endpointOf(request: EndpointRequest, facts: EndpointFacts): V3Object {
  const { node, pod, containerId, ifname, hostSide, settings } = request;
  const { namespace, name } = endpointId(request);
  const { metadata, spec } = facts.view ?? { metadata: {}, spec: {} as JsonRecord };
  const { profiles, ports, serviceAccountName, allowSpoofedSourcePrefixes } = spec;
  const orchestrator = pod === undefined ? "cni" : "k8s";
  const own = { "projectcalico.org/namespace": namespace, "projectcalico.org/orchestrator": orchestrator };
  return readV3("WorkloadEndpoint", {
    metadata: {
      name,
      namespace,
      ...(metadata.generateName === undefined ? {} : { generateName: metadata.generateName }),
      labels: { ...metadata.labels, ...(pod === undefined ? mesosLabels(request.configuration).labels : {}), ...own },
    },
    spec: {
      ...said({ profiles, ports, serviceAccountName, allowSpoofedSourcePrefixes }),
      orchestrator,
      node,
      ...(pod === undefined ? {} : { pod: pod.name }),
      containerID: containerId,
      endpoint: ifname,
      interfaceName: hostSide,
      mac: facts.mac,
      ipNetworks: facts.addresses.map(({ address }) => networkOf(address)),
      ipNATs: natsOf(facts),
      ...(settings.policyType === "k8s" && pod !== undefined ? {} : { profiles: [settings.network] }),
    },
  });
}

function said(members: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** Each floating address goes to the pod's last one of its family. */
function natsOf({ addresses, floatingAddresses }: EndpointFacts): JsonRecord[] {
  return floatingAddresses.flatMap((externalIP) => {
    const isVersion6 = externalIP.includes(":");
    const internalIP = addresses.findLast(({ address }) => address.includes(":") === isVersion6)?.address;
    return internalIP === undefined ? [] : [{ internalIP, externalIP }];
  });
}

/** Named like the network: what all pods get where Kubernetes' own policy is not asked for. */
export function networkProfile({ settings: { network }, pod }: EndpointRequest): JsonRecord {
  const ingress =
    pod === undefined ? { action: "Allow", source: { selector: `has(${network})` } } : { action: "Allow" };
  return {
    metadata: { name: network },
    spec: { egress: [{ action: "Allow" }], ingress: [ingress], labelsToApply: { [network]: "" } },
  };
}
