// Talks to Go's decoder (`oracle` in test/vectors/make/gob): batches of streams in, what Go made of each out.
import { type ChildProcessByStdio, execFileSync, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { gobTypes } from "../kit/gob-types.ts";

export type Case = { type: number; stream: Uint8Array };
export type Verdict = { ends: "end" | "error" | "ambiguous" | "panic"; text: string };

export const typeNames = [...gobTypes.keys()];
const ends = ["end", "error", "ambiguous", "panic"] as const;
// The zone of the machine must not show in what Go decodes.
const env = { ...process.env, TZ: "UTC" };

export class Oracle implements Disposable {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #chunks: AsyncIterator<Buffer>;
  #pending = Buffer.alloc(0);

  constructor(path: string, options: { verbose?: boolean } = {}) {
    const args = options.verbose ? ["oracle", "-v"] : ["oracle"];
    this.#process = spawn(path, args, { stdio: ["pipe", "pipe", "inherit"], env });
    this.#chunks = this.#process.stdout[Symbol.asyncIterator]();
  }

  /** Sends a batch; the promise is for Go's verdicts, in the same order. One batch at a time. */
  async judge(cases: readonly Case[]): Promise<Verdict[]> {
    const batch = Buffer.alloc(4 + cases.reduce((sum, { stream }) => sum + 5 + stream.length, 0));
    let at = batch.writeUInt32BE(cases.length);
    for (const { type, stream } of cases) {
      at = batch.writeUInt8(type, at);
      at = batch.writeUInt32BE(stream.length, at);
      batch.set(stream, at);
      at += stream.length;
    }
    this.#process.stdin.write(batch);
    const verdicts: Verdict[] = [];
    while (verdicts.length < cases.length) {
      const head = await this.#take(5);
      const text = await this.#take(head.readUInt32BE(1));
      verdicts.push({ ends: ends[head.readUInt8(0)] ?? "panic", text: text.toString("utf8") });
    }
    return verdicts;
  }

  async #take(count: number): Promise<Buffer> {
    while (this.#pending.length < count) {
      const { value, done } = await this.#chunks.next();
      if (done) throw new Error(`Go's decoder stopped (exit code ${this.#process.exitCode})`);
      this.#pending = Buffer.concat([this.#pending, value]);
    }
    const taken = this.#pending.subarray(0, count);
    this.#pending = this.#pending.subarray(count);
    return taken;
  }

  [Symbol.dispose](): void {
    this.#process.stdin.end();
    this.#process.kill();
  }
}

/** Random streams of Go's own encoder. */
export function goCorpus(path: string, seed: number, count: number): Case[] {
  const bytes = execFileSync(path, ["corpus", String(seed), String(count)], { env, maxBuffer: 1 << 28 });
  const cases: Case[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at + 1);
    cases.push({ type: bytes.readUInt8(at), stream: new Uint8Array(bytes.subarray(at + 5, at + 5 + length)) });
    at += 5 + length;
  }
  return cases;
}
