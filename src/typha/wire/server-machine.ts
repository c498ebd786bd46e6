// The server's end of one conversation: bytes and clock readings in, decisions out. It opens no socket and waits for
// nothing; whoever holds the socket carries the decisions out.
//
//   hello ──▶ firstAck ──▶ snapshot ──▶ secondAck ──▶ streaming        with compression
//     └──────────────────▶ snapshot ────────────────▶ streaming        without
//
// From every state a wrong, missing or hostile message leads to closed.
import { type SyncerType, syncerTypes } from "../../calico/model/basics.ts";
import { frame } from "./frame.ts";
import { join } from "./join.ts";
import { MessageReader } from "./message-reader.ts";
import type { Agreement, ClientHello, Message, WireTime } from "./messages.ts";
import { plainStream, type ServerStream, type ServerStreams } from "./streams.ts";
import { type CloseReason, closeReason } from "./wire-error.ts";

type ServerOptions = {
  /** What the hello says of us; the connection id is for both ends' logs. */
  readonly version: string;
  readonly connectionId: bigint;
  /** What may be offered; of what a client lists, the one named first here is chosen. */
  readonly streams: ServerStreams;
  readonly preference: readonly ("zstd" | "snappy")[];
  readonly handshakeTimeoutMs: number;
  /** How long a client may take to acknowledge a restart, and to answer pings. */
  readonly pongTimeoutMs: number;
  /** The longest single message a client may send. */
  readonly maxMessageBytes: number;
};

export type ServerDecision =
  | { readonly do: "send"; readonly bytes: Uint8Array }
  /** The client has said who it is and what it wants; everything else comes after this. */
  | {
      readonly do: "greeted";
      readonly agreement: Agreement;
      readonly hello: ClientHello;
      /** What is odd about the client without being wrong, for the log. */
      readonly remarks: readonly string[];
    }
  /** Write `opening`, the snapshot packed by `stream`, `closing`; then say snapshotWritten(). */
  | {
      readonly do: "startSnapshot";
      readonly stream: ServerStream;
      readonly opening: Uint8Array;
      readonly closing: Uint8Array;
    }
  /** Write `opening`, then the status, changes and pings, for as long as the connection lives. */
  | { readonly do: "startStreaming"; readonly opening: Uint8Array }
  | { readonly do: "pong"; readonly pingTimestamp: WireTime }
  | { readonly do: "close"; readonly why: CloseReason };

type Phase =
  | { readonly at: "hello"; readonly deadlineMs: number }
  | { readonly at: "firstAck"; readonly deadlineMs: number; readonly stream: ServerStream }
  | { readonly at: "snapshot"; readonly stream: ServerStream }
  | { readonly at: "secondAck"; readonly deadlineMs: number; readonly stream: ServerStream }
  | { readonly at: "streaming"; readonly deadlineMs: number }
  | { readonly at: "closed"; readonly why: CloseReason };

type Choice = { agreement: Agreement; stream: ServerStream; remarks: string[] };

const nothing = new Uint8Array(0);

export class ServerMachine {
  readonly #options: ServerOptions;
  readonly #reader: MessageReader;
  #phase: Phase;
  // What came while a snapshot was being written, to be judged after it.
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;

  constructor(options: ServerOptions, nowMs: number) {
    this.#options = options;
    this.#reader = new MessageReader({ maxMessageBytes: options.maxMessageBytes });
    this.#phase = { at: "hello", deadlineMs: nowMs + options.handshakeTimeoutMs };
  }

  get phase(): Phase["at"] {
    return this.#phase.at;
  }

  /** The reading at which tick() must be called, at the latest; undefined while nothing is being waited for. */
  get deadlineMs(): number | undefined {
    return "deadlineMs" in this.#phase ? this.#phase.deadlineMs : undefined;
  }

  /**
   * Whether the socket should be read. While a snapshot is being written nothing is expected: what comes then is judged
   * afterwards, and as soon as there is something to judge, the client is left to the kernel's back-pressure.
   */
  get wantsInput(): boolean {
    return this.#phase.at === "snapshot" ? this.#waitingBytes === 0 : this.#phase.at !== "closed";
  }

  receive(bytes: Uint8Array, nowMs: number): ServerDecision[] {
    if (this.#phase.at === "closed") return [];
    if (this.#phase.at !== "snapshot") {
      this.#reader.feed(bytes);
      return this.#judge(nowMs);
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes <= maxWaitingBytes) return [];
    return this.#close(closeReason("WIRE_INPUT_FLOOD", `client sent ${this.#waitingBytes} bytes during its snapshot`));
  }

  /** The last byte of the snapshot was handed to the kernel. */
  snapshotWritten(nowMs: number): ServerDecision[] {
    if (this.#phase.at !== "snapshot") return [];
    const { stream } = this.#phase;
    for (const bytes of this.#waiting) this.#reader.feed(bytes);
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (stream.compression === "none") return [...this.#startStreaming(nothing, nowMs), ...this.#judge(nowMs)];
    this.#phase = { at: "secondAck", deadlineMs: nowMs + this.#options.pongTimeoutMs, stream };
    return this.#judge(nowMs);
  }

  /** Time has passed: closes when a deadline did. */
  tick(nowMs: number): ServerDecision[] {
    const phase = this.#phase;
    if (!("deadlineMs" in phase) || nowMs < phase.deadlineMs) return [];
    const { handshakeTimeoutMs, pongTimeoutMs } = this.#options;
    if (phase.at === "hello") {
      return this.#close(closeReason("WIRE_HANDSHAKE_TIMEOUT", `no hello within ${handshakeTimeoutMs} ms`));
    }
    if (phase.at === "streaming") {
      return this.#close(closeReason("WIRE_PONG_TIMEOUT", `no pong within ${pongTimeoutMs} ms`));
    }
    return this.#close(closeReason("WIRE_ACK_TIMEOUT", `decoder restart not acknowledged within ${pongTimeoutMs} ms`));
  }

  /** The client has closed its end; there is no half-open conversation. */
  end(): ServerDecision[] {
    if (this.#phase.at === "closed") return [];
    return this.#close(closeReason("WIRE_PEER_CLOSED", "client closed the connection"));
  }

  #judge(nowMs: number): ServerDecision[] {
    const decisions: ServerDecision[] = [];
    while (this.#phase.at !== "closed" && this.#phase.at !== "snapshot") {
      const read = this.#reader.next();
      if (read.is === "needMore") break;
      if (read.is === "error") decisions.push(...this.#close(read.why));
      else if (read.is === "nil") {
        decisions.push(...this.#close(closeReason("WIRE_NIL_MESSAGE", "client sent an envelope without a message")));
      } else decisions.push(...this.#take(read.message, nowMs));
    }
    return decisions;
  }

  #take(message: Message, nowMs: number): ServerDecision[] {
    const phase = this.#phase;
    switch (phase.at) {
      case "hello":
        if (message.is === "clientHello") return this.#greet(message, nowMs);
        break;
      case "firstAck":
        if (message.is === "ack") return this.#startSnapshot(phase.stream);
        break;
      case "secondAck":
        if (message.is === "ack") return this.#startStreaming(phase.stream.opening, nowMs);
        break;
      case "streaming":
        if (message.is === "pong") {
          this.#phase = { at: "streaming", deadlineMs: nowMs + this.#options.pongTimeoutMs };
          return [{ do: "pong", pingTimestamp: message.pingTimestamp }];
        }
        break;
      case "snapshot":
      case "closed":
        return [];
    }
    const wanted = { hello: "clientHello", firstAck: "ack", secondAck: "ack", streaming: "pong" }[phase.at];
    return this.#close(
      closeReason("WIRE_UNEXPECTED_MESSAGE", `client sent ${message.is}, only ${wanted} may come now`),
    );
  }

  #greet(hello: ClientHello, nowMs: number): ServerDecision[] {
    const choice = this.#choose(hello);
    if (choice === undefined) {
      const asked = JSON.stringify(hello.syncerType.slice(0, 100));
      return this.#close(
        closeReason("WIRE_UNKNOWN_SYNCER", `client asks for syncer type ${asked}, which does not exist`),
      );
    }
    const { agreement, stream, remarks } = choice;
    const { compression, syncer } = agreement;
    const greeted: ServerDecision = { do: "greeted", agreement, hello, remarks };
    const greeting = frame({
      is: "serverHello",
      version: this.#options.version,
      syncerType: syncer,
      supportsNodeResourceUpdates: true,
      serverConnId: this.#options.connectionId,
    });
    if (compression === "none") {
      const bytes = join(plainStream.opening, greeting);
      return [greeted, { do: "send", bytes }, ...this.#startSnapshot(stream)];
    }
    const restart = frame({
      is: "decoderRestart",
      message: `enable compression: ${compression};send binary snapshot`,
      compressionAlgorithm: compression,
    });
    this.#phase = { at: "firstAck", deadlineMs: nowMs + this.#options.pongTimeoutMs, stream };
    return [greeted, { do: "send", bytes: join(plainStream.opening, greeting, restart) }];
  }

  // Undefined: no such syncer.
  #choose(hello: ClientHello): Choice | undefined {
    const asked = hello.syncerType === "" ? "felix" : hello.syncerType;
    if (!isSyncerType(asked)) return undefined;
    const { streams, preference } = this.#options;
    const listed = preference.find((name) => streams.has(name) && hello.supportedCompressionAlgorithms.includes(name));
    const remarks: string[] = [];
    if (listed !== undefined && !hello.supportsDecoderRestart) {
      remarks.push(`client lists ${listed} but cannot restart its decoder: served without compression`);
    }
    const compression = hello.supportsDecoderRestart ? (listed ?? "none") : "none";
    const keys = hello.supportsModernPolicyKeys ? "modern" : "legacy";
    return {
      agreement: { syncer: asked, compression, keys },
      stream: streams.get(compression) ?? plainStream,
      remarks,
    };
  }

  #startSnapshot(stream: ServerStream): ServerDecision[] {
    this.#phase = { at: "snapshot", stream };
    // Without compression the snapshot goes on in the stream that the hello opened.
    const opening = stream.compression === "none" ? nothing : stream.opening;
    return [{ do: "startSnapshot", stream, opening, closing: stream.snapshotClosing }];
  }

  #startStreaming(opening: Uint8Array, nowMs: number): ServerDecision[] {
    this.#phase = { at: "streaming", deadlineMs: nowMs + this.#options.pongTimeoutMs };
    return [{ do: "startStreaming", opening }];
  }

  #close(why: CloseReason): ServerDecision[] {
    this.#phase = { at: "closed", why };
    return [{ do: "close", why }];
  }
}

// A well-behaved client sends nothing during its snapshot; a socket that was asked to pause hands over one read more.
const maxWaitingBytes = 131_072;

function isSyncerType(text: string): text is SyncerType {
  return (syncerTypes as readonly string[]).includes(text);
}
