// NetworkSet: networks that selectors of its namespace can choose by label.
import { lazy, list, struct, text } from "../../model/index.ts";
import { listCell, nameCell } from "../columns.ts";
import { followedResource } from "../kind.ts";

export const networkSetSpec = lazy(() => struct({ nets: list(text(), { "x-kubernetes-list-type": "set" }) }));

export const netsCell = listCell("NETS", "spec.nets", 80);

export const networkSet = followedResource("NetworkSet", {
  carries: "enforcement",
  names: ["networkset", "networksets", "netsets"],
  columns: { ps: [nameCell], wide: [nameCell, netsCell] },
  schema: { spec: networkSetSpec },
});
