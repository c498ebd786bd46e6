// A folder of manifests as a datastore. Reads go to an in-memory datastore that is kept equal to the folder; so lists,
// watches and revisions are that one's. docs/reference/directory-datastore.md says what its users may count on.
import { stat } from "node:fs/promises";
import {
  CattailError,
  type Clock,
  type Log,
  messageOf,
  silentLog,
  systemClock,
  writeJson,
} from "../../../base/lib/index.ts";
import type { Kind } from "../../kinds/index.ts";
import type {
  Datastore,
  ListOptions,
  ListPage,
  ObjectId,
  Patch,
  PatchOptions,
  StoredObject,
  WatchEvent,
  WatchOptions,
} from "../datastore.ts";
import { patchByUpdate, updateStatusByUpdate } from "../emulate-writes.ts";
import { DatastoreError } from "../errors.ts";
import { type ManifestProblem, manifestProblemText } from "../manifest-problem.ts";
import { createMemoryDatastore, type MemoryDatastore } from "../memory/memory-datastore.ts";
import { identify } from "../object-id.ts";
import { FolderWatch } from "./folder-watch.ts";
import { type FolderContent, ManifestFolder, objectKey } from "./manifest-folder.ts";
import type { ManifestObject } from "./read-manifests.ts";
import { withStableUid } from "./stable-uid.ts";

export type DirectoryOptions = {
  readonly path: string;
  readonly clock?: Clock;
  readonly log?: Log;
  readonly quietMs?: number;
  readonly pollIntervalMs?: number;
};

export type DirectoryDatastore = Datastore & {
  problems(): readonly ManifestProblem[];
  /** Looks at the folder now, and resolves when what changed can be listed. */
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

/** What a server itself writes at its start. It may, but into memory: the folder is its author's. */
const ownKinds: readonly Kind[] = ["ClusterInformation", "Tier"];

/** An object we wrote, and the file's object it stood in for: a change of that one takes its place back. */
type OwnObject = { readonly object: ManifestObject; readonly insteadOf: ManifestObject | undefined };

class Directory implements DirectoryDatastore {
  readonly flavour = "kubernetes";
  readonly #path: string;
  readonly #log: Log;
  readonly #closing = new AbortController();
  readonly #memory: MemoryDatastore;
  readonly #folder: ManifestFolder;
  readonly #watch: FolderWatch;
  readonly #own = new Map<string, OwnObject>();
  /** What memory holds. */
  readonly #stored = new Map<string, ManifestObject>();
  #content: FolderContent = { objects: new Map(), problems: [], folders: [] };
  #turn: Promise<void> = Promise.resolve();
  #following: Promise<void> = Promise.resolve();

  constructor({
    path,
    clock = systemClock,
    log = silentLog,
    quietMs = 100,
    pollIntervalMs = 10_000,
  }: DirectoryOptions) {
    this.#path = path;
    this.#log = log;
    this.#memory = createMemoryDatastore({ clock, metadata: "as-given" });
    this.#folder = new ManifestFolder(path);
    const { signal } = this.#closing;
    this.#watch = new FolderWatch({ clock, log, signal, quietMs, mostQuietWaitMs: 20 * quietMs, pollIntervalMs });
  }

  list(kind: Kind, options: ListOptions): AsyncIterable<ListPage> {
    return this.#memory.list(kind, options);
  }

  watch(kind: Kind, options: WatchOptions): AsyncIterable<readonly WatchEvent[]> {
    return this.#memory.watch(kind, options);
  }

  get(kind: Kind, id: ObjectId, options: { signal?: AbortSignal | undefined } = {}): Promise<StoredObject | undefined> {
    return this.#memory.get(kind, id, options);
  }

  async create(kind: Kind, value: unknown, options: { id?: ObjectId } = {}): Promise<StoredObject> {
    mustBeOwn(kind);
    const id = options.id ?? identify(kind, value);
    if ((await this.#memory.get(kind, id)) !== undefined)
      throw new DatastoreError("exists", `${kind} ${id.name} exists`);
    return this.#write(kind, id, value);
  }

  async update(kind: Kind, { id, revision, value }: StoredObject): Promise<StoredObject> {
    mustBeOwn(kind);
    const now = await this.#memory.get(kind, id);
    if (now === undefined) throw new DatastoreError("not-found", `${kind} ${id.name} does not exist`);
    if (now.revision !== revision) throw new DatastoreError("conflict", `${kind} ${id.name} has changed`);
    return this.#write(kind, id, value);
  }

  updateStatus(kind: Kind, object: StoredObject): Promise<StoredObject> {
    return updateStatusByUpdate(this, kind, object);
  }

  patch(kind: Kind, id: ObjectId, patch: Patch, options: PatchOptions = {}): Promise<StoredObject> {
    return patchByUpdate(this, kind, id, { ...options, patch });
  }

  async delete(kind: Kind): Promise<void> {
    throw readOnly(kind);
  }

  problems(): readonly ManifestProblem[] {
    return this.#content.problems;
  }

  /** One at a time: two readings of one folder at once could apply the older one last. */
  refresh(): Promise<void> {
    const read = () => this.#readOnce();
    this.#turn = this.#turn.then(read, read);
    return this.#turn;
  }

  keepFollowing(): void {
    this.#following = this.#follow();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#watch.close();
    await this.#following;
    await this.#memory[Symbol.asyncDispose]();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await this.#watch.changed();
        await this.refresh();
      } catch (error) {
        const fields = { path: this.#path, error: String(error) };
        if (!signal.aborted) this.#log.error("a folder of manifests cannot be followed", fields);
      }
    }
  }

  async #readOnce(): Promise<void> {
    let next = await this.#folder.read();
    if (this.#closing.signal.aborted) return;
    // A change between reading a folder and watching it would be lost, so whatever is newly watched is read again.
    if (this.#watch.follow(next.folders)) next = await this.#folder.read();
    this.#report(next.problems);
    this.#content = next;
    await this.#apply();
  }

  async #apply(): Promise<void> {
    const wanted = new Map(this.#content.objects);
    for (const [key, { object, insteadOf }] of this.#own) {
      if (isSame(this.#content.objects.get(key)?.value, insteadOf?.value)) wanted.set(key, object);
      else this.#own.delete(key);
    }
    for (const [key, object] of wanted) {
      const before = this.#stored.get(key);
      if (before === object) continue;
      if (before === undefined || !isSame(before.value, object.value)) await this.#put(object);
      this.#stored.set(key, object);
    }
    for (const [key, { kind, id }] of this.#stored) {
      if (wanted.has(key)) continue;
      this.#stored.delete(key);
      await this.#memory.delete(kind, id);
    }
  }

  async #write(kind: Kind, id: ObjectId, value: unknown): Promise<StoredObject> {
    const object = { kind, id, value: value as ManifestObject["value"], place: { line: 0, column: 0 } }; // memory checks it
    const key = objectKey(object);
    const written = await this.#put(object);
    this.#own.set(key, { object, insteadOf: this.#content.objects.get(key) });
    this.#stored.set(key, object);
    return written;
  }

  #put({ kind, id, value }: ManifestObject): Promise<StoredObject> {
    return this.#memory.put(kind, withStableUid(value, kind, id), { id });
  }

  #report(problems: readonly ManifestProblem[]): void {
    const known = new Set(this.#content.problems.map(manifestProblemText));
    for (const problem of problems) {
      if (!known.has(manifestProblemText(problem))) this.#log.warn("a manifest has a problem", { ...problem });
    }
    const isMended = known.size > 0 && problems.length === 0;
    if (isMended) this.#log.info("the manifests have no problems any more", { path: this.#path });
  }
}

function mustBeOwn(kind: Kind): void {
  if (!ownKinds.includes(kind)) throw readOnly(kind);
}

function readOnly(kind: Kind): DatastoreError {
  return new DatastoreError("unsupported", `${kind}: a folder of manifests is changed by changing its files`);
}

function isSame(a: unknown, b: unknown): boolean {
  return writeJson(a) === writeJson(b);
}

async function mustBeFolder(path: string): Promise<void> {
  const next = "set TYPHA_DATASTOREDIRECTORY to a folder of YAML or JSON manifests";
  const stats = await stat(path).catch((cause: unknown) => {
    const problem = `the folder ${path} cannot be read: ${messageOf(cause)}`;
    throw new CattailError("DIRECTORY_UNREADABLE", { problem, next, cause });
  });
  if (!stats.isDirectory())
    throw new CattailError("DIRECTORY_UNREADABLE", { problem: `${path} is not a folder`, next });
}
