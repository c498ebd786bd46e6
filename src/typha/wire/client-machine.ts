// The client's end of one conversation: bytes and clock readings in, events out. Opens no socket and waits for nothing.
//
//   receive(bytes) ─▶ inflater (none, snappy, zstd) ─▶ gob messages ─▶ events
//                         ▲ made anew at every decoder restart, and so is the gob decoder behind it

import type { DecoderOptions } from "../../base/gob/index.ts";
import type { SyncStatus } from "../../calico/model/basics.ts";
import { clientFrame, clientPreamble } from "./frame.ts";
import { type Inflater, makeInflater, type ZstdDecompress } from "./inflater.ts";
import { join } from "./join.ts";
import { MessageReader } from "./message-reader.ts";
import type { ClientHello, DecoderRestart, Message, SerializedUpdate, ServerHello } from "./messages.ts";
import { type CloseReason, closeReason } from "./wire-error.ts";

export type ClientOptions = DecoderOptions & {
  /** Sent as it is. Listing zstd needs the decompressor below. */
  readonly hello: Omit<ClientHello, "is">;
  readonly zstdDecompress?: ZstdDecompress;
  /** The longest time between two messages. Servers ping every ten seconds. */
  readonly readTimeoutMs?: number;
  /** The longest single message a server may send; a snapshot's hold 1000 keys with their values. */
  readonly maxMessageBytes?: number;
};

export type ClientEvent =
  /** Bytes for the server. */
  | { readonly is: "send"; readonly bytes: Uint8Array }
  | { readonly is: "hello"; readonly hello: ServerHello }
  | { readonly is: "restart"; readonly restart: DecoderRestart }
  | { readonly is: "updates"; readonly updates: readonly SerializedUpdate[] }
  | { readonly is: "status"; readonly status: SyncStatus }
  /** The conversation is over; close the socket. */
  | { readonly is: "close"; readonly why: CloseReason };

const defaults = { readTimeoutMs: 30_000, maxMessageBytes: 64 * 1024 * 1024 };
const ackBytes = clientFrame({ is: "ack" });

export class ClientMachine {
  readonly #options: ClientOptions & typeof defaults;
  #inflater: Inflater;
  #reader: MessageReader;
  #phase: "hello" | "following" | "closed" = "hello";
  #deadlineMs: number;

  constructor(options: ClientOptions, nowMs: number) {
    this.#options = { ...defaults, ...options };
    this.#deadlineMs = nowMs + this.#options.readTimeoutMs;
    this.#inflater = makeInflater("none");
    this.#reader = this.#newReader();
  }

  /** The first bytes for the server. */
  opening(): Uint8Array {
    return join(clientPreamble, clientFrame({ is: "clientHello", ...this.#options.hello }));
  }

  /** The reading at which tick() must be called, at the latest. */
  get deadlineMs(): number | undefined {
    return this.#phase === "closed" ? undefined : this.#deadlineMs;
  }

  /** Nothing is kept of the bytes' memory. */
  receive(bytes: Uint8Array, nowMs: number): ClientEvent[] {
    const events: ClientEvent[] = [];
    let input: Uint8Array | undefined = bytes;
    // Once per stream: a restart leaves the rest of the input to the stream after it.
    while (input !== undefined && this.#phase !== "closed") input = this.#readStream(input, nowMs, events);
    return events;
  }

  tick(nowMs: number): ClientEvent[] {
    if (this.#phase === "closed" || nowMs < this.#deadlineMs) return [];
    return [this.#close("WIRE_READ_TIMEOUT", `no whole message from the server for ${this.#options.readTimeoutMs} ms`)];
  }

  /** The server has closed its end. */
  end(): ClientEvent[] {
    if (this.#phase === "closed") return [];
    const when = this.#phase === "hello" ? " before its hello" : "";
    return [this.#close("WIRE_PEER_CLOSED", `server closed the connection${when}`)];
  }

  // Answers what is left of the input when the stream ends in the middle of it.
  #readStream(input: Uint8Array, nowMs: number, events: ClientEvent[]): Uint8Array | undefined {
    const inflater = this.#inflater;
    inflater.feed(input);
    for (;;) {
      const inflated = inflater.next();
      if (inflated.is === "needMore") return undefined;
      if (inflated.is === "error") {
        events.push(this.#closed(inflated.why));
        return undefined;
      }
      this.#reader.feed(inflated.bytes);
      const restart = this.#readMessages(nowMs, events);
      if (restart !== undefined) return this.#restart(restart, events);
      if (this.#phase === "closed") return undefined;
    }
  }

  #readMessages(nowMs: number, events: ClientEvent[]): DecoderRestart | undefined {
    while (this.#phase !== "closed") {
      const read = this.#reader.next();
      if (read.is === "needMore") return undefined;
      if (read.is === "error") {
        events.push(this.#closed(read.why));
        return undefined;
      }
      this.#deadlineMs = nowMs + this.#options.readTimeoutMs;
      if (read.is === "nil") {
        // Go's client ignores these too, but for the first message, which must be the hello.
        if (this.#phase === "hello") events.push(this.#close("WIRE_NIL_MESSAGE", "server opened without a hello"));
      } else if (read.message.is === "decoderRestart" && this.#phase === "following") return read.message;
      else events.push(...this.#take(read.message));
    }
    return undefined;
  }

  #take(message: Message): ClientEvent[] {
    if (this.#phase === "hello") {
      if (message.is === "serverHello") return [this.#greet(message)];
      return [this.#close("WIRE_UNEXPECTED_MESSAGE", `server opened with ${message.is}, not with its hello`)];
    }
    switch (message.is) {
      case "kvs":
        return [{ is: "updates", updates: message.kvs }];
      case "syncStatus":
        return [{ is: "status", status: message.syncStatus }];
      case "ping":
        return [{ is: "send", bytes: clientFrame({ is: "pong", pingTimestamp: message.timestamp }) }];
      case "serverHello":
        return [this.#close("WIRE_UNEXPECTED_MESSAGE", "server sent a second hello")];
      default:
        // What only a client should send is harmless here, and Go's client lets it pass.
        return [];
    }
  }

  #greet(hello: ServerHello): ClientEvent {
    const asked = this.#options.hello.syncerType || "felix";
    const answered = hello.syncerType || "felix";
    if (answered !== asked) {
      return this.#close(
        "WIRE_SYNCER_MISMATCH",
        `asked for syncer ${asked}, server answered ${answered.slice(0, 100)}`,
      );
    }
    if (!hello.supportsNodeResourceUpdates) {
      return this.#close("WIRE_OLD_SERVER", "server does not support node resource updates: it is older than v3.9");
    }
    this.#phase = "following";
    return { is: "hello", hello };
  }

  #restart(restart: DecoderRestart, events: ClientEvent[]): Uint8Array | undefined {
    const { hello } = this.#options;
    const algorithm = restart.compressionAlgorithm;
    const isListed = algorithm === "" || hello.supportedCompressionAlgorithms.includes(algorithm);
    const inflater = isListed ? makeInflater(algorithm, this.#options.zstdDecompress) : undefined;
    if (!hello.supportsDecoderRestart || inflater === undefined) {
      const how = algorithm === "" ? "" : ` with compression ${JSON.stringify(algorithm.slice(0, 100))}`;
      events.push(this.#close("WIRE_BAD_RESTART", `server restarts the decoder${how}, which was not offered`));
      return undefined;
    }
    const behind = this.#reader.rest();
    if (behind.length > 0 && this.#inflater.compression !== "none") {
      events.push(this.#close("WIRE_BAD_RESTART", "server put bytes behind a decoder restart into the same chunk"));
      return undefined;
    }
    // Nothing should follow before the acknowledgement; what does anyway belongs to the new stream.
    const rest = this.#inflater.compression === "none" ? behind : this.#inflater.rest();
    this.#inflater = inflater;
    this.#reader = this.#newReader();
    events.push({ is: "restart", restart }, { is: "send", bytes: ackBytes });
    return rest.length === 0 ? undefined : rest;
  }

  #newReader(): MessageReader {
    return new MessageReader(this.#options);
  }

  #close(code: CloseReason["code"], problem: string): ClientEvent {
    return this.#closed(closeReason(code, problem));
  }

  #closed(why: CloseReason): ClientEvent {
    this.#phase = "closed";
    return { is: "close", why };
  }
}
