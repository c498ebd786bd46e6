// The two ends of a path, as people name them: a pod, a node, or an address of one. Between two that have both families of addresses there are two paths.
import { CattailError, type Family, nearest } from "../../../base/lib/index.ts";
import type { ClusterFacts } from "../facts.ts";
import { clusterOf, familiesOf, familyOf, type WholeCluster } from "../families.ts";
import { bare, canonical, isIn } from "../networks.ts";
import { interfaceOfPod } from "../pod-interface.ts";

export type PathEnd = {
  readonly is: "pod" | "node" | "address";
  /** NAMESPACE/NAME of a pod, the name of a node, or the address. */
  readonly name: string;
  readonly address: string;
  /** Undefined: outside of the cluster. */
  readonly node: string | undefined;
  /** Of a pod: its interface there. */
  readonly link?: string;
};

export type PathEnds = { readonly family: Family; readonly from: PathEnd; readonly to: PathEnd };

/** A path for each family that both ends have. Throws PATH_END for a name that leads nowhere, and for a pod without an address. */
export function findEnds(
  { from, to, namespace }: { readonly from: string; readonly to: string; readonly namespace: string },
  cluster: WholeCluster,
): PathEnds[] {
  const asked = [from, to].flatMap((text) => addressFamily(text) ?? []);
  const families = asked.length > 0 ? [...new Set(asked)] : familiesOf(cluster);
  if (families.length > 1 && asked.length > 1)
    throw noEnd(`${from} and ${to} are of two families of addresses`, "Give two of the same family");
  const refusals: unknown[] = [];
  const found = families.flatMap((family) => {
    try {
      const own = clusterOf(cluster, family);
      return [{ family, from: findEnd(from, own, namespace), to: findEnd(to, own, namespace) }];
    } catch (error) {
      refusals.push(error);
      return [];
    }
  });
  if (found.length === 0) throw refusals[0];
  return found;
}

function addressFamily(text: string): Family | undefined {
  return text.includes("/") ? undefined : familyOf(text);
}

function findEnd(asked: string, cluster: ClusterFacts, namespace: string): PathEnd {
  const { pods, nodes, family } = cluster;
  const isAddress = addressFamily(asked) !== undefined;
  const text = isAddress ? canonical(asked) : asked;
  const pod = pods.find((each) => {
    const name = `${each.namespace}/${each.name}`;
    return isAddress ? each.address === text : name === text || name === `${namespace}/${text}`;
  });
  if (pod !== undefined) {
    const name = `${pod.namespace}/${pod.name}`;
    const link = interfaceOfPod(pod);
    if (pod.address !== undefined) return { is: "pod", name, address: pod.address, node: pod.node, link };
    throw noEnd(
      `the pod ${name} has no IPv${family} address`,
      "If it should have one, see why the CNI plugin gives it none: kubectl describe pod, or cattail doctor node on its node",
    );
  }
  const wanted = text.replace(/^node\//, "");
  const node = nodes.find(
    (each) => each.name === wanted || (each.address !== undefined && bare(each.address) === text),
  );
  if (node?.address !== undefined) return { is: "node", name: node.name, address: bare(node.address), node: node.name };
  if (isAddress && cluster.serviceRanges.some((range) => isIn(text, range)))
    throw noEnd(
      `${text} is the address of a service, which is not where packets go to: its node sends them on to one of its pods`,
      "Ask for such a pod: kubectl get endpointslices -A -o wide lists them by service",
    );
  if (isAddress) return { is: "address", name: text, address: text, node: undefined };
  const names = [...pods.map((each) => `${each.namespace}/${each.name}`), ...nodes.map((each) => each.name)];
  const meant = nearest(text.includes("/") ? text : `${namespace}/${text}`, names);
  throw noEnd(
    `there is no pod and no node ${JSON.stringify(text)}${meant === undefined ? "" : `; did you mean ${meant}?`}`,
    "Give NAMESPACE/POD, the name of a node, or an address",
  );
}

function noEnd(problem: string, next: string): CattailError {
  return new CattailError("PATH_END", { problem, next });
}
