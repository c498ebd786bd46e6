// The protocol's Go types as gob schemas. Field names and kinds are the protocol; the types' own names are only text.
import {
  bool,
  int,
  interface_,
  made,
  slice,
  string,
  struct,
  textBytes,
  time,
  uint,
  type ValueOf,
} from "../../base/gob/index.ts";
import { type UpdateType, updateType } from "../../calico/model/basics.ts";
import { messageNames, type SerializedUpdate } from "./messages.ts";

/** Revision: a string today; the servers of 2017 put other basic types there, which are read and never written. */
export const serializedUpdate = struct("SerializedUpdate", {
  Key: string(),
  Value: textBytes(),
  Revision: interface_(),
  V3ResourceVersion: string(),
  TTL: int({ as: "bigint" }),
  UpdateType: uint({ bits: 8 }),
});
type WireUpdate = ValueOf<typeof serializedUpdate>;

/** The same as it is read: what a snapshot holds by the hundred thousand is made once, in the form it is wanted in. */
const readUpdate = made(
  serializedUpdate,
  ["Key", "Value", "Revision", "V3ResourceVersion", "TTL", "UpdateType"],
  (values): SerializedUpdate => ({
    key: values[0],
    value: values[1] === "" ? undefined : values[1],
    revision: toRevision(values[2]),
    v3ResourceVersion: values[3],
    ttlNanos: values[4],
    updateType: isUpdateType(values[5]) ? values[5] : updateType.unknown,
  }),
);

const fromServer = {
  [messageNames.serverHello]: struct("MsgServerHello", {
    Version: string(),
    SyncerType: string(),
    SupportsNodeResourceUpdates: bool(),
    ServerConnID: uint({ as: "bigint" }),
  }),
  [messageNames.decoderRestart]: struct("MsgDecoderRestart", { Message: string(), CompressionAlgorithm: string() }),
  [messageNames.syncStatus]: struct("MsgSyncStatus", { SyncStatus: uint({ bits: 8 }) }),
  [messageNames.ping]: struct("MsgPing", { Timestamp: time() }),
  [messageNames.kvs]: struct("MsgKVs", {
    KVs: slice(serializedUpdate, { name: "[]syncproto.SerializedUpdate" }),
  }),
} as const;

const asRead = { [messageNames.kvs]: struct("MsgKVs", { KVs: slice(readUpdate) }) } as const;

const fromClient = {
  [messageNames.clientHello]: struct("MsgClientHello", {
    Hostname: string(),
    Info: string(),
    Version: string(),
    SyncerType: string(),
    SupportsDecoderRestart: bool(),
    SupportedCompressionAlgorithms: slice(string(), { name: "[]syncproto.CompressionAlgorithm" }),
    SupportsModernPolicyKeys: bool(),
    ClientConnID: uint({ as: "bigint" }),
  }),
  [messageNames.ack]: struct("MsgACK", {}),
  [messageNames.pong]: struct("MsgPong", { PingTimestamp: time(), PongTimestamp: time() }),
} as const;

/** What each end writes, and what either may read: a message that came the wrong way is read and then judged. */
export const serverEnvelope = struct("Envelope", { Message: interface_(fromServer, { basics: false }) });
export const clientEnvelope = struct("Envelope", { Message: interface_(fromClient, { basics: false }) });
export const anyEnvelope = struct("Envelope", { Message: interface_({ ...fromServer, ...fromClient, ...asRead }) });

export type ServerEnvelope = ValueOf<typeof serverEnvelope>;
export type ClientEnvelope = ValueOf<typeof clientEnvelope>;
export type AnyEnvelope = ValueOf<typeof anyEnvelope>;

// What Go's client makes of it: it prints whatever is there, and nothing prints as <nil>.
function toRevision(revision: WireUpdate["Revision"]): string {
  return revision === null ? "<nil>" : String(revision.value);
}

function isUpdateType(value: number): value is UpdateType {
  return value <= 3;
}
