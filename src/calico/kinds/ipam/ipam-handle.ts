// IPAMHandle: the name under which addresses are held, one for each container. No client of a Typha is told of it.
import { flag, int64, integer, kept, lazy, map, required, struct, text } from "../../model/index.ts";
import { customResource } from "../kind.ts";

const ipamHandleSpec = lazy(() =>
  struct({
    handleID: required(kept(text())),
    block: required(kept(map(integer(int64)))),
    deleted: kept(flag()),
  }),
);

/** A handle as etcd keeps it: its key says whose it is. */
export const v1IpamHandle = lazy(() => struct({ block: kept(map(integer(int64))), deleted: kept(flag()) }));

export const ipamHandle = customResource("IPAMHandle", {
  etcdPrefix: "/calico/ipam/v2/handle/",
  rights: {
    node: ["get", "list", "create", "update", "delete"],
    cni: ["get", "create", "update", "delete"],
    ctl: ["get", "list", "update", "delete"],
  },
  schema: { spec: ipamHandleSpec },
  newGroup: { columns: [["ID", ".spec.handleID", "string"]] },
});
