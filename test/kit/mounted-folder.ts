// A Secret or ConfigMap as the kubelet mounts it: each file is a link into a folder that is itself a link, which is swapped
// by rename, so that a reader sees all of the old content or all of the new.
//
//   typha.crt ─▶ ..data/typha.crt      ..data ─▶ ..version-2/      ..version-2/typha.crt
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export class MountedFolder {
  readonly folder: string;
  /** As a volume's defaultMode. */
  readonly #mode: number;
  #version = 0;

  constructor(folder: string, mode: number) {
    this.folder = folder;
    this.#mode = mode;
    mkdirSync(folder, { recursive: true });
  }

  put(files: { readonly [name: string]: string }): void {
    const old = join(this.folder, `..version-${this.#version}`);
    this.#version += 1;
    const next = `..version-${this.#version}`;
    mkdirSync(join(this.folder, next));
    for (const [name, text] of Object.entries(files)) {
      const path = join(this.folder, next, name);
      writeFileSync(path, text);
      chmodSync(path, this.#mode);
    }
    symlinkSync(next, join(this.folder, "..data-new"));
    renameSync(join(this.folder, "..data-new"), join(this.folder, "..data"));
    for (const name of Object.keys(files)) {
      if (!existsSync(join(this.folder, name))) symlinkSync(join("..data", name), join(this.folder, name));
    }
    rmSync(old, { recursive: true, force: true });
  }

  path(name: string): string {
    return join(this.folder, name);
  }
}
