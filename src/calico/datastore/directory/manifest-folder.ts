// The folder's current content: every file's last good objects, and what is wrong with it now. A file that cannot be
// read or does not parse goes on as it was when it last could be; a file that is gone is gone.
import { readFile, stat } from "node:fs/promises";
import { messageOf } from "../../../base/lib/index.ts";
import type { Kind } from "../../kinds/index.ts";
import type { ManifestProblem } from "../manifest-problem.ts";
import { idText } from "../object-id.ts";
import { type Complaint, type ManifestObject, readManifests } from "./read-manifests.ts";
import { type FoundFile, type FoundFolder, type Scan, scanFolder, stampOf } from "./scan-folder.ts";

export type FolderContent = {
  readonly objects: ReadonlyMap<string, ManifestObject>;
  readonly problems: readonly ManifestProblem[];
  readonly folders: readonly FoundFolder[];
};

type KnownFile = {
  stamp: string;
  objects: readonly ManifestObject[];
  errors: readonly Complaint[];
  notes: readonly Complaint[];
  wasEverGood: boolean;
};

// Reading YAML takes about a second for each 2 MB, and nothing else happens meanwhile.
const maxFileBytes = 16 << 20;

/** One text per object of any kind. */
export function objectKey(object: { readonly kind: Kind; readonly id: { namespace: string; name: string } }): string {
  return `${object.kind}\u0000${idText(object.id)}`;
}

export class ManifestFolder {
  readonly #root: string;
  readonly #files = new Map<string, KnownFile>();
  #folders: readonly FoundFolder[] = [];

  constructor(root: string) {
    this.#root = root;
  }

  /** Looks at every file and reads those that changed. */
  async read(): Promise<FolderContent> {
    let scan: Scan;
    try {
      scan = await scanFolder(this.#root);
    } catch (error) {
      // A folder that is not there now may be about to be mounted again: nobody's objects go because of it.
      const says = `the folder cannot be read: ${messageOf(error)}`;
      return this.#content([{ file: "", line: 1, column: 1, says, keepsLastGood: this.#files.size > 0 }]);
    }
    this.#folders = scan.folders;
    for (const found of scan.files) {
      if (this.#files.get(found.name)?.stamp !== found.stamp) await this.#readFile(found);
    }
    const unreadable = new Set(scan.unreadable.map(({ name }) => name));
    const present = new Set(scan.files.map(({ name }) => name));
    for (const name of this.#files.keys()) {
      const isBelowUnreadable = [...unreadable].some((folder) => name === folder || name.startsWith(`${folder}/`));
      if (!present.has(name) && !isBelowUnreadable) this.#files.delete(name);
    }
    return this.#content(
      scan.unreadable.map(({ name, says }) => ({
        file: name,
        line: 1,
        column: 1,
        says,
        keepsLastGood: this.#files.has(name),
      })),
    );
  }

  async #readFile(found: FoundFile): Promise<void> {
    const before = this.#files.get(found.name);
    const last = { objects: before?.objects ?? [], wasEverGood: before?.wasEverGood ?? false };
    const fail = (says: string, stamp: string) =>
      this.#files.set(found.name, { ...last, stamp, errors: [{ line: 1, column: 1, says }], notes: [] });
    if (found.bytes > maxFileBytes) {
      fail(`the file is larger than ${maxFileBytes >> 20} MiB`, found.stamp);
      return;
    }
    try {
      const bytes = await readFile(found.path);
      // Written to while we read: what we have may be half of it. The next look comes with the write's own event.
      const stamp = stampOf(await stat(found.path, { bigint: true }));
      if (stamp !== found.stamp) return;
      const text = decode(bytes);
      if (text === undefined) {
        fail("the file is not UTF-8", stamp);
        return;
      }
      const { objects, errors, notes } = readManifests(text);
      if (errors.length > 0) this.#files.set(found.name, { ...last, stamp, errors, notes });
      else this.#files.set(found.name, { stamp, objects, errors, notes, wasEverGood: true });
    } catch (error) {
      fail(`the file cannot be read: ${messageOf(error)}`, "unread"); // tried again each time
    }
  }

  #content(problems: ManifestProblem[]): FolderContent {
    const objects = new Map<string, ManifestObject>();
    const definedIn = new Map<string, string>();
    const names = [...this.#files.keys()].sort();
    for (const file of names) {
      const known = this.#files.get(file);
      if (known === undefined) continue;
      for (const error of known.errors) problems.push({ file, ...error, keepsLastGood: known.wasEverGood });
      for (const note of known.notes) problems.push({ file, ...note, keepsLastGood: false });
      for (const object of known.objects) {
        const key = objectKey(object);
        const first = definedIn.get(key);
        if (first === undefined) {
          objects.set(key, object);
          definedIn.set(key, `${file}:${object.place.line}`);
          continue;
        }
        const name = object.id.namespace === "" ? object.id.name : `${object.id.namespace}/${object.id.name}`;
        const says = `${object.kind} ${name} is already defined in ${first}, which is the one in use`;
        problems.push({ file, ...object.place, says, keepsLastGood: false });
      }
    }
    return { objects, problems, folders: this.#folders };
  }
}

/** Undefined: not UTF-8. Reading on with replaced characters would serve names that nobody wrote. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
