// The kernel's side of a pod's endpoint, as the rest of the room takes it.
import type { PodNetwork } from "../request.ts";
import { collectOnNode, isPlugged, lostOf, missingOf, plugLink, unplugInPod, unplugOnNode } from "./pod-network.ts";
import { LinkRemover } from "./remove-links.ts";

/** One for all calls of a program, so that interfaces which go at the same time go together. */
export function createNetwork(): PodNetwork {
  const remover = new LinkRemover();
  return {
    plug: plugLink,
    unplugInPod,
    isPlugged,
    unplugOnNode: (side, { nodeNamespace }) => unplugOnNode(side, { nodeNamespace, remover }),
    collect: (prefix, isGone, { nodeNamespace }) => collectOnNode(prefix, isGone, { nodeNamespace, remover }),
    lost: lostOf,
    missing: missingOf,
  };
}
