// In the single executable: the two native codecs. The system loads shared objects from files only, so one that does not
// lie beside the executable (or in CATTAIL_ASSETS) is written to a private temporary folder, loaded and removed at once:
// nothing is left behind, however the process ends. Every thread loads its own.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { getRawAsset } from "node:sea";
import { CattailError } from "../../src/base/lib/index.ts";

export function loadNative<Binding>(name: string): Binding {
  const folders = [process.env.CATTAIL_ASSETS ?? "", dirname(process.execPath)].filter((folder) => folder !== "");
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  return found === undefined ? loadUnpacked(name) : load(found);
}

function loadUnpacked<Binding>(name: string): Binding {
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), "cattail-"));
    const path = join(folder, name);
    writeFileSync(path, new Uint8Array(getRawAsset(name)), { mode: 0o500 });
    return load(path);
  } catch (error) {
    throw new CattailError("NATIVE_CODEC", {
      problem: `cannot load ${name} from the temporary folder ${tmpdir()}: ${(error as Error).message}`,
      next: `Mount a writable folder there that allows execution (in Kubernetes an emptyDir at /tmp), set TMPDIR to such a folder, or put ${name} into a folder and set CATTAIL_ASSETS to it`,
      cause: error,
    });
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

function load<Binding>(path: string): Binding {
  const holder = { exports: {} };
  process.dlopen(holder, path);
  return holder.exports as Binding; // the caller names what the addon of that name exports
}
