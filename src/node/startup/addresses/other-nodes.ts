// The addresses of all nodes, to compare the own ones with.
import type { Resources } from "../../../calico/resources/index.ts";
import { isForbidden, type Patience, patiently } from "../cluster/patience.ts";
import { addressesOf, type OtherNode } from "./conflicts.ts";

/** Undefined: we may not. */
export async function listOtherNodes(
  resources: Resources,
  patience: Patience,
): Promise<readonly OtherNode[] | undefined> {
  try {
    const { items } = await patiently((signal) => resources.list("Node", { signal }), patience);
    return items.map(addressesOf);
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}
