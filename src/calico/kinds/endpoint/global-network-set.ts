// GlobalNetworkSet: networks that selectors of all namespaces can choose by label.
import { nameCell } from "../columns.ts";
import { followedResource } from "../kind.ts";
import { netsCell, networkSetChecks, networkSetProblems, networkSetSpec } from "./network-set.ts";

export const globalNetworkSet = followedResource("GlobalNetworkSet", {
  carries: "enforcement",
  names: ["globalnetworkset", "globalnetworksets", "gnetsets"],
  columns: { ps: [nameCell], wide: [nameCell, netsCell] },
  schema: { spec: networkSetSpec },
  newGroup: { shortNames: ["gns"], columns: [["Age", ".metadata.creationTimestamp", "date"]] },
  checks: networkSetChecks,
  wholeChecks: networkSetProblems,
});
