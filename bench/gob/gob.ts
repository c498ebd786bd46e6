// How much processor time does gob take next to Go's encoding/gob? One message of 100 updates with 700-byte values, as a server sends it,
// encoded and decoded by both in the same run, in turns so that both meet the same machine.
//   npm run bench:gob [-- --rounds N]
import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { decoder, encoder, raw, type ValueOf } from "../../src/base/gob/index.ts";
import { goPeer } from "../../test/kit/go.ts";
import { record } from "../../test/kit/record.ts";
import { envelopeOf, Update } from "./message.ts";

type Figures = { encodeNs: number; decodeNs: number; messageBytes: number };

const { values: args } = parseArgs({ options: { rounds: { type: "string" } } });
const rounds = Number(args.rounds ?? 5);
const roundMs = 500;
const windowMs = 50;

const Plain = envelopeOf(Update);
const Spliced = envelopeOf(raw(Update));
const updates = Array.from({ length: 100 }, (_, i): ValueOf<typeof Update> => {
  const number = String(i).padStart(5, "0");
  return {
    Key: `/calico/v1/host/node-${number}/workload/kubernetes/default%2fpod-${number}/endpoint/eth0`,
    Value: new TextEncoder().encode("0123456789".repeat(70)),
    Revision: { type: "string", value: String(1_000_000 + i) },
    ResourceVersion: String(1_000_000 + i),
    TTL: 0n,
    Type: 1,
  };
});

const plain = encoder(Plain);
const spliced = encoder(Spliced);
const message = { Message: { type: "example.com/msg.Updates", value: { KVs: updates } } } as const;
const pieces = updates.map((update) => spliced.element(Update, update));
const piecesMessage = { Message: { type: "example.com/msg.Updates", value: { KVs: pieces } } } as const;
const bytes = plain.message(message);
const reader = decoder(Plain);
reader.push(plain.preamble());

const ours: (Figures & { spliceNs: number; ownedNs: number })[] = [];
const go: Figures[] = [];
const peer = await goPeer("test/vectors/make/gob");
for (let round = 0; round <= rounds; round++) {
  const figures = {
    encodeNs: nsPerCall(() => plain.borrowMessage(message)),
    ownedNs: nsPerCall(() => plain.message(message)),
    spliceNs: nsPerCall(() => spliced.borrowMessage(piecesMessage)),
    decodeNs: nsPerCall(() => reader.push(bytes)),
    messageBytes: bytes.length,
  };
  // The first round warms up.
  if (round > 0) ours.push(figures);
  if (round > 0 && peer.path !== undefined) {
    go.push(JSON.parse(execFileSync(peer.path, ["bench", String(roundMs)], { encoding: "utf8" })));
  }
}

const result = {
  messageBytes: bytes.length,
  ours: {
    encodeNs: best(ours, "encodeNs"),
    ownedNs: best(ours, "ownedNs"),
    spliceNs: best(ours, "spliceNs"),
    decodeNs: best(ours, "decodeNs"),
  },
  go: peer.path === undefined ? undefined : { encodeNs: best(go, "encodeNs"), decodeNs: best(go, "decodeNs") },
};
const us = (ns: number): string => `${(ns / 1000).toFixed(1)} µs`;
console.log(`message of 100 updates with 700-byte values, ${result.messageBytes} bytes, best of ${rounds} rounds`);
console.log(`encode            ours ${us(result.ours.encodeNs)}  (into a buffer that is used again, as Go's is)`);
console.log(`encode, to keep   ours ${us(result.ours.ownedNs)}`);
console.log(
  `encode, pieces    ours ${us(result.ours.spliceNs)}  (updates encoded once before, spliced into a message)`,
);
console.log(`decode            ours ${us(result.ours.decodeNs)}`);
if (result.go === undefined) console.log(`Go: not measured, ${peer.missing}`);
else {
  console.log(`Go                encode ${us(result.go.encodeNs)}, decode ${us(result.go.decodeNs)}`);
  console.log(
    `ours / Go         encode ${ratio(result.ours.encodeNs, result.go.encodeNs)}, pieces ${ratio(result.ours.spliceNs, result.go.encodeNs)}, decode ${ratio(result.ours.decodeNs, result.go.decodeNs)}  (below 1.00 is faster than Go)`,
  );
}
const { messageBytes, go: theirs } = result;
record({
  of: "100 updates",
  figures: { messageBytes, ours: result.ours, ...(theirs === undefined ? {} : { go: theirs }) },
});

/** Processor time, garbage collection included: the best of many short windows, as bench.go takes it. */
function nsPerCall(work: () => unknown): number {
  let bestNs = Number.POSITIVE_INFINITY;
  for (let spentMs = 0; spentMs < roundMs; ) {
    let calls = 0;
    let usedMs = 0;
    const start = process.cpuUsage();
    while (usedMs < windowMs) {
      for (let i = 0; i < 10; i++) work();
      calls += 10;
      const { user, system } = process.cpuUsage(start);
      usedMs = (user + system) / 1000;
    }
    spentMs += usedMs;
    bestNs = Math.min(bestNs, (usedMs * 1e6) / calls);
  }
  return bestNs;
}

function best<K extends string>(list: readonly Record<K, number>[], key: K): number {
  return Math.min(...list.map((figures) => figures[key]));
}

function ratio(ours: number, theirs: number): string {
  return (ours / theirs).toFixed(2);
}
