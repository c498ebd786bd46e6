// The folder as this process knows it: what the files say, which revision each object has, and the objects as readers are given them. Everything
// here is synchronous: between two steps of anybody else it is consistent.
//
//   files say hash h ── log says h at revision r ──▶ settled: readers are given the object at r
//                    └─ log says another ──▶ unsettled: somebody edited the file, or a writer is between its rename and its line in the log
//
// What stays unsettled is recorded under the lock, with a new revision. Revisions only ever grow: an object whose content comes back after others have
// moved on gets a new one (docs/decisions/0021-revisions-of-a-folder.md).
import type { Kind } from "../../kinds/index.ts";
import type { ObjectId } from "../datastore.ts";
import type { MemoryDatastore } from "../memory/memory-datastore.ts";
import { fileNameOf } from "./file-names.ts";
import { filledIn } from "./filled-in.ts";
import { type Definition, hashOf, type ManifestFolder, objectKey } from "./manifest-folder.ts";
import type { ManifestObject } from "./read-manifests.ts";
import type { Entry, RevisionLog } from "./revision-log.ts";

/** An object that this process holds beside a folder it may not write to, until the file it stands in for changes. */
type StandIn = { readonly definition: Definition; readonly insteadOf: string | undefined };

export class FolderState {
  readonly folder: ManifestFolder;
  readonly revisions: RevisionLog;
  readonly memory: MemoryDatastore;
  /** The revision at which memory holds each object. */
  readonly #given = new Map<string, bigint>();
  readonly #unsettled = new Set<string>();
  readonly #standIns = new Map<string, StandIn>();

  constructor(parts: { folder: ManifestFolder; revisions: RevisionLog; memory: MemoryDatastore }) {
    this.folder = parts.folder;
    this.revisions = parts.revisions;
    this.memory = parts.memory;
  }

  get isSettled(): boolean {
    return this.#unsettled.size === 0;
  }

  definition(key: string): Definition | undefined {
    const inFiles = this.folder.definition(key);
    const standIn = this.#standIns.get(key);
    if (standIn === undefined) return inFiles;
    if (standIn.insteadOf === inFiles?.hash) return standIn.definition;
    this.#standIns.delete(key);
    return inFiles;
  }

  standIn(object: ManifestObject): void {
    const key = objectKey(object);
    const definition = { file: "", object, hash: hashOf(object) };
    this.#standIns.set(key, { definition, insteadOf: this.folder.definition(key)?.hash });
    this.settle([key]);
  }

  /** Takes in what other processes recorded, and reads the files they wrote. */
  readLog(): void {
    const entries = this.revisions.read();
    if (entries.size === 0) return;
    const touched = new Set(entries.keys());
    for (const { key, file, hash } of entries.values()) {
      const known = this.folder.definition(key);
      if (known?.hash === hash) continue;
      this.folder.read(file, touched);
      if (known !== undefined && known.file !== file) this.folder.readIfChanged(known.file, touched);
    }
    this.settle(touched, entries);
  }

  /** Makes sure that this object is as its files are now, whether anybody was told of a change or not. */
  lookAt(kind: Kind, id: ObjectId): void {
    this.readLog();
    const key = objectKey({ kind, id });
    const recorded = this.revisions.get(key)?.file ?? "";
    const files = new Set(this.folder.definitions(key).map(({ file }) => file)).add(fileNameOf(kind, id));
    // A look at the whole folder may have read its file a moment ago, and not have settled what it found: the object itself is
    // always settled here, and the file looked at that it was last seen in.
    const touched = new Set([key]);
    for (const file of recorded === "" ? files : files.add(recorded)) this.folder.readIfChanged(file, touched);
    this.settle(touched);
  }

  /** Gives readers what files and log agree on, in the order of revisions. `entries` are the log's newest, deletions among them. */
  settle(touched: Iterable<string>, entries: ReadonlyMap<string, Entry> = new Map()): void {
    const ready: { key: string; at: bigint; definition: Definition | undefined }[] = [];
    const newest = BigInt(this.memory.revision());
    for (const key of touched) {
      const definition = this.definition(key);
      const recorded = this.revisions.get(key);
      const given = this.#given.get(key);
      this.#unsettled.delete(key);
      if (definition?.hash !== recorded?.hash) this.#unsettled.add(key);
      else if (given === recorded?.revision) continue;
      else {
        const at = recorded?.revision ?? entries.get(key)?.revision ?? 0n;
        if (at > newest) ready.push({ key, at, definition });
        else this.#unsettled.add(key);
      }
    }
    ready.sort((a, b) => (a.at < b.at ? -1 : 1));
    for (const { key, at, definition } of ready) this.#give(key, at, definition);
  }

  /** Looks again at the files of what is unsettled: most often a writer has finished meanwhile. */
  lookAgain(): void {
    this.readLog();
    const touched = new Set(this.#unsettled);
    for (const key of this.#unsettled) {
      for (const { file } of this.folder.definitions(key)) this.folder.readIfChanged(file, touched);
      const recorded = this.revisions.get(key)?.file ?? "";
      if (recorded !== "") this.folder.readIfChanged(recorded, touched);
    }
    this.settle(touched);
  }

  /**
   * Gives every unsettled object a new revision. Under the lock it is written down for all processes; where that fails, or without the lock,
   * it holds in this process alone. Why it could not be written down, if so.
   */
  record(how: "for all" | "in this process"): unknown {
    const entries = [...this.#unsettled].map((key): Entry => {
      const definition = this.definition(key);
      const file = definition?.file ?? this.revisions.get(key)?.file ?? "";
      return { key, revision: this.revisions.nextRevision(), hash: definition?.hash, file };
    });
    let why: unknown;
    try {
      if (how === "for all") this.revisions.append(entries);
      else this.revisions.remember(entries);
    } catch (error) {
      why = error;
      this.revisions.remember(entries);
    }
    this.settle(
      entries.map(({ key }) => key),
      new Map(entries.map((entry) => [entry.key, entry])),
    );
    return why;
  }

  #give(key: string, at: bigint, definition: Definition | undefined): void {
    if (definition === undefined) {
      const [kind, namespace = "", name = ""] = key.split("\u0000");
      this.#given.delete(key);
      this.memory.place(kind as Kind, { namespace, name }, { value: undefined, at }); // only known kinds are ever given
      return;
    }
    const { kind, id, value } = definition.object;
    this.#given.set(key, at);
    this.memory.place(kind, id, { value: filledIn(value, kind, id), at });
  }
}
