// What the node's end of a pod's interface is called. Felix computes the same name from the pod's, so it must not differ.
import { createShortSha1 } from "../../../calico/convert/views.ts";

/** Undefined: no pod of Kubernetes. */
export type PodName = { readonly namespace: string; readonly name: string } | undefined;

const shortSha1 = createShortSha1();
const usualPrefix = "cali";
const idLength = 11;

/**
 * FELIX_INTERFACEPREFIX may be a list: the first is for pods. Where that is empty (",x") it is the usual one: an interface without a prefix would be no
 * pod's to an agent, and no policy would hold for it.
 */
export function interfacePrefix(setting: string | undefined): string {
  return setting?.split(",")[0] || usualPrefix;
}

export function hostSideName(prefix: string, { pod, containerId }: { pod: PodName; containerId: string }): string {
  if (pod !== undefined) return prefix + shortSha1(`${pod.namespace}.${pod.name}`);
  return prefix + containerId.slice(0, idLength);
}
