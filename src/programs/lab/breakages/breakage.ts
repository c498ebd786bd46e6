// What can be broken in a lab: how it is made and mended, and which finding of the doctor names it.
import type { DatastoreOptions } from "../../../calico/datastore/index.ts";
import type { Lab } from "../cluster/lab.ts";
import type { LabMode } from "../state.ts";

export type Breakage = {
  readonly name: string;
  /** What the doctor calls it. */
  readonly code: string;
  readonly says: string;
  /** Undefined: in every mode. */
  readonly modes?: readonly LabMode[];
  /** Undefined: with IPv4 alone, too. */
  readonly needs?: "ipv6";
  /** Undefined: with every datastore. */
  readonly datastores?: readonly DatastoreOptions["type"][];
  readonly make: (lab: Lab) => Promise<void>;
  readonly mend: (lab: Lab) => Promise<void>;
};
