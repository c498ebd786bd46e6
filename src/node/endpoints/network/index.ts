// The kernel's side of a pod's endpoint, as the rest of the room takes it.
import type { PodNetwork } from "../request.ts";
import { collectOnNode, lostOf, missingOf, plugLink, unplugInPod, unplugOnNode } from "./pod-network.ts";

export const network: PodNetwork = {
  plug: plugLink,
  unplugInPod,
  unplugOnNode,
  collect: collectOnNode,
  lost: lostOf,
  missing: missingOf,
};
