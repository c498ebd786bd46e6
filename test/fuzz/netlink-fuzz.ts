// Bends what the kernel once sent and gives it to every decoder: a value or an error must come out, soon, and no larger than the bytes explain.
import { readFileSync } from "node:fs";
import { CattailError } from "../../src/base/lib/index.ts";
import { readAnswer, readDone } from "../../src/base/linux/netlink/kernel-answer.ts";
import { readMessages } from "../../src/base/linux/netlink/messages/message-reader.ts";
import { readNotification } from "../../src/base/linux/netlink/notifications.ts";
import { type Random, seededRandom } from "../kit/random.ts";

export type NetlinkTally = { cases: number; read: number; refused: number };

const mostBytes = 65_536;
/** Of what is read, as JSON: a flag of one bit becomes a word, a hop of eight bytes an object. */
const mostGrowth = 40;
const types = [2, 3, 16, 17, 20, 21, 24, 25, 28, 29, 32, 33];

/** Throws at the first case that breaks the rule, with the bytes as hex. */
export function fuzzNetlink(options: { seed: number; cases: number }): NetlinkTally {
  const random = seededRandom(options.seed);
  const corpus = recordedDatagrams();
  const tally: NetlinkTally = { cases: 0, read: 0, refused: 0 };
  for (; tally.cases < options.cases; tally.cases++) {
    const bytes = bend(corpus, random);
    const started = process.cpuUsage(); // a busy machine may keep us waiting for longer than any case takes
    const outcome = decode(bytes);
    const tookMs = process.cpuUsage(started).user / 1000;
    if (tookMs > 2_000) throw new Error(`${tookMs.toFixed(0)} ms for ${hexOf(bytes)}`);
    tally[outcome] += 1;
  }
  return tally;
}

function decode(bytes: Uint8Array): "read" | "refused" {
  try {
    for (const message of readMessages(bytes)) {
      const value =
        message.type === 2 ? readAnswer(message) : message.type === 3 ? readDone(message) : readNotification(message);
      const size = JSON.stringify(value)?.length ?? 0;
      if (size > 2_000 + mostGrowth * message.body.length) throw new Error(`${size} characters of ${hexOf(bytes)}`);
    }
    return "read";
  } catch (error) {
    if (error instanceof CattailError && error.code === "NETLINK_MALFORMED") return "refused";
    throw new Error(`${String(error)} for ${hexOf(bytes)}`, { cause: error });
  }
}

function recordedDatagrams(): Uint8Array[] {
  const recorded: { datagrams: string[] }[] = JSON.parse(readFileSync("test/vectors/netlink/recorded.json", "utf8"));
  return recorded.flatMap(({ datagrams }) => datagrams.map((hex) => Uint8Array.from(Buffer.from(hex, "hex"))));
}

function bend(corpus: readonly Uint8Array[], random: Random): Uint8Array {
  const any = random.below;
  const pick = (): Uint8Array => (corpus[any(corpus.length)] ?? new Uint8Array()).slice();
  let bytes = pick();
  for (let i = 1 + any(6); i > 0; i--) {
    const at = any(bytes.length);
    const way = any(8);
    if (way === 0) bytes[at] = any(256);
    else if (way === 1) bytes[at] = (bytes[at] ?? 0) ^ (1 << any(8));
    else if (way === 2) bytes = bytes.slice(0, at);
    else if (way === 3) bytes = bytes.slice(at & ~3);
    else if (way === 4) bytes = join(bytes.subarray(0, at), pick());
    else if (way === 5 && bytes.length >= 8) bytes[4] = types[any(types.length)] ?? 0;
    else if (way === 6 && at + 4 <= bytes.length) setLength(bytes, at & ~3, [0, 1, 4, 5, 0xffff, any(64)][any(6)] ?? 0);
    else if (way === 7)
      bytes = join(
        bytes,
        Uint8Array.from({ length: any(200) }, () => any(256)),
      );
    if (bytes.length > mostBytes) bytes = bytes.slice(0, mostBytes);
    // Mostly with a length that lets the bent body be reached.
    if (bytes.length >= 16 && !random.isOneIn(3)) new DataView(bytes.buffer).setUint32(0, bytes.length, true);
  }
  return bytes;
}

function setLength(bytes: Uint8Array, at: number, length: number): void {
  new DataView(bytes.buffer).setUint16(at, length, true);
}

function join(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
