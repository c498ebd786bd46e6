// A folder of manifests as a datastore, for readers and for writers in several processes. Reads go to an in-memory datastore that is kept equal to the
// folder, so lists and watches are that one's; revisions are the folder's (revision-log.ts). docs/reference/directory-datastore.md says what
// its users may count on.
//
//   get, list ─▶ read the log of revisions (one stat when nothing happened) ─▶ memory
//   write     ─▶ lock ─▶ look at the object's file ─▶ decide ─▶ temporary file, fsync, rename, fsync ─▶ log ─▶ memory ─▶ unlock
//   watch     ─▶ memory, which is told by: our own writes; the log, at once; files that people edit, when they pause; a slow look at everything
import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import {
  CattailError,
  type Clock,
  type JsonRecord,
  type Log,
  messageOf,
  silentLog,
  systemClock,
} from "../../../base/lib/index.ts";
import { sweepTemporaryFiles } from "../../../base/linux/files.ts";
import { type Kind, storedKind } from "../../kinds/index.ts";
import type {
  CallOptions,
  CreateOptions,
  Datastore,
  DeleteOptions,
  ListOptions,
  ListPage,
  ObjectId,
  Patch,
  PatchOptions,
  Revision,
  StoredObject,
  WatchEvent,
  WatchOptions,
} from "../datastore.ts";
import { withStatusOf } from "../emulate-writes.ts";
import { DatastoreError, isDatastoreError } from "../errors.ts";
import { type ManifestProblem, manifestProblemText } from "../manifest-problem.ts";
import { createMemoryDatastore, type MemoryDatastore } from "../memory/memory-datastore.ts";
import { applyPatch } from "../merge-patch.ts";
import { identify, metadataOf, otherUid } from "../object-id.ts";
import { withUidAndCreationTime } from "../uid-and-creation-time.ts";
import { FolderLock } from "./folder-lock.ts";
import { FolderState } from "./folder-state.ts";
import { type Changed, FolderWatch } from "./folder-watch.ts";
import { ManifestFolder, objectKey } from "./manifest-folder.ts";
import { RevisionLog } from "./revision-log.ts";
import { type FoundFolder, type Scan, scanFolder } from "./scan-folder.ts";
import { asWritten, writeObject } from "./write-object.ts";

export type DirectoryOptions = {
  readonly path: string;
  readonly clock?: Clock;
  readonly log?: Log;
  readonly quietMs?: number;
  readonly pollIntervalMs?: number;
  /** A living process that holds the folder's lock is waited for so long. */
  readonly lockWaitMs?: number;
  /** False: a power failure may take the newest writes with it. A killed process never does. */
  readonly durable?: boolean;
  readonly makeUid?: () => string;
  /** Objects on one page of a list. */
  readonly pageSize?: number;
};

export type DirectoryDatastore = Datastore & {
  /** Which one it is, as it was named. */
  readonly folder: string;
  problems(): readonly ManifestProblem[];
  /** Looks at the whole folder now, and resolves when what changed can be listed. */
  refresh(): Promise<void>;
};

/** The folder must be there at the start; later it may come and go. */
export async function openDirectoryDatastore(options: DirectoryOptions): Promise<DirectoryDatastore> {
  await mustBeFolder(options.path);
  const directory = new Directory(options);
  await directory.refresh();
  directory.keepFollowing();
  return directory;
}

/** What a server makes sure of at its start. Beside a folder that it may not write to, it keeps them in memory. */
const kindsKeptBeside: readonly Kind[] = ["ClusterInformation", "Tier"];

/** A scan may take this part of the time, so that large folders are looked at less often. */
const scanShare = 1 / 200;

type Decide = (stored: StoredObject | undefined) => JsonRecord | undefined;

class Directory implements DirectoryDatastore {
  readonly flavour = "kubernetes";
  readonly holdsEveryKind = true;
  readonly folder: string;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #makeUid: () => string;
  readonly #isDurable: boolean;
  readonly #pollIntervalMs: number;
  readonly #closing = new AbortController();
  readonly #memory: MemoryDatastore;
  readonly #state: FolderState;
  readonly #lock: FolderLock;
  readonly #watch: FolderWatch;
  readonly #said = new Set<string>();
  #cannotRecord: string | undefined;
  #lastScanMs = 0;
  /** Folders with a temporary file in them, at the last look. */
  #unfinished: ReadonlySet<string> = new Set();
  #turn: Promise<void> = Promise.resolve();
  #following: Promise<unknown> = Promise.resolve();

  constructor(options: DirectoryOptions) {
    const { path, clock = systemClock, log = silentLog, quietMs = 100 } = options;
    this.folder = path;
    this.#path = path;
    this.#clock = clock;
    this.#log = log;
    this.#makeUid = options.makeUid ?? randomUUID;
    this.#isDurable = options.durable ?? true;
    this.#pollIntervalMs = options.pollIntervalMs ?? 10_000;
    this.#memory = createMemoryDatastore({
      clock,
      metadata: "as-given",
      holdsEveryKind: true,
      pageSize: options.pageSize ?? 500,
    });
    this.#lock = new FolderLock({ root: path, clock, lockWaitMs: options.lockWaitMs ?? 10_000 });
    this.#state = new FolderState({
      folder: new ManifestFolder(path),
      revisions: new RevisionLog(join(this.#lock.folder, "revisions"), clock),
      memory: this.#memory,
    });
    const { signal } = this.#closing;
    this.#watch = new FolderWatch({ root: path, clock, log, signal, quietMs, mostQuietWaitMs: 20 * quietMs });
  }

  async *list(kind: Kind, options: ListOptions): AsyncGenerator<ListPage> {
    await this.#catchUp();
    yield* this.#memory.list(kind, options);
  }

  async *watch(kind: Kind, options: WatchOptions): AsyncGenerator<readonly WatchEvent[]> {
    await this.#catchUp();
    yield* this.#memory.watch(kind, options);
  }

  async get(given: Kind, id: ObjectId, { signal }: CallOptions = {}): Promise<StoredObject | undefined> {
    this.#mustBeOpen();
    const kind = storedKind(given, this.flavour);
    this.#state.lookAt(kind, id);
    await this.#settleSoon();
    return await this.#memory.get(kind, id, { signal });
  }

  async create(kind: Kind, value: unknown, options: CreateOptions = {}): Promise<StoredObject> {
    const id = options.id ?? identify(kind, value);
    const make = { makeUid: this.#makeUid, clock: this.#clock };
    return await this.#mustWrite({ kind, id, signal: options.signal }, (stored) => {
      if (stored !== undefined) throw new DatastoreError("exists", `${kind} ${id.name} exists`);
      return withUidAndCreationTime(value, { make }) as JsonRecord; // asWritten() refuses what is none
    });
  }

  async update(kind: Kind, { id, revision, value }: StoredObject, { signal }: CallOptions = {}): Promise<StoredObject> {
    return await this.#mustWrite({ kind, id, signal }, (stored) => {
      mustBeAt(kind, id, stored, { revision });
      return value as JsonRecord; // asWritten() refuses what is none
    });
  }

  async updateStatus(kind: Kind, object: StoredObject, { signal }: CallOptions = {}): Promise<StoredObject> {
    const { id, revision, value } = object;
    return await this.#mustWrite({ kind, id, signal }, (stored) => {
      return withStatusOf(value, mustBeAt(kind, id, stored, { revision }).value) as JsonRecord;
    });
  }

  async patch(kind: Kind, id: ObjectId, patch: Patch, options: PatchOptions = {}): Promise<StoredObject> {
    return await this.#mustWrite({ kind, id, signal: options.signal }, (stored) =>
      applyPatch(mustBeAt(kind, id, stored, options).value, patch),
    );
  }

  async delete(kind: Kind, id: ObjectId, options: DeleteOptions = {}): Promise<void> {
    await this.#write({ kind, id, signal: options.signal }, (stored) => {
      mustBeAt(kind, id, stored, options);
      return undefined;
    });
  }

  problems(): readonly ManifestProblem[] {
    return this.#state.folder.problems();
  }

  refresh(): Promise<void> {
    return this.#look({ is: "everything" });
  }

  keepFollowing(): void {
    // What was deleted before now is not known, so no watch may go on from a revision of an earlier process: "expired".
    this.#memory.compact();
    this.#following = Promise.all([this.#followFiles(), this.#followLog()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#watch.close();
    await this.#following;
    await this.#turn.catch(() => undefined);
    this.#lock[Symbol.dispose]();
    this.#state.revisions.close();
    await this.#memory[Symbol.asyncDispose]();
  }

  async #mustWrite(
    what: { kind: Kind; id: ObjectId; signal?: AbortSignal | undefined },
    decide: Decide,
  ): Promise<StoredObject> {
    const written = await this.#write(what, decide);
    if (written !== undefined) return written;
    throw new DatastoreError(
      "unavailable",
      `${what.kind} ${what.id.name} was deleted from its file while it was written`,
    );
  }

  /** The object as it is stored then, whoever wrote last. */
  async #write(
    what: { kind: Kind; id: ObjectId; signal?: AbortSignal | undefined },
    decide: Decide,
  ): Promise<StoredObject | undefined> {
    this.#mustBeOpen();
    const { id, signal } = what;
    const kind = storedKind(what.kind, this.flavour);
    try {
      return await this.#lock.run(() => this.#writeLocked(kind, id, decide), signal);
    } catch (error) {
      if (!isDatastoreError(error, "forbidden") || !kindsKeptBeside.includes(kind)) throw error;
      return this.#keepBeside(kind, id, decide);
    }
  }

  async #writeLocked(kind: Kind, id: ObjectId, decide: Decide): Promise<StoredObject | undefined> {
    const { folder } = this.#state;
    const key = objectKey({ kind, id });
    this.#state.lookAt(kind, id);
    this.#record("for all");
    const value = decide(this.#memory.peek(kind, id));
    const stored = folder.definition(key);
    const wanted = { kind, id, value: value === undefined ? undefined : asWritten({ kind, id, value }, stored) };
    // The object itself in any case: a look at the whole folder may read its file before we do, and settle what it found after us.
    const touched = new Set([key]);
    const before = folder.definitions(key).map(({ file }) => file);
    try {
      const place = { folder, lock: this.#lock, isDurable: this.#isDurable };
      for (const file of await writeObject(place, wanted)) folder.read(file, touched);
    } finally {
      // Also after a failure, which may have come when a file was already another.
      for (const file of before) folder.readIfChanged(file, touched);
      this.#state.settle(touched);
      this.#record("for all");
    }
    return this.#memory.peek(kind, id);
  }

  #keepBeside(kind: Kind, id: ObjectId, decide: Decide): StoredObject | undefined {
    this.#state.lookAt(kind, id);
    const value = decide(this.#memory.peek(kind, id));
    if (value === undefined)
      throw new DatastoreError("forbidden", `${kind} ${id.name}: the folder may not be written to`);
    const object = asWritten({ kind, id, value }, undefined);
    this.#state.standIn({ kind, id, value: object, place: { line: 1, column: 1 }, where: { document: 0, path: [] } });
    this.#record("in this process");
    return this.#memory.peek(kind, id);
  }

  /** What other processes wrote is known before anything is answered. */
  async #catchUp(): Promise<void> {
    this.#mustBeOpen();
    this.#state.readLog();
    await this.#settleSoon();
  }

  // A writer in another process is most often between its rename and its line in the log: it is given some milliseconds before we
  // ask for the lock ourselves.
  async #settleSoon(): Promise<void> {
    for (let wait = 0; wait < 3 && !this.#state.isSettled; wait++) {
      await this.#clock.sleep(2);
      if (this.#closing.signal.aborted) return;
      this.#state.lookAgain();
    }
    if (!this.#state.isSettled) await this.#recordLocked();
  }

  async #recordLocked(): Promise<void> {
    try {
      await this.#lock.run(() => {
        this.#state.lookAgain();
        this.#record("for all");
      }, this.#closing.signal);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      // The folder cannot be written to, or the lock not be had: what files say is served all the same.
      this.#sayCannotRecord(error);
      this.#record("in this process");
    }
  }

  #record(how: "for all" | "in this process"): void {
    if (this.#state.isSettled) return;
    const why = this.#state.record(how);
    if (why !== undefined) this.#sayCannotRecord(why);
    else if (how === "for all") this.#cannotRecord = undefined;
  }

  #sayCannotRecord(error: unknown): void {
    const why = messageOf(error);
    if (this.#cannotRecord === why) return;
    this.#cannotRecord = why;
    const fields = { path: this.#path, error: why };
    const isUsual = isDatastoreError(error, "forbidden");
    this.#log[isUsual ? "info" : "warn"]("revisions of the folder are known to this process alone", fields);
  }

  async #followFiles(): Promise<void> {
    await this.#keepDoing(async () => {
      const waitMs = Math.max(this.#pollIntervalMs, this.#lastScanMs / scanShare);
      await this.#look(await this.#watch.changed(waitMs));
    });
  }

  async #followLog(): Promise<void> {
    await this.#keepDoing(async () => {
      await this.#watch.logChanged(60_000);
      await this.#catchUp();
    });
  }

  async #keepDoing(step: () => Promise<void>): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await step();
      } catch (error) {
        if (signal.aborted) return;
        this.#log.error("a folder of manifests cannot be followed", { path: this.#path, error: String(error) });
        await this.#clock.sleep(1000, signal).catch(() => undefined); // aborted: the loop ends
      }
    }
  }

  /** One at a time: two looks at one folder at once could apply the older one last. */
  #look(changed: Changed): Promise<void> {
    const look = () => this.#lookNow(changed);
    this.#turn = this.#turn.then(look, look);
    return this.#turn;
  }

  async #lookNow(changed: Changed): Promise<void> {
    const { folder } = this.#state;
    const touched = new Set<string>();
    if (changed.is === "files") for (const file of changed.files) folder.read(file, touched);
    else for (const key of await this.#scan()) touched.add(key);
    if (this.#closing.signal.aborted) return;
    this.#state.readLog();
    this.#state.settle(touched);
    await this.#settleSoon();
    this.#report();
  }

  async #scan(): Promise<Set<string>> {
    const startedMs = this.#clock.monotonicMs();
    const touched = new Set<string>();
    try {
      for (let round = 1; round <= 3; round++) {
        const scan = await scanFolder(this.#path);
        if (this.#closing.signal.aborted) return touched;
        for (const key of this.#state.folder.apply(scan)) touched.add(key);
        await this.#sweep(scan);
        // A change between reading a folder and watching it would be lost, so whatever is newly watched is read again.
        if (!this.#watch.follow(scan.folders, this.#logFolder())) break;
      }
    } catch (error) {
      this.#state.folder.cannotBeRead(error);
    }
    this.#lastScanMs = this.#clock.monotonicMs() - startedMs;
    return touched;
  }

  /** What a machine that lost its power left; after a writer that was killed the next one cleans up (folder-lock.ts). */
  async #sweep({ unfinished }: Scan): Promise<void> {
    const still = unfinished.filter((folder) => this.#unfinished.has(folder));
    this.#unfinished = new Set(unfinished);
    if (still.length === 0) return;
    const nowMs = this.#clock.wallMs() + 60_000; // under the lock every temporary file is a dead writer's
    const sweep = () => Promise.all(still.map((folder) => sweepTemporaryFiles(folder, { nowMs, olderThanMs: 0 })));
    await this.#lock.run(sweep, this.#closing.signal).catch(() => undefined); // not ours to remove, or later
  }

  #logFolder(): FoundFolder | undefined {
    const stats = statSync(this.#lock.folder, { bigint: true, throwIfNoEntry: false });
    return stats?.isDirectory() ? { path: this.#lock.folder, identity: `${stats.dev}:${stats.ino}` } : undefined;
  }

  #report(): void {
    const problems = this.#state.folder.problems();
    const texts = new Set(problems.map(manifestProblemText));
    for (const problem of problems) {
      if (!this.#said.has(manifestProblemText(problem))) this.#log.warn("a manifest has a problem", { ...problem });
    }
    if (this.#said.size > 0 && texts.size === 0) {
      this.#log.info("the manifests have no problems any more", { path: this.#path });
    }
    this.#said.clear();
    for (const text of texts) this.#said.add(text);
  }

  #mustBeOpen(): void {
    if (this.#closing.signal.aborted) throw new DatastoreError("unavailable", "the datastore is closed");
  }
}

function mustBeAt(
  kind: Kind,
  id: ObjectId,
  stored: StoredObject | undefined,
  { revision, uid }: { revision?: Revision; uid?: string },
): StoredObject {
  if (stored === undefined) throw new DatastoreError("not-found", `${kind} ${id.name} does not exist`);
  if (revision !== undefined && stored.revision !== revision) {
    throw new DatastoreError("conflict", `${kind} ${id.name} is at revision ${stored.revision}, not ${revision}`);
  }
  if (uid !== undefined && metadataOf(stored.value).uid !== uid) throw otherUid(kind, id, uid, stored.value);
  return stored;
}

async function mustBeFolder(path: string): Promise<void> {
  const next = "Name a folder of YAML or JSON manifests that this user may read";
  const stats = await stat(path).catch((cause: unknown) => {
    const problem = `the folder ${path} cannot be read: ${messageOf(cause)}`;
    throw new CattailError("DIRECTORY_UNREADABLE", { problem, next, cause });
  });
  if (!stats.isDirectory())
    throw new CattailError("DIRECTORY_UNREADABLE", { problem: `${path} is not a folder`, next });
}
