// A uid for an object whose manifest has none. Clients are sent uids, and some conversions need one; made from the name,
// it is the same after a restart and on every server that reads the same folder.

import { createHash } from "node:crypto";
import type { JsonRecord } from "../../../base/lib/index.ts";
import type { Kind } from "../../kinds/index.ts";
import type { ObjectId } from "../datastore.ts";
import { metadataOf } from "../object-id.ts";

export function withStableUid(value: JsonRecord, kind: Kind, id: ObjectId): JsonRecord {
  const metadata = metadataOf(value);
  if (metadata.uid !== undefined) return value;
  return { ...value, metadata: { ...metadata, uid: stableUid(kind, id) } };
}

export function stableUid(kind: Kind, id: ObjectId): string {
  return uidOf(`${kind}/${id.namespace}/${id.name}`);
}

// The form of a name-based UUID: version 5, variant 10.
function uidOf(name: string): string {
  const bytes = createHash("sha1").update("cattail directory\u0000").update(name).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
