// Every message of the protocol, by the names and fields it has on the wire. Direction and meaning are in the comments;
// docs/reference/protocol.md has the conversation.
import type { SyncerType, SyncStatus, UpdateType } from "../../calico/model/basics.ts";

/** The path Typha had before it moved into Calico's repository; both ends must agree on it to the letter. */
export const messageNames = {
  clientHello: "github.com/projectcalico/typha/pkg/syncproto.MsgClientHello",
  serverHello: "github.com/projectcalico/typha/pkg/syncproto.MsgServerHello",
  decoderRestart: "github.com/projectcalico/typha/pkg/syncproto.MsgDecoderRestart",
  ack: "github.com/projectcalico/typha/pkg/syncproto.MsgACK",
  syncStatus: "github.com/projectcalico/typha/pkg/syncproto.MsgSyncStatus",
  ping: "github.com/projectcalico/typha/pkg/syncproto.MsgPing",
  pong: "github.com/projectcalico/typha/pkg/syncproto.MsgPong",
  kvs: "github.com/projectcalico/typha/pkg/syncproto.MsgKVs",
} as const;

/** "none" is the empty string on the wire. */
export type Compression = "none" | "snappy" | "zstd";

/** A Go time.Time: an instant to the nanosecond, and its zone, which means nothing here. */
export type WireTime = { seconds: bigint; nanos: number; offsetSeconds: number | "utc" };

/** Client to server, first and once. Fields that an old client does not send arrive as "" and false. */
export type ClientHello = {
  readonly is: "clientHello";
  readonly hostname: string;
  readonly info: string;
  readonly version: string;
  /** As the client wrote it: may be empty (felix is meant) or unknown. */
  readonly syncerType: string;
  readonly supportsDecoderRestart: boolean;
  readonly supportedCompressionAlgorithms: readonly string[];
  readonly supportsModernPolicyKeys: boolean;
  readonly clientConnId: bigint;
};

/** Server to client, first and once. */
export type ServerHello = {
  readonly is: "serverHello";
  readonly version: string;
  readonly syncerType: string;
  readonly supportsNodeResourceUpdates: boolean;
  readonly serverConnId: bigint;
};

/** Server to client: what follows is a new gob stream, in a new compressed stream where an algorithm is named. */
export type DecoderRestart = {
  readonly is: "decoderRestart";
  readonly message: string;
  readonly compressionAlgorithm: string;
};

/** Client to server: the answer to each decoder restart. */
export type Ack = { readonly is: "ack" };

/** Server to client. */
export type SyncStatusMessage = { readonly is: "syncStatus"; readonly syncStatus: SyncStatus };

/** Server to client. */
export type Ping = { readonly is: "ping"; readonly timestamp: WireTime };

/** Client to server. Go's client never sets pongTimestamp. */
export type Pong = { readonly is: "pong"; readonly pingTimestamp: WireTime; readonly pongTimestamp?: WireTime };

/** Server to client. */
type Kvs = { readonly is: "kvs"; readonly kvs: readonly SerializedUpdate[] };

export type Message = ClientHello | ServerHello | DecoderRestart | Ack | SyncStatusMessage | Ping | Pong | Kvs;

/** One key/value as it travels. No value and an empty value are the same on the wire. */
export type SerializedUpdate = {
  readonly key: string;
  /** Undefined: deleted, or invalid; `updateType` tells. */
  readonly value: string | undefined;
  readonly revision: string;
  readonly v3ResourceVersion: string;
  readonly ttlNanos: bigint;
  readonly updateType: UpdateType;
};

/** What a server and a client settled on in their hellos. */
export type Agreement = {
  readonly syncer: SyncerType;
  readonly compression: Compression;
  /** Which form of policy keys the client understands: clients up to v3.31 know only the legacy one. */
  readonly keys: "modern" | "legacy";
};
