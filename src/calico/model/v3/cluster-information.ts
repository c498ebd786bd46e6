// ClusterInformation: what the cluster is, and whether its datastore may be used.
import { flag, optional, type SchemaType, struct, text } from "../schema.ts";

export const clusterInformationSpec = struct({
  clusterGUID: text(),
  clusterType: text(),
  calicoVersion: text(),
  datastoreReady: optional(flag()),
  variant: text(),
});
export type ClusterInformationSpec = SchemaType<typeof clusterInformationSpec>;
