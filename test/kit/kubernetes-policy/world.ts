// A cluster of the oracle as the product meets it: objects that go through the conversions of the felix data set.

import type { ProbedFlow } from "../policy/flow.ts";
import { type ApiObject, PolicyWorld } from "../policy-world.ts";
import type { ClusterNetworkPolicy, NetworkPolicy, OracleCluster, OracleConnection, OracleEnd } from "./objects.ts";

export function worldOfCluster({ namespaces, pods, networkPolicies, clusterPolicies }: OracleCluster): PolicyWorld {
  const world = new PolicyWorld();
  for (const [name, labels] of Object.entries(namespaces))
    world.write({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });
  for (const pod of pods) {
    const known = world.pods.find(({ namespace, name }) => namespace === pod.namespace && name === pod.name);
    if (known !== undefined) world.do({ op: "pod", pods: [{ ...known, ...pod }] });
  }
  for (const policy of networkPolicies) world.write(objectOfNetworkPolicy(policy));
  for (const policy of clusterPolicies) world.write(objectOfClusterPolicy(policy));
  return world;
}

export function objectOfNetworkPolicy({ namespace, name, spec }: NetworkPolicy): ApiObject {
  return { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: { namespace, name }, spec };
}

export function objectOfClusterPolicy({ name, spec }: ClusterNetworkPolicy): ApiObject {
  return { apiVersion: "policy.networking.k8s.io/v1alpha2", kind: "ClusterNetworkPolicy", metadata: { name }, spec };
}

const outside: { readonly [place: string]: readonly string[] } = {
  ext1: ["192.0.2.11", "2001:db8::11"],
  ext2: ["192.0.2.12", "2001:db8::12"],
};

/** Undefined: one of its ends has no address of the family. */
export function connectionOf(flow: ProbedFlow, cluster: OracleCluster): OracleConnection | undefined {
  const end = (place: string): OracleEnd | undefined => {
    const pod = cluster.pods.find(({ namespace, name }) => `${namespace}/${name}` === place);
    const address = (pod?.ips ?? outside[place] ?? []).find((ip) => ip.includes(":") === (flow.family === 6));
    return address === undefined ? undefined : { pod, address };
  };
  const [source, destination] = [end(flow.from), end(flow.to)];
  if (source === undefined || destination === undefined) return undefined;
  const protocol = ({ tcp: "TCP", udp: "UDP", sctp: "SCTP", icmp: "ICMP", ip: undefined } as const)[flow.protocol];
  return protocol === undefined ? undefined : { source, destination, protocol, port: flow.port };
}
