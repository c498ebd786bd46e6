// The kernel's side of a pod's endpoint, as the rest of the room takes it.
import type { PodNetwork } from "../request.ts";
import { collectOnNode, isPlugged, lostOf, missingOf, plugLink, unplugInPod, unplugOnNode } from "./pod-network.ts";

export const network: PodNetwork = {
  plug: plugLink,
  unplugInPod,
  isPlugged,
  unplugOnNode,
  collect: collectOnNode,
  lost: lostOf,
  missing: missingOf,
};
