// A gob stream to messages, one at a time. What cannot be read is an answer, not an exception: both machines close on it.
import { type DecoderOptions, decoder, type GobDecoder, GobError } from "../../base/gob/index.ts";
import type { SyncStatus } from "../../calico/model/basics.ts";
import { type Message, messageNames } from "./messages.ts";
import { type AnyEnvelope, anyEnvelope } from "./schema.ts";
import { type CloseReason, closeReason } from "./wire-error.ts";

type ReadMessage =
  | { readonly is: "message"; readonly message: Message }
  /** An envelope without a message. */
  | { readonly is: "nil" }
  | { readonly is: "needMore" }
  | { readonly is: "error"; readonly why: CloseReason };

const needMore: ReadMessage = { is: "needMore" };

export class MessageReader {
  readonly #decoder: GobDecoder<AnyEnvelope>;

  constructor(options: DecoderOptions & { readonly maxMessageBytes: number }) {
    this.#decoder = decoder(anyEnvelope, { messageBytes: options.maxMessageBytes }, options);
  }

  /** After an error the reader is done: no more may be fed. */
  feed(bytes: Uint8Array): void {
    this.#decoder.feed(bytes);
  }

  next(): ReadMessage {
    try {
      const read = this.#decoder.next();
      return read === undefined ? needMore : toMessage(read.value.Message);
    } catch (error) {
      if (!(error instanceof GobError)) throw error;
      const isTooLong = error.code === "GOB_LIMIT_MESSAGE";
      return { is: "error", why: closeReason(isTooLong ? "WIRE_MESSAGE_TOO_LONG" : "WIRE_BAD_BYTES", error.message) };
    }
  }

  /** What was fed behind the last message. */
  rest(): Uint8Array {
    return this.#decoder.rest();
  }
}

function toMessage(message: AnyEnvelope["Message"]): ReadMessage {
  if (message === null) return { is: "nil" };
  switch (message.type) {
    case messageNames.kvs:
      return { is: "message", message: { is: "kvs", kvs: message.value.KVs } };
    case messageNames.syncStatus: {
      const { SyncStatus: syncStatus } = message.value;
      if (isSyncStatus(syncStatus)) return { is: "message", message: { is: "syncStatus", syncStatus } };
      return { is: "error", why: closeReason("WIRE_BAD_BYTES", `there is no sync status ${syncStatus}`) };
    }
    case messageNames.ping:
      return { is: "message", message: { is: "ping", timestamp: message.value.Timestamp } };
    case messageNames.pong: {
      const { PingTimestamp: pingTimestamp, PongTimestamp: pongTimestamp } = message.value;
      return { is: "message", message: { is: "pong", pingTimestamp, pongTimestamp } };
    }
    case messageNames.ack:
      return { is: "message", message: { is: "ack" } };
    case messageNames.decoderRestart: {
      const { Message: text, CompressionAlgorithm: compressionAlgorithm } = message.value;
      return { is: "message", message: { is: "decoderRestart", message: text, compressionAlgorithm } };
    }
    case messageNames.serverHello:
      return { is: "message", message: toServerHello(message.value) };
    case messageNames.clientHello:
      return { is: "message", message: toClientHello(message.value) };
    default:
      // One of Go's basic types, which every decoder knows and no Typha sends.
      return { is: "error", why: closeReason("WIRE_UNEXPECTED_MESSAGE", `a ${message.type} in place of a message`) };
  }
}

type ValueNamed<Name extends string> = Extract<AnyEnvelope["Message"], { type: Name }>["value"];

function toServerHello(value: ValueNamed<typeof messageNames.serverHello>): Message {
  return {
    is: "serverHello",
    version: value.Version,
    syncerType: value.SyncerType,
    supportsNodeResourceUpdates: value.SupportsNodeResourceUpdates,
    serverConnId: value.ServerConnID,
  };
}

function toClientHello(value: ValueNamed<typeof messageNames.clientHello>): Message {
  return {
    is: "clientHello",
    hostname: value.Hostname,
    info: value.Info,
    version: value.Version,
    syncerType: value.SyncerType,
    supportsDecoderRestart: value.SupportsDecoderRestart,
    supportedCompressionAlgorithms: value.SupportedCompressionAlgorithms,
    supportsModernPolicyKeys: value.SupportsModernPolicyKeys,
    clientConnId: value.ClientConnID,
  };
}

function isSyncStatus(value: number): value is SyncStatus {
  return value <= 2;
}
