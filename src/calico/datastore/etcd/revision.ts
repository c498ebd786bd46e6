// etcd's revisions: signed 64-bit numbers on the wire, opaque text to everybody else, bigint where they are compared.
import type { Kind } from "../../kinds/index.ts";
import type { Revision } from "../datastore.ts";
import { DatastoreError } from "../errors.ts";
import type { Header } from "./messages.ts";

const maxRevision = 2n ** 63n - 2n; // a watch starts one later

export function toRevision(revision: bigint | string): Revision {
  return String(revision) as Revision; // the brand is given here and taken off in parseRevision(), nowhere else
}

export function parseRevision(revision: Revision): bigint {
  const value = /^\d{1,19}$/.test(revision) ? BigInt(revision) : -1n;
  if (value < 0n || value > maxRevision) {
    throw new DatastoreError("invalid", `revision "${revision.slice(0, 40)}" was not made by etcd`);
  }
  return value;
}

/** protobuf lets every field be absent, whatever the sender's intentions. */
export function headerRevision(header: Header | null): Revision {
  if (header === null) throw new DatastoreError("invalid", "etcd's answer has no header");
  return toRevision(header.revision);
}

/** The cluster is behind a revision that it gave us: it was restored from a backup, or is another one. */
export function wentBack(kind: Kind, revision: Revision): DatastoreError {
  return new DatastoreError(
    "too-large-revision",
    `${kind}: etcd has not reached revision ${revision}; was it restored from a backup?`,
  );
}
