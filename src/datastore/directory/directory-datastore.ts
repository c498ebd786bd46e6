// A folder of manifests as a datastore. Reads go to an in-memory datastore that is kept equal to the folder; so lists,
// watches and revisions are that one's. docs/reference/directory-datastore.md says what its users may count on.
import { stat } from "node:fs/promises";
import { CattailError, type Clock, type Log, silentLog, systemClock } from "../../lib/index.ts";
import type { Kind } from "../../model/index.ts";
import type { Datastore, ObjectId, StoredObject } from "../datastore.ts";
import { DatastoreError } from "../errors.ts";
import { identify } from "../identify.ts";
import { createMemoryDatastore, type MemoryDatastore } from "../memory/memory-datastore.ts";
import { FolderWatch } from "./folder-watch.ts";
import { type FolderContent, ManifestFolder, type ManifestProblem, objectKey } from "./manifest-folder.ts";
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
  /** What is wrong with the folder's files now. */
  problems(): readonly ManifestProblem[];
  /** Looks at the folder now, and resolves when what changed can be listed. */
  refresh(): Promise<void>;
};

/** What a server itself writes at its start. It may, but into memory: the folder is its author's. */
const ownKinds: readonly Kind[] = ["ClusterInformation", "Tier"];

/** The folder must be there at the start; later it may come and go. */
export async function openDirectoryDatastore(options: DirectoryOptions): Promise<DirectoryDatastore> {
  const { path, clock = systemClock, log = silentLog, quietMs = 100, pollIntervalMs = 10_000 } = options;
  await mustBeFolder(path);
  const closing = new AbortController();
  const memory = createMemoryDatastore({ clock, metadata: "as-given" });
  const folder = new ManifestFolder(path);
  const { signal } = closing;
  const watch = new FolderWatch({ clock, log, signal, quietMs, mostQuietWaitMs: 20 * quietMs, pollIntervalMs });
  let content: FolderContent = { objects: new Map(), problems: [], folders: [] };
  /** Objects written by ourselves, and the file's object each stood in for: a change of that one takes its place back. */
  const own = new Map<string, { object: ManifestObject; insteadOf: ManifestObject | undefined }>();
  const stored = new Map<string, ManifestObject>();
  let turn: Promise<void> = Promise.resolve();

  await refresh();
  const following = keepFollowing();

  return {
    flavour: "kubernetes",
    list: memory.list,
    watch: memory.watch,
    get: memory.get,
    async create(kind, value, { id = identify(kind, value, { defaultNamespace: "default" }) } = {}) {
      mustBeOwn(kind);
      if ((await memory.get(kind, id)) !== undefined) throw new DatastoreError("exists", `${kind} ${id.name} exists`);
      return write(kind, id, value);
    },
    async update(kind, object) {
      mustBeOwn(kind);
      const now = await memory.get(kind, object.id);
      if (now === undefined) throw new DatastoreError("not-found", `${kind} ${object.id.name} does not exist`);
      if (now.revision !== object.revision)
        throw new DatastoreError("conflict", `${kind} ${object.id.name} has changed`);
      return write(kind, object.id, object.value);
    },
    async delete(kind) {
      throw readOnly(kind);
    },
    problems: () => content.problems,
    refresh,
    async [Symbol.asyncDispose]() {
      closing.abort();
      watch.close();
      await following;
      await memory[Symbol.asyncDispose]();
    },
  };

  async function keepFollowing(): Promise<void> {
    while (!signal.aborted) {
      try {
        await watch.changed();
        await refresh();
      } catch (error) {
        if (!signal.aborted) log.error("a folder of manifests cannot be followed", { path, error: String(error) });
      }
    }
  }

  /** One at a time: two readings of one folder at once could apply the older one last. */
  function refresh(): Promise<void> {
    turn = turn.then(readOnce, readOnce);
    return turn;
  }

  async function readOnce(): Promise<void> {
    let next = await folder.read();
    // A change between reading a folder and watching it would be lost, so whatever is newly watched is read again.
    if (watch.follow(next.folders)) next = await folder.read();
    reportNew(next.problems);
    content = next;
    await apply();
  }

  async function apply(): Promise<void> {
    const wanted = new Map(content.objects);
    for (const [key, { object, insteadOf }] of own) {
      if (isSame(content.objects.get(key)?.value, insteadOf?.value)) wanted.set(key, object);
      else own.delete(key);
    }
    for (const [key, object] of wanted) {
      const before = stored.get(key);
      if (before === object) continue;
      stored.set(key, object);
      if (before === undefined || !isSame(before.value, object.value)) await put(memory, object);
    }
    for (const [key, { kind, id }] of stored) {
      if (wanted.has(key)) continue;
      stored.delete(key);
      await memory.delete(kind, id);
    }
  }

  async function write(kind: Kind, id: ObjectId, value: unknown): Promise<StoredObject> {
    const object = { kind, id, value: value as ManifestObject["value"], place: { line: 0, column: 0 } }; // put() checks it
    const key = objectKey(object);
    const written = await put(memory, object);
    own.set(key, { object, insteadOf: content.objects.get(key) });
    stored.set(key, object);
    return written;
  }

  function reportNew(problems: readonly ManifestProblem[]): void {
    const known = new Set(content.problems.map(textOf));
    for (const problem of problems) {
      if (known.has(textOf(problem))) continue;
      const { file, line, column, says, keepsLastGood } = problem;
      log.warn("a manifest has a problem", { file, line, column, says, keepsLastGood });
    }
    const isMended = content.problems.length > 0 && problems.length === 0;
    if (isMended) log.info("the manifests have no problems any more", { path });
  }
}

function put(memory: MemoryDatastore, { kind, id, value }: ManifestObject): Promise<StoredObject> {
  return memory.put(kind, withStableUid(value, kind, id), { id });
}

function mustBeOwn(kind: Kind): void {
  if (!ownKinds.includes(kind)) throw readOnly(kind);
}

function readOnly(kind: Kind): DatastoreError {
  return new DatastoreError("unsupported", `${kind}: a folder of manifests is changed by changing its files`);
}

function textOf({ file, line, column, says }: ManifestProblem): string {
  return `${file}:${line}:${column}: ${says}`;
}

function isSame(a: unknown, b: unknown): boolean {
  const text = (value: unknown) =>
    JSON.stringify(value, (_key, field) => (typeof field === "bigint" ? `${field}n` : field));
  return text(a) === text(b);
}

async function mustBeFolder(path: string): Promise<void> {
  const next = "set TYPHA_DATASTOREDIRECTORY to a folder of YAML or JSON manifests";
  const stats = await stat(path).catch((cause: unknown) => {
    const problem = `the folder ${path} cannot be read: ${cause instanceof Error ? cause.message : cause}`;
    throw new CattailError("DIRECTORY_UNREADABLE", { problem, next, cause });
  });
  if (!stats.isDirectory()) throw new CattailError("DIRECTORY_UNREADABLE", { problem: `${path} is no folder`, next });
}
