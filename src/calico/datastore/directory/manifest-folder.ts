// What the folder's files say: every file's last good objects, which file defines each object, and what is wrong now. A file that cannot be
// read or does not parse goes on as it was when it last could be; a file that is gone is gone. Reading one file is synchronous, so that what is
// known of a file never changes between two steps of whoever asks.
import { createHash } from "node:crypto";
import { type BigIntStats, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { messageOf, writeJson } from "../../../base/lib/index.ts";
import { errnoOf } from "../../../base/linux/files.ts";
import type { Kind } from "../../kinds/index.ts";
import type { ManifestProblem } from "../manifest-problem.ts";
import { idText, metadataOf } from "../object-id.ts";
import { type Complaint, type ManifestObject, readManifests } from "./read-manifests.ts";
import { type FoundFile, type Scan, stampOf } from "./scan-folder.ts";

/** An object, where it stands, and a digest of its content. */
export type Definition = { readonly file: string; readonly object: ManifestObject; readonly hash: string };

type KnownFile = {
  readonly stamp: string;
  readonly definitions: readonly Definition[];
  readonly errors: readonly Complaint[];
  readonly notes: readonly Complaint[];
  readonly wasEverGood: boolean;
};

// Reading YAML takes about a second for each 2 MB, and nothing else happens meanwhile.
const maxFileBytes = 16 << 20;
/** A file changed so shortly before it was read may change again without another time or size: the clock of file systems ticks every 4 ms. */
const racyNs = 50_000_000n;
/** A file that was emptied so shortly ago is about to be filled. One that stays empty is met by the next look at the whole folder. */
const beingWrittenNs = 2_000_000_000n;

/** One text per object of any kind. */
export function objectKey(object: { readonly kind: Kind; readonly id: { namespace: string; name: string } }): string {
  return `${object.kind}\u0000${idText(object.id)}`;
}

/** Of the content alone: a revision that somebody wrote into a file means nothing here. */
export function hashOf(object: ManifestObject): string {
  const { resourceVersion, ...metadata } = metadataOf(object.value);
  const content = resourceVersion === undefined ? object.value : { ...object.value, metadata };
  return createHash("sha256").update(writeJson(content)).digest("hex").slice(0, 20);
}

export class ManifestFolder {
  readonly root: string;
  readonly #files = new Map<string, KnownFile>();
  /** By object, in the order of file name and place: the first is the one in use. */
  readonly #definitions = new Map<string, Definition[]>();
  readonly #troubled = new Set<string>();
  readonly #repeated = new Set<string>();
  #scanProblems: readonly ManifestProblem[] = [];

  constructor(root: string) {
    this.root = root;
  }

  /** The one in use. */
  definition(key: string): Definition | undefined {
    return this.#definitions.get(key)?.[0];
  }

  definitions(key: string): readonly Definition[] {
    return this.#definitions.get(key) ?? [];
  }

  /** Why the file is not what it looks like now: it has a problem, and what was last good is in use. */
  errorIn(file: string): Complaint | undefined {
    return this.#files.get(file)?.errors[0];
  }

  /** Reads what a scan found changed, and forgets what is gone. Which objects may be others now. */
  apply(scan: Scan): Set<string> {
    const touched = new Set<string>();
    for (const { name, stamp } of scan.files) {
      if (this.#files.get(name)?.stamp !== stamp) this.read(name, touched);
    }
    const present = new Set(scan.files.map(({ name }: FoundFile) => name));
    const isUnreadable = (file: string) =>
      scan.unreadable.some(({ name }) => file === name || file.startsWith(`${name}/`));
    for (const file of [...this.#files.keys()]) {
      // Read, not forgotten: the scan is some milliseconds old, and a file may have come since.
      if (!present.has(file) && !isUnreadable(file)) this.read(file, touched);
    }
    this.#scanProblems = scan.unreadable.map(({ name, says }) => {
      return { file: name, line: 1, column: 1, says, keepsLastGood: this.#files.has(name) };
    });
    return touched;
  }

  /** A folder that is not there now may be about to be mounted again: nobody's objects go because of it. */
  cannotBeRead(error: unknown): void {
    const says = `the folder cannot be read: ${messageOf(error)}`;
    this.#scanProblems = [{ file: "", line: 1, column: 1, says, keepsLastGood: this.#files.size > 0 }];
  }

  /** Reads one file, whatever is known of it, and adds the objects that may be others now. */
  read(file: string, touched: Set<string>): void {
    const next = this.#readNow(file);
    if (next !== "as it was") this.#put(file, next, touched);
  }

  /** Reads the file only where it is another than the known one. */
  readIfChanged(file: string, touched: Set<string>): void {
    const stats = statSync(join(this.root, file), { bigint: true, throwIfNoEntry: false });
    const known = this.#files.get(file);
    if (stats === undefined ? known !== undefined : known?.stamp !== stampOf(stats)) this.read(file, touched);
  }

  problems(): ManifestProblem[] {
    const problems = [...this.#scanProblems];
    for (const file of [...this.#troubled].sort()) {
      const known = this.#files.get(file);
      for (const error of known?.errors ?? []) {
        problems.push({ file, ...error, keepsLastGood: known?.wasEverGood ?? false });
      }
      for (const note of known?.notes ?? []) problems.push({ file, ...note, keepsLastGood: false });
    }
    for (const key of [...this.#repeated].sort()) {
      const [first, ...others] = this.definitions(key);
      for (const { file, object } of others) {
        const name = object.id.namespace === "" ? object.id.name : `${object.id.namespace}/${object.id.name}`;
        const says = `${object.kind} ${name} is already defined in ${first?.file}:${first?.object.place.line}, which is the one in use`;
        problems.push({ file, ...object.place, says, keepsLastGood: false });
      }
    }
    return problems;
  }

  #readNow(file: string): KnownFile | undefined | "as it was" {
    const path = join(this.root, file);
    const { definitions = [], wasEverGood = false } = this.#files.get(file) ?? {};
    const failed = (says: string, stamp: string): KnownFile => {
      return { definitions, wasEverGood, notes: [], stamp, errors: [{ line: 1, column: 1, says }] };
    };
    try {
      const stats = statSync(path, { bigint: true });
      const stamp = trusted(stats);
      // Many an editor and every `>` of a shell empties a file before it fills it: objects must not go for that moment.
      if (stats.size === 0n && definitions.length > 0 && isYoungerThan(beingWrittenNs, stats)) return "as it was";
      if (stats.size > maxFileBytes) return failed(`the file is larger than ${maxFileBytes >> 20} MiB`, stamp);
      const bytes = readFileSync(path);
      // Written to while we read: what we have may be half of it. The next look comes with the write's own notice.
      if (stampOf(statSync(path, { bigint: true })) !== stampOf(stats)) return "as it was";
      const text = decode(bytes);
      if (text === undefined) return failed("the file is not UTF-8", stamp);
      const { objects, errors, notes } = readManifests(text);
      if (errors.length > 0) return { definitions, wasEverGood, stamp, errors, notes };
      const read = objects.map((object) => ({ file, object, hash: hashOf(object) }));
      return { stamp, definitions: read, errors, notes, wasEverGood: true };
    } catch (error) {
      if (!["ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "")) {
        return failed(`the file cannot be read: ${messageOf(error)}`, "unread"); // tried again each time
      }
      return statSync(this.root, { throwIfNoEntry: false })?.isDirectory() ? undefined : "as it was";
    }
  }

  #put(file: string, next: KnownFile | undefined, touched: Set<string>): void {
    const before = this.#files.get(file);
    if (next === undefined) this.#files.delete(file);
    else this.#files.set(file, next);
    if (next !== undefined && next.errors.length + next.notes.length > 0) this.#troubled.add(file);
    else this.#troubled.delete(file);
    if (before?.definitions === next?.definitions) return;
    for (const { object } of before?.definitions ?? []) this.#forget(objectKey(object), file, touched);
    for (const definition of next?.definitions ?? []) this.#add(definition, touched);
  }

  #forget(key: string, file: string, touched: Set<string>): void {
    const left = this.definitions(key).filter((definition) => definition.file !== file);
    if (left.length === 0) this.#definitions.delete(key);
    else this.#definitions.set(key, left);
    if (left.length < 2) this.#repeated.delete(key);
    touched.add(key);
  }

  #add(definition: Definition, touched: Set<string>): void {
    const key = objectKey(definition.object);
    const known = this.#definitions.get(key);
    touched.add(key);
    if (known === undefined) {
      this.#definitions.set(key, [definition]);
      return;
    }
    const at = known.findIndex(({ file }) => file > definition.file);
    known.splice(at < 0 ? known.length : at, 0, definition);
    this.#repeated.add(key);
  }
}

function trusted(stats: BigIntStats): string {
  return isYoungerThan(racyNs, stats) ? "racy" : stampOf(stats);
}

function isYoungerThan(ageNs: bigint, stats: BigIntStats): boolean {
  const youngest = stats.mtimeNs > stats.ctimeNs ? stats.mtimeNs : stats.ctimeNs;
  return youngest + ageNs > BigInt(Date.now()) * 1_000_000n;
}

/** Undefined: not UTF-8. Reading on with replaced characters would serve names that nobody wrote. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
