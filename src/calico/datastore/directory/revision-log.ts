// Which revision each object has: a file that every process on the folder shares, so that a revision means the same to all of them and after a restart.
// docs/decisions/0021-revisions-of-a-folder.md argues why it is sound.
//
//   .cattail/revisions:   cattail revisions 1 1794729939941964            the form, and a revision that all of the file is younger than
//                         1794729940012003 9f86d081884c7d65 ["Tier","","default","tiers/default.yaml"]
//                         1794729951117421 - ["Tier","","old","tiers/old.yaml"]                 deleted
//
// The files are the truth and this is the memory of them: a line says "this content was seen, and was given this number". A number is the time in
// microseconds, or one more than the last where the clock has not moved, so that it is never given twice: not after the file is lost, not after
// the power was. Lines are added under the folder's lock; reading needs no lock. A last line without an end was cut by a killed writer and does not count.
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { type Clock, parseJson } from "../../../base/lib/index.ts";
import { errnoOf } from "../../../base/linux/files.ts";

export type Recorded = {
  readonly revision: bigint;
  /** Of the object's content; undefined: the object was deleted. */
  readonly hash: string | undefined;
  readonly file: string;
};
export type Entry = Recorded & { readonly key: string };

const header = "cattail revisions 1";
/** A log with so many lines more than objects is written anew, with the objects alone. */
const mostSpareLines = 10_000;

export class RevisionLog {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #latest = new Map<string, Recorded>();
  #open: { readonly fd: number; readonly identity: string } | undefined;
  #offset = 0;
  #lines = 0;
  #highest = 0n;
  #isBroken = false;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /** The objects that exist, as they were last recorded. */
  get(key: string): Recorded | undefined {
    return this.#latest.get(key);
  }

  keys(): Iterable<string> {
    return this.#latest.keys();
  }

  /** Larger than every other, here and in the file as far as it was read. */
  nextRevision(): bigint {
    const now = BigInt(Math.floor(this.#clock.wallMs() * 1000));
    this.#highest = now > this.#highest ? now : this.#highest + 1n;
    return this.#highest;
  }

  /** Reads what was added since the last time: the last entry of each object, deletions included. */
  read(): Map<string, Entry> {
    const stats = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
    if (stats === undefined) {
      this.close(); // somebody removed it: what is known stays known, and is written down with the next entry
      return new Map();
    }
    const identity = `${stats.dev}:${stats.ino}`;
    if (this.#open?.identity !== identity || Number(stats.size) < this.#offset) return this.#readWhole();
    return this.#readTail(Number(stats.size));
  }

  /** Only under the lock, and after read(). Throws where the disk does not take it; then nothing was added. */
  append(entries: readonly Entry[]): void {
    if (entries.length === 0) return;
    if (this.#open === undefined || this.#isBroken || this.#lines > 2 * this.#latest.size + mostSpareLines) {
      this.#rewrite(entries);
      return;
    }
    const { fd } = this.#open;
    const bytes = Buffer.from(entries.map(lineOf).join(""));
    ftruncateSync(fd, this.#offset);
    try {
      writeAll(fd, bytes, this.#offset);
    } catch (error) {
      ftruncateSync(fd, this.#offset);
      throw error;
    }
    this.#offset += bytes.length;
    this.remember(entries);
  }

  /** Where nothing can be written, what was seen has a revision in this process alone. */
  remember(entries: readonly Entry[]): void {
    for (const entry of entries) this.#take(entry);
  }

  close(): void {
    if (this.#open !== undefined) closeSync(this.#open.fd);
    this.#open = undefined;
    this.#offset = 0;
  }

  #take(entry: Entry): void {
    this.#lines += 1;
    if (entry.hash === undefined) this.#latest.delete(entry.key);
    else this.#latest.set(entry.key, { revision: entry.revision, hash: entry.hash, file: entry.file });
    if (entry.revision > this.#highest) this.#highest = entry.revision;
  }

  // Another file has taken the log's place: every object known before it is looked at again.
  #readWhole(): Map<string, Entry> {
    const before = new Map(this.#latest);
    this.close();
    this.#latest.clear();
    this.#lines = 0;
    this.#isBroken = false;
    const fd = openForBoth(this.#path);
    const stats = fstatSync(fd, { bigint: true });
    this.#open = { fd, identity: `${stats.dev}:${stats.ino}` };
    const entries = this.#readTail(Number(stats.size));
    for (const [key, { file }] of before) {
      if (!entries.has(key)) entries.set(key, { key, revision: this.#highest, hash: undefined, file });
    }
    return entries;
  }

  #readTail(size: number): Map<string, Entry> {
    const entries = new Map<string, Entry>();
    if (this.#open === undefined || size <= this.#offset) return entries;
    const bytes = Buffer.alloc(size - this.#offset);
    const read = readSync(this.#open.fd, bytes, 0, bytes.length, this.#offset);
    const end = bytes.subarray(0, read).lastIndexOf(0x0a) + 1;
    const lines = bytes.toString("utf8", 0, end).split("\n").slice(0, -1);
    for (const line of lines) {
      const entry = this.#offset === 0 && line === lines[0] ? headerOf(line) : entryOf(line);
      if (entry === undefined) this.#isBroken = true;
      else if (typeof entry === "bigint") this.#highest = entry > this.#highest ? entry : this.#highest;
      else {
        this.#take(entry);
        entries.set(entry.key, entry);
      }
    }
    this.#offset += end;
    return entries;
  }

  #rewrite(entries: readonly Entry[]): void {
    const all = new Map(this.#latest);
    for (const entry of entries) {
      if (entry.hash === undefined) all.delete(entry.key);
      else all.set(entry.key, entry);
    }
    const last = entries.reduce((most, { revision }) => (revision > most ? revision : most), this.#highest);
    const live = [...all].map(([key, recorded]) => ({ key, ...recorded }));
    const text = `${header} ${last}\n${live.map(lineOf).join("")}`;
    const fresh = `${this.#path}.new`;
    writeFileSync(fresh, text, { mode: 0o644 });
    renameSync(fresh, this.#path);
    this.remember(entries);
    this.#readWhole();
  }
}

function lineOf({ key, revision, hash, file }: Entry): string {
  return `${revision} ${hash ?? "-"} ${JSON.stringify([...key.split("\u0000"), file])}\n`;
}

function entryOf(line: string): Entry | undefined {
  const match = /^(\d{1,19}) ([0-9a-f]{16,64}|-) (\[.*\])$/.exec(line);
  if (match === null) return undefined;
  try {
    const [kind, namespace, name, file] = parseJson(match[3] ?? "") as unknown[];
    if (![kind, namespace, name, file].every((part) => typeof part === "string")) return undefined;
    const hash = match[2] === "-" ? undefined : match[2];
    const key = [kind, namespace, name].join("\u0000");
    return { key, revision: BigInt(match[1] ?? ""), hash, file: String(file) };
  } catch {
    return undefined;
  }
}

function headerOf(line: string): bigint | undefined {
  const digits = new RegExp(`^${header} (\\d{1,19})$`).exec(line)?.[1];
  return digits === undefined ? undefined : BigInt(digits);
}

function writeAll(fd: number, bytes: Buffer, position: number): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, position + done);
}

function openForBoth(path: string): number {
  try {
    return openSync(path, "r+");
  } catch (error) {
    if (!["EACCES", "EROFS", "EPERM"].includes(errnoOf(error) ?? "")) throw error;
    return openSync(path, "r");
  }
}
