// One change of one object, in files. Called under the folder's lock, by whoever has decided what the object shall be.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isRecord, type JsonRecord, messageOf } from "../../../base/lib/index.ts";
import { errnoOf, removeFile, replaceFile, syncFolder } from "../../../base/linux/files.ts";
import type { Kind } from "../../kinds/index.ts";
import type { ObjectId } from "../datastore.ts";
import { DatastoreError } from "../errors.ts";
import { apiVersionOf } from "../kubernetes/paths.ts";
import { metadataOf } from "../object-id.ts";
import { fileNameOf } from "./file-names.ts";
import { stableUid } from "./filled-in.ts";
import type { FolderLock } from "./folder-lock.ts";
import { type Definition, type ManifestFolder, objectKey } from "./manifest-folder.ts";
import { writePlainYaml } from "./plain-yaml.ts";
import { readManifests } from "./read-manifests.ts";
import { kindNameIn, manifestType, recognise } from "./recognise.ts";
import { removeObject, replaceObject } from "./rewrite-manifest.ts";

export type Place = { readonly folder: ManifestFolder; readonly lock: FolderLock; readonly isDurable: boolean };
export type Wanted = {
  readonly kind: Kind;
  readonly id: ObjectId;
  /** Undefined: it shall be deleted. */
  readonly value: JsonRecord | undefined;
};

/** Writes the files. What they say then, whoever else wrote to them, is read by the caller: these are the ones to read. */
export async function writeObject(place: Place, wanted: Wanted): Promise<string[]> {
  const { kind, id, value } = wanted;
  const definitions = place.folder.definitions(objectKey({ kind, id }));
  for (const { file } of definitions) mustBeGood(place.folder, file);
  const [first] = definitions;
  if (value === undefined) {
    // Those not in use go first: a writer that dies on the way leaves the object as it was.
    for (const definition of [...definitions].reverse()) await removeFrom(place, definition);
  } else if (first === undefined) return [await writeNew(place, kind, id, value)];
  else await replaceIn(place, first, value);
  return definitions.map(({ file }) => file);
}

/** The object as a file has it: named, with its type, without what the datastore adds when it is read. */
export function asWritten({ kind, id, value }: Wanted, stored: Definition | undefined): JsonRecord {
  if (!isRecord(value)) throw new DatastoreError("invalid", `${kind} ${id.name}: the object is not a JSON object`);
  const { apiVersion, kind: kindName, metadata: _, ...rest } = value;
  const type = typeOf(kind, value, stored);
  const { resourceVersion: __, uid, creationTimestamp, name: ___, namespace: ____, ...more } = metadataOf(value);
  const before = metadataOf(stored?.object.value);
  // An object that a person wrote has no uid in its file; the one it is given to readers with is made from its name.
  const isMade = stored !== undefined && before.uid === undefined && uid === stableUid(kind, id);
  const lasting = {
    uid: before.uid ?? (isMade ? undefined : uid),
    creationTimestamp: before.creationTimestamp ?? creationTimestamp,
  };
  const named = id.namespace === "" ? { name: id.name } : { name: id.name, namespace: id.namespace };
  return { ...type, metadata: { ...named, ...lasting, ...more }, ...rest };
}

function typeOf(kind: Kind, value: JsonRecord, stored: Definition | undefined): { apiVersion: string; kind: string } {
  const { apiVersion, kind: name } = value;
  if (typeof apiVersion === "string" && typeof name === "string") {
    const recognised = recognise(apiVersion, name);
    if (recognised.is === "ours" && recognised.kind === kind) {
      return { apiVersion, kind: kindNameIn(apiVersion, kind) };
    }
    throw new DatastoreError("invalid", `an object of ${apiVersion} ${name} is no ${kind}`);
  }
  const type = manifestType(kind, "crd.projectcalico.org");
  const before = stored?.object.value.apiVersion;
  if (typeof before === "string") return { apiVersion: before, kind: kindNameIn(before, kind) };
  return { apiVersion: apiVersionOf(type), kind: type.kindName };
}

function mustBeGood(folder: ManifestFolder, file: string): void {
  const error = folder.errorIn(file);
  if (error === undefined) return;
  const place = `${file}:${error.line}:${error.column}`;
  throw new DatastoreError("invalid", `${place}: ${error.says}`, {
    next: "mend the file first: an object in a file that cannot be read cannot be changed in it",
  });
}

async function writeNew(place: Place, kind: Kind, id: ObjectId, value: JsonRecord): Promise<string> {
  const text = checked(kind, id, () => writePlainYaml(value));
  let attempt = 0;
  let file = fileNameOf(kind, id);
  while (existsSync(join(place.folder.root, file))) file = fileNameOf(kind, id, ++attempt);
  await makeFolder(place, dirname(file));
  await replace(place, file, text);
  return file;
}

async function replaceIn(place: Place, { file, object }: Definition, value: JsonRecord): Promise<void> {
  const before = textOf(place, file);
  const text = checked(object.kind, object.id, () => replaceObject(before, object, value));
  if (text !== before) await replace(place, file, text);
}

async function removeFrom(place: Place, { file, object }: Definition): Promise<void> {
  const path = join(place.folder.root, file);
  const text = checkedText(object.kind, object.id, () => removeObject(textOf(place, file), object));
  if (text !== undefined) await replace(place, file, text);
  else await translated(file, () => removeFile(path, { durable: place.isDurable }));
}

function textOf({ folder }: Place, file: string): string {
  try {
    return readFileSync(join(folder.root, file), "utf8");
  } catch (error) {
    throw unwritable(file, error);
  }
}

/** What is written must read back as this one object: a name that UTF-8 cannot hold would not. */
function checked(kind: Kind, id: ObjectId, make: () => string): string {
  const text = checkedText(kind, id, make) ?? "";
  const key = objectKey({ kind, id });
  const { objects, errors } = readManifests(text);
  if (errors.length === 0 && objects.some((object) => objectKey(object) === key)) return text;
  throw new DatastoreError(
    "invalid",
    `${kind} ${id.name} cannot be written: ${errors[0]?.says ?? "its name does not survive in a file"}`,
  );
}

function checkedText(kind: Kind, id: ObjectId, make: () => string | undefined): string | undefined {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
    throw new DatastoreError("invalid", `${kind} ${id.name} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}

async function makeFolder({ folder, isDurable }: Place, name: string): Promise<void> {
  const path = join(folder.root, name);
  if (existsSync(path)) return;
  await translated(name, async () => {
    if (dirname(name) !== ".") await makeFolder({ folder, isDurable } as Place, dirname(name));
    mkdirSync(path); // not with "recursive": a root that was taken away is not made again by us
    if (isDurable) await syncFolder(dirname(path));
  });
}

function replace({ folder, lock, isDurable }: Place, file: string, text: string): Promise<void> {
  const write = () => replaceFile(join(folder.root, file), text, { symlink: "follow", durable: isDurable });
  return translated(file, () => lock.whileWritingIn(dirname(file), write));
}

async function translated<T>(file: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw unwritable(file, error);
  }
}

/** After "unavailable" the change may have been made: a disk can fail after it took the new file. */
function unwritable(file: string, error: unknown): DatastoreError {
  if (error instanceof DatastoreError) return error;
  const errno = errnoOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
  const isForbidden = errno === "EACCES" || errno === "EROFS" || errno === "EPERM";
  const next: { [errno: string]: string } = {
    ENOSPC: "make room on the disk, or move the folder to a larger one",
    EDQUOT: "make room within the user's quota",
    EIO: "look at the kernel's log (dmesg): the disk or its file system fails",
    ENOTDIR: "a file stands where a folder is needed: move it away",
  };
  return new DatastoreError(
    isForbidden ? "forbidden" : "unavailable",
    `${file} cannot be written (${errno ?? messageOf(error)})`,
    {
      cause: error,
      next: next[errno ?? ""] ?? "check that this user may write to the folder and that it is still there",
    },
  );
}
