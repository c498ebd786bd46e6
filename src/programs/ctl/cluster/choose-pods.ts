// Whose logs are taken: pods of Calico's parts, a few of each part, those on the nodes in focus first. Pure.
import { isRecord, type JsonRecord } from "../../../base/lib/index.ts";

export type ChosenPod = {
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  readonly containers: readonly string[];
  /** Those that ran before: their last words say why they were started again. */
  readonly restarted: readonly string[];
  /** It has the data plane's programs in it. */
  readonly isNode: boolean;
  readonly object: JsonRecord;
};

export function choosePods(
  pods: readonly unknown[],
  { mostPods, focusNodes }: { readonly mostPods: number; readonly focusNodes: readonly string[] },
): readonly ChosenPod[] {
  const ours = pods.filter(isRecord).flatMap((pod) => (isCalicos(pod) ? [read(pod)] : []));
  const rank = (node: string) => {
    const at = focusNodes.indexOf(node);
    return at < 0 ? focusNodes.length : at;
  };
  const ordered = ours.toSorted(
    (a, b) => rank(a.node) - rank(b.node) || compare(a.node, b.node) || compare(a.name, b.name),
  );
  const taken = new Map<string, number>();
  return ordered.filter((pod) => {
    const part = partOf(pod);
    const count = taken.get(part) ?? 0;
    taken.set(part, count + 1);
    return count < mostPods;
  });
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const ourWords = /calico|tigera|cattail/;

/** By its own name or its namespace's. */
export function isNamedAfterCalico(object: unknown): boolean {
  const { namespace, name } = isRecord(object) ? metadataOf(object) : {};
  return ourWords.test(text(namespace)) || ourWords.test(text(name));
}

/** Installations by manifest have their pods in kube-system, where the original does not look. */
function isCalicos(pod: JsonRecord): boolean {
  const { namespace, labels } = metadataOf(pod);
  const app = isRecord(labels) ? [labels["k8s-app"], labels["app.kubernetes.io/name"], labels.app] : [];
  return ourWords.test(text(namespace)) || app.some((name) => ourWords.test(text(name)));
}

/** What started it: a DaemonSet, or a Deployment's ReplicaSet without the digits that tell its generations apart. */
function partOf({ namespace, object }: ChosenPod): string {
  const { ownerReferences, labels, name } = metadataOf(object);
  const [owner] = Array.isArray(ownerReferences) ? ownerReferences.filter(isRecord) : [];
  const app = isRecord(labels) ? text(labels["k8s-app"] ?? labels["app.kubernetes.io/name"]) : "";
  const by =
    owner === undefined ? text(name) : `${text(owner.kind)} ${text(owner.name).replace(/-[a-z0-9]{6,10}$/, "")}`;
  return `${namespace} ${app === "" ? by : app}`;
}

function read(pod: JsonRecord): ChosenPod {
  const { namespace, name, labels } = metadataOf(pod);
  const spec = isRecord(pod.spec) ? pod.spec : {};
  const status = isRecord(pod.status) ? pod.status : {};
  const named = (list: unknown) => (Array.isArray(list) ? list.filter(isRecord) : []);
  const containers = [...named(spec.initContainers), ...named(spec.containers)].map((container) =>
    text(container.name),
  );
  const statuses = [...named(status.containerStatuses), ...named(status.initContainerStatuses)];
  const hasRunBefore = ({ restartCount, lastState }: JsonRecord) =>
    (typeof restartCount === "number" && restartCount > 0) || (isRecord(lastState) && isRecord(lastState.terminated));
  return {
    namespace: text(namespace),
    name: text(name),
    node: text(spec.nodeName) || "no-node",
    containers,
    restarted: statuses.filter(hasRunBefore).map((container) => text(container.name)),
    isNode: isRecord(labels) && labels["k8s-app"] === "calico-node",
    object: pod,
  };
}

function metadataOf(object: JsonRecord): JsonRecord {
  return isRecord(object.metadata) ? object.metadata : {};
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
