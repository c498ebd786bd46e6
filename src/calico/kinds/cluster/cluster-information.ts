// ClusterInformation: what the cluster is, and whether its datastore may be used.
import { flag, lazy, optional, type SchemaType, struct, text } from "../../model/index.ts";
import { cell, nameCell } from "../columns.ts";
import { followedResource } from "../kind.ts";

export const clusterInformationSpec = lazy(() =>
  struct({
    clusterGUID: text(),
    clusterType: text(),
    calicoVersion: text(),
    datastoreReady: optional(flag()),
    variant: text(),
  }),
);
export type ClusterInformationSpec = SchemaType<typeof clusterInformationSpec>;

export const clusterInformation = followedResource("ClusterInformation", {
  carries: "enforcement",
  names: ["clusterinformation", "clusterinformations", "clusterinfo", "clusterinfos"],
  columns: {
    ps: [
      nameCell,
      cell("CLUSTERGUID", "spec.clusterGUID"),
      cell("CLUSTERTYPE", "spec.clusterType"),
      cell("CALICOVERSION", "spec.calicoVersion"),
      cell("DATASTOREREADY", "spec.datastoreReady", "false"),
    ],
  },
  rights: {
    typha: ["get", "create", "update"],
    node: ["get", "list", "watch", "create", "update"],
    cni: ["get"],
    ctl: ["get", "list", "create", "update"],
  },
  schema: { spec: clusterInformationSpec },
  newGroup: {
    shortNames: ["clusterinfo", "clusterinfos"],
    columns: [
      ["Version", ".spec.calicoVersion", "string"],
      ["Ready", ".spec.datastoreReady", "boolean"],
      ["Types", ".spec.clusterType", "string"],
    ],
  },
});
