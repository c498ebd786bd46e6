// A cluster that changes piece by piece, as users change one: labels of a pod or a namespace, ports of containers, a policy that comes, changes or
// goes. Each piece is one of another random cluster.
import type { PodOfWorld, PolicyWorld } from "../policy-world.ts";
import type { Random } from "../random.ts";
import type { ClusterNetworkPolicy, NetworkPolicy, OracleCluster } from "./objects.ts";
import { randomKubernetesCluster } from "./random-objects.ts";
import { objectOfClusterPolicy, objectOfNetworkPolicy } from "./world.ts";

export type Change = { readonly about: string; readonly cluster: OracleCluster };

/** The cluster after one more change, which has been written to the world, too. */
export function changed(cluster: OracleCluster, world: PolicyWorld, random: Random): Change {
  const other = randomKubernetesCluster(random, world.pods);
  const piece = random.pick(["pod", "pod", "namespace", "policy", "policy", "cluster policy"]);
  if (piece === "pod") return withPod(cluster, random.pick(other.pods), world);
  if (piece === "namespace") {
    const [name, labels] = random.pick(Object.entries(other.namespaces));
    world.write({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });
    return {
      about: `labels of ${name}`,
      cluster: { ...cluster, namespaces: { ...cluster.namespaces, [name]: labels } },
    };
  }
  if (piece === "policy")
    return withPolicy(
      cluster,
      { goes: pickOne(cluster.networkPolicies), comes: pickOne(other.networkPolicies) },
      world,
    );
  return withClusterPolicy(
    cluster,
    { goes: pickOne(cluster.clusterPolicies), comes: pickOne(other.clusterPolicies) },
    world,
  );

  function pickOne<T>(list: readonly T[]): T | undefined {
    return list.length === 0 || random.isOneIn(3) ? undefined : random.pick(list);
  }
}

function withPod(cluster: OracleCluster, pod: OracleCluster["pods"][number], world: PolicyWorld): Change {
  const isIt = (one: { readonly namespace: string; readonly name: string }) =>
    one.namespace === pod.namespace && one.name === pod.name;
  const known: PodOfWorld | undefined = world.pods.find(isIt);
  if (known === undefined) throw new Error(`no pod ${pod.namespace}/${pod.name}`);
  world.do({ op: "pod", pods: [{ ...known, ...pod }] });
  return {
    about: `labels and ports of ${pod.namespace}/${pod.name}`,
    cluster: { ...cluster, pods: cluster.pods.map((one) => (isIt(one) ? pod : one)) },
  };
}

type Pair<T> = { readonly goes: T | undefined; readonly comes: T | undefined };

function withPolicy(cluster: OracleCluster, { goes, comes }: Pair<NetworkPolicy>, world: PolicyWorld): Change {
  const isOf = (policy: NetworkPolicy | undefined) => (one: NetworkPolicy) =>
    one.namespace === policy?.namespace && one.name === policy.name;
  if (goes !== undefined) world.remove(objectOfNetworkPolicy(goes));
  if (comes !== undefined) world.write(objectOfNetworkPolicy(comes));
  const rest = cluster.networkPolicies.filter((one) => !isOf(goes)(one) && !isOf(comes)(one));
  return {
    about: `NetworkPolicy ${goes?.name ?? "-"} goes, ${comes?.name ?? "-"} comes`,
    cluster: { ...cluster, networkPolicies: comes === undefined ? rest : [...rest, comes] },
  };
}

function withClusterPolicy(
  cluster: OracleCluster,
  { goes, comes }: Pair<ClusterNetworkPolicy>,
  world: PolicyWorld,
): Change {
  if (goes !== undefined) world.remove(objectOfClusterPolicy(goes));
  if (comes !== undefined) world.write(objectOfClusterPolicy(comes));
  const rest = cluster.clusterPolicies.filter(({ name }) => name !== goes?.name && name !== comes?.name);
  return {
    about: `ClusterNetworkPolicy ${goes?.name ?? "-"} goes, ${comes?.name ?? "-"} comes`,
    cluster: { ...cluster, clusterPolicies: comes === undefined ? rest : [...rest, comes] },
  };
}
