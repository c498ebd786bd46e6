// Messages to gob bytes. Every stream of ours opens with a preamble of all type definitions, so that each message after
// it is free of encoder state: made once, the same bytes for everyone. docs/decisions/0004-canonical-preamble.md.
import { encoder, zeroTime } from "../../base/gob/index.ts";
import {
  type Ack,
  type ClientHello,
  type DecoderRestart,
  messageNames,
  type Ping,
  type Pong,
  type ServerHello,
  type SyncStatusMessage,
} from "./messages.ts";
import { type ClientEnvelope, clientEnvelope, type ServerEnvelope, serverEnvelope } from "./schema.ts";
import { uintSize } from "./uint.ts";

const serverEncoder = encoder(serverEnvelope);
const clientEncoder = encoder(clientEnvelope);

/** The type definitions of everything a server says, for the start of each gob stream. Shared: not to be written to. */
export const serverPreamble: Uint8Array = serverEncoder.preamble();
/** The same for clients. */
export const clientPreamble: Uint8Array = clientEncoder.preamble();

/** What stands before the byte count of every MsgKVs: the envelope's type, the message's name and its type. */
export const kvsHead: Uint8Array = headOfKvs();

/** One message of a server's stream. For MsgKVs see kvsMessage(), which takes ready-made pieces. */
export function frame(message: ServerHello | DecoderRestart | SyncStatusMessage | Ping): Uint8Array {
  return serverEncoder.message({ Message: toServerValue(message) });
}

/** One message of a client's stream. */
export function clientFrame(message: ClientHello | Ack | Pong): Uint8Array {
  return clientEncoder.message({ Message: toClientValue(message) });
}

function toServerValue(message: ServerHello | DecoderRestart | SyncStatusMessage | Ping): ServerEnvelope["Message"] {
  switch (message.is) {
    case "serverHello":
      return {
        type: messageNames.serverHello,
        value: {
          Version: message.version,
          SyncerType: message.syncerType,
          SupportsNodeResourceUpdates: message.supportsNodeResourceUpdates,
          ServerConnID: message.serverConnId,
        },
      };
    case "decoderRestart":
      return {
        type: messageNames.decoderRestart,
        value: { Message: message.message, CompressionAlgorithm: message.compressionAlgorithm },
      };
    case "syncStatus":
      return { type: messageNames.syncStatus, value: { SyncStatus: message.syncStatus } };
    case "ping":
      return { type: messageNames.ping, value: { Timestamp: message.timestamp } };
  }
}

function toClientValue(message: ClientHello | Ack | Pong): ClientEnvelope["Message"] {
  switch (message.is) {
    case "clientHello":
      return {
        type: messageNames.clientHello,
        value: {
          Hostname: message.hostname,
          Info: message.info,
          Version: message.version,
          SyncerType: message.syncerType,
          SupportsDecoderRestart: message.supportsDecoderRestart,
          SupportedCompressionAlgorithms: [...message.supportedCompressionAlgorithms],
          SupportsModernPolicyKeys: message.supportsModernPolicyKeys,
          ClientConnID: message.clientConnId,
        },
      };
    case "ack":
      return { type: messageNames.ack, value: {} };
    case "pong":
      return {
        type: messageNames.pong,
        value: { PingTimestamp: message.pingTimestamp, PongTimestamp: message.pongTimestamp ?? zeroTime },
      };
  }
}

// An empty MsgKVs is: length | head | 01 (its byte count) | 00 | 00.
function headOfKvs(): Uint8Array {
  const empty = serverEncoder.message({ Message: { type: messageNames.kvs, value: { KVs: [] } } });
  return empty.slice(uintSize(empty.length - 1), empty.length - 3);
}
