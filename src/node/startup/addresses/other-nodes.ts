// The addresses of all nodes. Of an API server only names and annotations are asked for: a Node of a busy cluster lists hundreds of images, and none
// of that matters here.
import { isRecord } from "../../../base/lib/index.ts";
import type { KubernetesDatastore } from "../../../calico/datastore/index.ts";
import type { Resources } from "../../../calico/resources/index.ts";
import { isForbidden, type Patience, patiently } from "../cluster/patience.ts";
import { addressesOf, type OtherNode } from "./conflicts.ts";

/** Undefined: we may not. */
export async function listOtherNodes(
  { resources }: { readonly resources: Resources; readonly kubernetes: KubernetesDatastore | undefined },
  patience: Patience,
): Promise<readonly OtherNode[] | undefined> {
  try {
    const { items } = await patiently((signal) => resources.list("Node", { signal }), patience);
    return items.filter(({ spec }) => isRecord(spec)).map(addressesOf);
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}
