// The protocol's Go types as gob schemas. Field names and kinds are the protocol; the types' own names are only text.
import { bool, int, interface_, slice, string, struct, textBytes, time, uint, type ValueOf } from "../gob/index.ts";
import { messageNames } from "./messages.ts";

/** Revision: a string today; the servers of 2017 put other basic types there, which are read and never written. */
export const serializedUpdate = struct("SerializedUpdate", {
  Key: string(),
  Value: textBytes(),
  Revision: interface_(),
  V3ResourceVersion: string(),
  TTL: int({ as: "bigint" }),
  UpdateType: uint({ bits: 8 }),
});
export type WireUpdate = ValueOf<typeof serializedUpdate>;

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
export const anyEnvelope = struct("Envelope", { Message: interface_({ ...fromServer, ...fromClient }) });

export type ServerEnvelope = ValueOf<typeof serverEnvelope>;
export type ClientEnvelope = ValueOf<typeof clientEnvelope>;
export type AnyEnvelope = ValueOf<typeof anyEnvelope>;
