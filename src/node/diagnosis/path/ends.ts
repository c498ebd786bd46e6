// The two ends of a path, as people name them: a pod, a node, or an address of one.
import { CattailError, nearest, parseRange } from "../../../base/lib/index.ts";
import type { ClusterFacts } from "../facts.ts";
import { bare } from "../networks.ts";

export type PathEnd = {
  readonly is: "pod" | "node" | "address";
  /** NAMESPACE/NAME of a pod, the name of a node, or the address. */
  readonly name: string;
  readonly address: string;
  /** Undefined: outside of the cluster. */
  readonly node: string | undefined;
};

/** Throws PATH_END for a name that leads nowhere, and a pod without an address. */
export function findEnd(text: string, cluster: ClusterFacts, namespace = "default"): PathEnd {
  const { pods, nodes } = cluster;
  const isAddress = parseRange(text) !== undefined && !text.includes("/");
  const pod = pods.find((each) => {
    const name = `${each.namespace}/${each.name}`;
    return isAddress ? each.address === text : name === text || name === `${namespace}/${text}`;
  });
  if (pod !== undefined) {
    const name = `${pod.namespace}/${pod.name}`;
    if (pod.address !== undefined) return { is: "pod", name, address: pod.address, node: pod.node };
    throw noEnd(
      `the pod ${name} has no address`,
      "See why the CNI plugin refuses it: kubectl describe pod, or cattail doctor node on its node",
    );
  }
  const wanted = text.replace(/^node\//, "");
  const node = nodes.find(
    (each) => each.name === wanted || (each.address !== undefined && bare(each.address) === text),
  );
  if (node?.address !== undefined) return { is: "node", name: node.name, address: bare(node.address), node: node.name };
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
