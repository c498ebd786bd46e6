// A connection as a command of ctl uses it: one for the version check and the work alike.
import type { Datastore } from "../../calico/datastore/index.ts";
import type { Resources } from "../../calico/resources/index.ts";

export type Connection = {
  readonly type: "kubernetes" | "etcdv3" | "directory";
  readonly datastore: Datastore;
  readonly resources: Resources;
  readonly close: () => Promise<void>;
};
