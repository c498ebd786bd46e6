// BlockAffinity: which node a block of addresses belongs to.
import { flag, goBool, goString, kept, lazy, required, scalar, struct, text } from "../../model/index.ts";
import { followedResource } from "../kind.ts";

const truths = ["1", "t", "T", "TRUE", "true", "True"];
const untruths = ["", "0", "f", "F", "FALSE", "false", "False"];

/** A boolean in CRDs of the new group; in the old one a text, read as Go's strconv reads booleans. */
const deleted = lazy(() =>
  scalar<boolean>({
    read: (value) => {
      if (typeof value === "boolean") return value;
      if (typeof value !== "string") return undefined;
      if (truths.includes(value)) return true;
      return untruths.includes(value) ? false : undefined;
    },
    rule: "must be true or false",
    go: { write: (value) => goString.write(String(value)), isEmpty: () => false, zero: '""' },
    crd: { type: "string" },
  }),
);

export const blockAffinitySpec = lazy(() =>
  struct({
    state: required(kept(text())),
    node: required(kept(text())),
    type: text(),
    cidr: required(kept(text())),
    deleted: required(kept(deleted)),
  }),
);

/** As the v3 API has it, whichever group stores it. */
export const v3BlockAffinitySpec = lazy(() =>
  struct({
    state: kept(text()),
    node: kept(text()),
    type: text(),
    cidr: kept(text()),
    deleted: kept({ ...deleted, go: goBool }),
  }),
);

/** The affinity as clients read it, which is also how etcd holds it. */
export const v1BlockAffinity = lazy(() => struct({ state: kept(text()), deleted: kept(flag()) }));

export const blockAffinity = followedResource("BlockAffinity", {
  carries: "enforcement",
  etcdPrefix: "/calico/ipam/v2/host/",
  rights: {
    node: ["get", "list", "watch", "create", "update", "delete"],
    cni: ["get", "list", "create", "update", "delete"],
    ctl: ["get", "list", "update", "delete"],
  },
  schema: { spec: blockAffinitySpec },
  newGroup: {
    shortNames: ["affinity", "affinities"],
    columns: [
      ["CIDR", ".spec.cidr", "string"],
      ["Node", ".spec.node", "string"],
      ["Type", ".spec.type", "string"],
    ],
    spec: {
      cidr: { format: "cidr" },
      deleted: { type: "boolean", default: false },
      state: { enum: ["", "confirmed", "pending", "pendingDeletion"] },
    },
  },
});
