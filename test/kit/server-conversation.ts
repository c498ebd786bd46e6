// A client's side of a conversation with a ServerMachine, in words: say messages, see what the machine decides.
import { zstdCompressSync } from "node:zlib";
import { encoder, interface_, struct, string as text } from "../../src/base/gob/index.ts";
import {
  type Ack,
  type ClientHello,
  clientFrame,
  clientPreamble,
  frame,
  type Pong,
  type ServerDecision,
  serverPreamble,
  serverStreams,
} from "../../src/typha/wire/index.ts";
import { serverMachine } from "./server-machine.ts";

type Said = ClientHello | Ack | Pong | "nil" | "42" | "unregistered" | "garbage" | "serverHello";
type Greeted = Extract<ServerDecision, { do: "greeted" }>;
type Snapshot = Extract<ServerDecision, { do: "startSnapshot" }>;

export function serverConversation(options: { zstd?: boolean; bytesAtATime?: number } = {}) {
  const streams = options.zstd ? serverStreams({ zstd: (plain) => zstdCompressSync(plain) }) : serverStreams();
  const machine = serverMachine({ streams });
  let isOpened = false;
  const conversation = {
    machine,
    nowMs: 0,
    greeted: undefined as Greeted | undefined,
    snapshot: undefined as Snapshot | undefined,
    /** Says these in one read (or byte by byte), and answers the decisions in short. */
    say(...said: Said[]): string[] {
      const bytes = Buffer.concat(said.map((message, index) => bytesOf(message, !isOpened && index === 0)));
      isOpened = true;
      const step = options.bytesAtATime ?? Math.max(bytes.length, 1);
      const decisions: ServerDecision[] = [];
      for (let at = 0; at < bytes.length; at += step) {
        decisions.push(...machine.receive(bytes.subarray(at, at + step), conversation.nowMs));
      }
      return conversation.note(decisions);
    },
    snapshotWritten: () => conversation.note(machine.snapshotWritten(conversation.nowMs)),
    tick: (nowMs: number) => conversation.note(machine.tick(nowMs)),
    end: () => conversation.note(machine.end()),
    note(decisions: ServerDecision[]): string[] {
      for (const decision of decisions) {
        if (decision.do === "greeted") conversation.greeted = decision;
        if (decision.do === "startSnapshot") conversation.snapshot = decision;
      }
      return decisions.map((decision) => (decision.do === "close" ? `close ${decision.why.code}` : decision.do));
    },
  };
  return conversation;
}

function bytesOf(said: Said, isFirst: boolean): Uint8Array {
  switch (said) {
    case "nil":
      // An envelope whose one field was left out.
      return Buffer.concat([isFirst ? clientPreamble : Buffer.alloc(0), Uint8Array.of(0x03, 0xff, 0x82, 0x00)]);
    case "42":
      return encoder(struct("Envelope", { Message: interface_() })).encode({ Message: { type: "int", value: 42n } });
    case "unregistered": {
      const stranger = interface_({ "example.com/stranger": struct("Stranger", { Name: text() }) });
      const value = { type: "example.com/stranger", value: { Name: "x" } } as const;
      return encoder(struct("Envelope", { Message: stranger })).encode({ Message: value });
    }
    case "garbage":
      // No gob integer begins like this; an HTTP request would be waited for, as the start of a frame of 71 bytes.
      return Buffer.alloc(100, 0xa5);
    case "serverHello": {
      const hello = { version: "", syncerType: "felix", supportsNodeResourceUpdates: true, serverConnId: 1n };
      return Buffer.concat([serverPreamble, frame({ is: "serverHello", ...hello })]);
    }
    default:
      return Buffer.concat([isFirst ? clientPreamble : Buffer.alloc(0), clientFrame(said)]);
  }
}
