// BlockAffinity: which node a block of addresses belongs to.
import { goBool, goString } from "../go-json.ts";
import { flag, kept, required, scalar, struct, text } from "../schema.ts";

const truths = ["1", "t", "T", "TRUE", "true", "True"];
const untruths = ["", "0", "f", "F", "FALSE", "false", "False"];

/** A boolean in CRDs of the new group; in the old one a text, read as Go's strconv reads booleans. */
const deleted = scalar<boolean>({
  read: (value) => {
    if (typeof value === "boolean") return value;
    if (typeof value !== "string") return undefined;
    if (truths.includes(value)) return true;
    return untruths.includes(value) ? false : undefined;
  },
  rule: "must be true or false",
  go: { write: (value) => goString.write(String(value)), isEmpty: () => false, zero: '""' },
  crd: { type: "string" },
});

export const blockAffinitySpec = struct({
  state: required(kept(text())),
  node: required(kept(text())),
  type: text(),
  cidr: required(kept(text())),
  deleted: required(kept(deleted)),
});

/** As the v3 API has it, whichever group stores it. */
export const v3BlockAffinitySpec = struct({
  state: kept(text()),
  node: kept(text()),
  type: text(),
  cidr: kept(text()),
  deleted: kept({ ...deleted, go: goBool }),
});

/** The affinity as clients read it, which is also how etcd holds it. */
export const v1BlockAffinity = struct({ state: kept(text()), deleted: kept(flag()) });
