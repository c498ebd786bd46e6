// BIRD's configuration on disk: written beside, checked, and only then put in place by a rename; nobody but the owner of the folder may read it,
// because passwords are in it. A text that BIRD refuses never gets the name that BIRD reads.
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, makeFolders, removeFile, replaceFile } from "../../../base/linux/index.ts";
import type { ConfigurationFiles, MainFile } from "../render/render.ts";
import type { Checked } from "./programs.ts";

export type CheckFile = (file: MainFile, path: string) => Promise<Checked>;

export class ConfigurationFolder {
  readonly path: string;
  #inPlace: ConfigurationFiles | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** What BIRD would read now; undefined: not looked at yet. */
  get inPlace(): ConfigurationFiles | undefined {
    return this.#inPlace;
  }

  file(name: MainFile): string {
    return join(this.path, name);
  }

  async put(files: ConfigurationFiles, check: CheckFile): Promise<Checked> {
    await makeFolders(this.path);
    this.#inPlace ??= {
      "bird.cfg": await readIfThere(this.file("bird.cfg")),
      "bird6.cfg": await readIfThere(this.file("bird6.cfg")),
    };
    // Not forced to the disk: it is worked out anew after a power failure, and this is on the way of every change.
    const how = { mode: 0o600, durable: false, ...(await this.#owner()) };
    for (const [name, text] of entriesOf(files)) {
      if (text === undefined || text === this.#inPlace?.[name]) continue;
      const candidate = join(this.path, `.${name}.candidate`);
      await replaceFile(candidate, text, how);
      const checked = await check(name, candidate);
      await removeFile(candidate, { durable: false });
      if (checked.is === "refused") return { is: "refused", says: `${name}: ${checked.says}` };
    }
    for (const [name, text] of entriesOf(files)) {
      if (text === undefined) await removeFile(this.file(name));
      else if (text !== this.#inPlace?.[name]) await replaceFile(this.file(name), text, how);
    }
    this.#inPlace = files;
    return { is: "good" };
  }

  /** As the folder's: a BIRD that runs as another user reads its configuration as that user. */
  async #owner(): Promise<{ owner?: { uid: number; gid: number } }> {
    if (process.getuid?.() !== 0) return {};
    const { uid, gid } = await stat(this.path);
    return { owner: { uid, gid } };
  }
}

/** After a restart, what is right stays as it is. */
async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function entriesOf(files: ConfigurationFiles): readonly (readonly [MainFile, string | undefined])[] {
  return [
    ["bird.cfg", files["bird.cfg"]],
    ["bird6.cfg", files["bird6.cfg"]],
  ];
}
