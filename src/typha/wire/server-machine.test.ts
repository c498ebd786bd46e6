// Every flow of the protocol and every way to break it, as tables: what the client sends, what the server decides.
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { clientHello } from "../../../test/kit/client-hello.ts";
import { serverConversation } from "../../../test/kit/server-conversation.ts";
import type { ClientHello } from "./messages.ts";

const modern: ClientHello = { is: "clientHello", ...clientHello };

const flows: { name: string; hello: Partial<ClientHello>; agreement: object; zstd?: boolean; remarks?: number }[] = [
  { name: "a modern client", hello: {}, agreement: { syncer: "felix", compression: "snappy", keys: "modern" } },
  {
    name: "a client up to v3.31 gets legacy keys",
    hello: { supportsModernPolicyKeys: false },
    agreement: { syncer: "felix", compression: "snappy", keys: "legacy" },
  },
  {
    name: "a client without compression",
    hello: { supportedCompressionAlgorithms: [] },
    agreement: { syncer: "felix", compression: "none", keys: "modern" },
  },
  {
    name: "a client that lists snappy but cannot restart",
    hello: { supportsDecoderRestart: false },
    agreement: { syncer: "felix", compression: "none", keys: "modern" },
    remarks: 1,
  },
  {
    name: "a client from before decoder restarts",
    hello: { supportsDecoderRestart: false, supportedCompressionAlgorithms: [], supportsModernPolicyKeys: false },
    agreement: { syncer: "felix", compression: "none", keys: "legacy" },
  },
  {
    name: "no syncer type means felix",
    hello: { syncerType: "" },
    agreement: { syncer: "felix", compression: "snappy", keys: "modern" },
  },
  ...["bgp", "tunnel-ip-allocation", "node-status"].map((syncerType) => ({
    name: `syncer type ${syncerType}`,
    hello: { syncerType },
    agreement: { syncer: syncerType, compression: "snappy", keys: "modern" },
  })),
  {
    name: "unknown compressions are ignored",
    hello: { supportedCompressionAlgorithms: ["brotli", "zstd", ""] },
    agreement: { syncer: "felix", compression: "none", keys: "modern" },
  },
  {
    name: "zstd where both ends have it",
    hello: { supportedCompressionAlgorithms: ["snappy", "zstd"] },
    agreement: { syncer: "felix", compression: "zstd", keys: "modern" },
    zstd: true,
  },
  {
    name: "snappy where only that is listed, though zstd is there",
    hello: {},
    agreement: { syncer: "felix", compression: "snappy", keys: "modern" },
    zstd: true,
  },
];

for (const { name, hello, agreement, zstd = false, remarks = 0 } of flows) {
  test(`serves ${name}`, () => {
    const talk = serverConversation({ zstd });
    const isCompressed = "compression" in agreement && agreement.compression !== "none";
    deepEqual(talk.say({ ...modern, ...hello }), ["greeted", "send", ...(isCompressed ? [] : ["startSnapshot"])]);
    if (isCompressed) deepEqual(talk.say({ is: "ack" }), ["startSnapshot"]);
    deepEqual(talk.greeted?.agreement, agreement);
    equal(talk.greeted?.remarks.length, remarks);
    equal(talk.snapshot?.opening.length === 0, !isCompressed);
    equal(talk.snapshot?.closing.length === 0, !isCompressed);
    equal(talk.machine.deadlineMs, undefined, "nothing is being waited for during the snapshot");
    deepEqual(talk.snapshotWritten(), isCompressed ? [] : ["startStreaming"]);
    if (isCompressed) deepEqual(talk.say({ is: "ack" }), ["startStreaming"]);
    const pingTimestamp = { seconds: 1n, nanos: 2, offsetSeconds: "utc" as const };
    deepEqual(talk.say({ is: "pong", pingTimestamp }), ["pong"]);
    deepEqual(talk.end(), ["close WIRE_PEER_CLOSED"]);
    deepEqual(talk.say({ is: "ack" }), [], "a closed machine decides nothing");
  });
}

const pong = { is: "pong", pingTimestamp: { seconds: 1n, nanos: 2, offsetSeconds: "utc" } } as const;
type Step = Parameters<ReturnType<typeof serverConversation>["say"]>[0] | "written";
const wrongs: { name: string; steps: Step[]; ends: string }[] = [
  { name: "an ack in place of the hello", steps: [{ is: "ack" }], ends: "WIRE_UNEXPECTED_MESSAGE" },
  { name: "a pong in place of the hello", steps: [pong], ends: "WIRE_UNEXPECTED_MESSAGE" },
  { name: "no message in place of the hello", steps: ["nil"], ends: "WIRE_NIL_MESSAGE" },
  { name: "the number 42 in place of the hello", steps: ["42"], ends: "WIRE_UNEXPECTED_MESSAGE" },
  { name: "a type nobody registered", steps: ["unregistered"], ends: "WIRE_BAD_BYTES" },
  { name: "garbage", steps: ["garbage"], ends: "WIRE_BAD_BYTES" },
  { name: "a server's message", steps: ["serverHello"], ends: "WIRE_UNEXPECTED_MESSAGE" },
  { name: "an unknown syncer type", steps: [{ ...modern, syncerType: "nope" }], ends: "WIRE_UNKNOWN_SYNCER" },
  {
    name: "an object's own name as syncer type",
    steps: [{ ...modern, syncerType: "toString" }],
    ends: "WIRE_UNKNOWN_SYNCER",
  },
  { name: "a second hello for the first ack", steps: [modern, modern], ends: "WIRE_UNEXPECTED_MESSAGE" },
  { name: "a pong for the first ack", steps: [modern, pong], ends: "WIRE_UNEXPECTED_MESSAGE" },
  { name: "no message for the first ack", steps: [modern, "nil"], ends: "WIRE_NIL_MESSAGE" },
  {
    name: "a pong during the snapshot",
    steps: [modern, { is: "ack" }, pong, "written"],
    ends: "WIRE_UNEXPECTED_MESSAGE",
  },
  { name: "garbage during the snapshot", steps: [modern, { is: "ack" }, "garbage", "written"], ends: "WIRE_BAD_BYTES" },
  {
    name: "a hello for the second ack",
    steps: [modern, { is: "ack" }, "written", modern],
    ends: "WIRE_UNEXPECTED_MESSAGE",
  },
  {
    name: "an ack too many",
    steps: [modern, { is: "ack" }, "written", { is: "ack" }, { is: "ack" }],
    ends: "WIRE_UNEXPECTED_MESSAGE",
  },
  {
    name: "a hello in the stream",
    steps: [modern, { is: "ack" }, "written", { is: "ack" }, pong, modern],
    ends: "WIRE_UNEXPECTED_MESSAGE",
  },
  {
    name: "no message in the stream",
    steps: [modern, { is: "ack" }, "written", { is: "ack" }, "nil"],
    ends: "WIRE_NIL_MESSAGE",
  },
  {
    name: "an ack nobody asked for",
    steps: [{ ...modern, supportsDecoderRestart: false }, "written", { is: "ack" }],
    ends: "WIRE_UNEXPECTED_MESSAGE",
  },
];
for (const { name, steps, ends } of wrongs) {
  test(`closes on ${name}`, () => {
    const talk = serverConversation();
    const heard = steps.map((step) => (step === "written" ? talk.snapshotWritten() : talk.say(step)));
    deepEqual(heard.at(-1), [`close ${ends}`]);
    ok(heard.slice(0, -1).every((decisions) => !decisions.some((decision) => decision.startsWith("close"))));
  });
}

test("an ack that comes during the snapshot counts for the second", () => {
  const talk = serverConversation();
  talk.say(modern);
  talk.say({ is: "ack" });
  equal(talk.machine.wantsInput, true);
  deepEqual(talk.say({ is: "ack" }), []);
  equal(talk.machine.wantsInput, false, "with something to judge, the socket is left alone");
  deepEqual(talk.snapshotWritten(), ["startStreaming"]);
  equal(talk.machine.wantsInput, true);
});

test("everything a client says may come in one read", () => {
  const talk = serverConversation();
  deepEqual(talk.say(modern, { is: "ack" }, { is: "ack" }, pong), ["greeted", "send", "startSnapshot"]);
  deepEqual(talk.snapshotWritten(), ["startStreaming", "pong"]);
});

test("everything a client says may come byte by byte", () => {
  const talk = serverConversation({ bytesAtATime: 1 });
  deepEqual(talk.say(modern), ["greeted", "send"]);
  deepEqual(talk.say({ is: "ack" }), ["startSnapshot"]);
});

test("a client that floods during its snapshot is cut", () => {
  const talk = serverConversation();
  talk.say(modern, { is: "ack" });
  let decisions: string[] = [];
  for (let sent = 0; sent < 10 && decisions.length === 0; sent += 1) {
    decisions = talk.machine
      .receive(new Uint8Array(65_536), talk.nowMs)
      .map((d) => (d.do === "close" ? d.why.code : d.do));
  }
  deepEqual(decisions, ["WIRE_INPUT_FLOOD"]);
});

test("a message of more than 1 MiB is refused by its length alone", () => {
  const talk = serverConversation();
  // A frame that claims 2 MiB, of which nothing has come.
  const [decision] = talk.machine.receive(Uint8Array.of(0xfd, 0x20, 0x00, 0x00), 0);
  equal(decision?.do === "close" ? decision.why.code : decision?.do, "WIRE_MESSAGE_TOO_LONG");
});

const sizes: { name: string; infoBytes: number; decides: string[] }[] = [
  { name: "a hello of just under 1 MiB is read", infoBytes: 1_048_576 - 1000, decides: ["greeted", "send"] },
  { name: "a hello of 1 MiB and more is not", infoBytes: 1_048_576, decides: ["close WIRE_MESSAGE_TOO_LONG"] },
];
for (const { name, infoBytes, decides } of sizes) {
  test(name, () => {
    deepEqual(serverConversation({ bytesAtATime: 65_536 }).say({ ...modern, info: "i".repeat(infoBytes) }), decides);
  });
}

const timeouts: { name: string; steps: Step[]; deadlineMs: number; ends: string }[] = [
  { name: "the hello", steps: [], deadlineMs: 10_000, ends: "WIRE_HANDSHAKE_TIMEOUT" },
  { name: "the first ack", steps: [modern], deadlineMs: 60_000, ends: "WIRE_ACK_TIMEOUT" },
  { name: "the second ack", steps: [modern, { is: "ack" }, "written"], deadlineMs: 60_000, ends: "WIRE_ACK_TIMEOUT" },
  {
    name: "pongs",
    steps: [modern, { is: "ack" }, "written", { is: "ack" }],
    deadlineMs: 60_000,
    ends: "WIRE_PONG_TIMEOUT",
  },
];
for (const { name, steps, deadlineMs, ends } of timeouts) {
  test(`waits so long and no longer for ${name}`, () => {
    const talk = serverConversation();
    for (const step of steps) step === "written" ? talk.snapshotWritten() : talk.say(step);
    equal(talk.machine.deadlineMs, deadlineMs);
    deepEqual(talk.tick(deadlineMs - 1), []);
    deepEqual(talk.tick(deadlineMs), [`close ${ends}`]);
    deepEqual(talk.tick(deadlineMs + 1), []);
  });
}

test("a half-sent hello does not move its deadline", () => {
  const talk = serverConversation();
  talk.nowMs = 9_000;
  talk.machine.receive(Uint8Array.of(0x22), talk.nowMs);
  equal(talk.machine.deadlineMs, 10_000);
});

test("each pong moves the deadline", () => {
  const talk = serverConversation();
  talk.say(modern, { is: "ack" });
  talk.snapshotWritten();
  talk.say({ is: "ack" });
  talk.nowMs = 50_000;
  talk.say(pong);
  equal(talk.machine.deadlineMs, 110_000);
});
