// Runs a bundled program and keeps what V8 compiled of it for the next start. Node's own cache of compiled code has the outermost code only;
// functions that run at every start are compiled at every start. Here the code is kept after the run, with all functions that it used.
//
// The file is believed if it belongs to this user and nobody else may write to it, if it is whole, and if it was made from these very bytes; V8
// itself refuses what another version of it made. Whatever is wrong with it, the program runs without.
import { hash } from "node:crypto";
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";

export type Kept = {
  /** What the program exports. */
  readonly exports: unknown;
  /** To be called after the run, or when everything has been used that is used at every start. Once is enough. */
  readonly keep: () => void;
};

/** `digest`: of the program's bytes. */
export function runKept(program: URL, { name, digest }: { name: string; digest: string }): Kept {
  const filename = fileURLToPath(program);
  // The bundler writes ASCII only, which is read fastest like this.
  const source = readFileSync(filename, "latin1");
  const file = keptFile(`${name}-${digest.slice(0, 16)}`);
  const cachedData = file === undefined ? undefined : readKept(file);
  const script = new Script(source, { filename, ...(cachedData === undefined ? {} : { cachedData }) });
  const module = { exports: {} };
  // A function of the form above.
  const run = script.runInThisContext() as (...given: unknown[]) => void;
  // Node's own modules, and those that are not bundled because they are native.
  const require = (id: string): unknown => process.getBuiltinModule(id) ?? createRequire(program)(id);
  run(module.exports, require, module, program.href);
  let isKept = cachedData !== undefined && script.cachedDataRejected !== true;
  return {
    exports: module.exports,
    keep: () => {
      if (file !== undefined && !isKept) writeKept(file, script.createCachedData(), name);
      isKept = true;
    },
  };
}

/** In the user's cache, as bin/cattail keeps Node's own. */
function keptFile(name: string): string | undefined {
  const { XDG_CACHE_HOME, HOME } = process.env;
  const caches = XDG_CACHE_HOME || (HOME ? join(HOME, ".cache") : undefined);
  return caches === undefined ? undefined : join(caches, "cattail", "programs", name);
}

const digestBytes = 20;

function readKept(file: string): Buffer | undefined {
  try {
    const opened = openSync(file, "r");
    try {
      const { uid, mode } = fstatSync(opened);
      if (uid !== process.geteuid?.() || (mode & 0o022) !== 0) return undefined;
      const bytes = readFileSync(opened);
      const data = bytes.subarray(digestBytes);
      return digestOf(data).equals(bytes.subarray(0, digestBytes)) ? data : undefined;
    } finally {
      closeSync(opened);
    }
  } catch {
    return undefined; // there is none
  }
}

function writeKept(file: string, data: Buffer, name: string): void {
  const folder = dirname(file);
  const temporary = `${file}.${process.pid}`;
  try {
    // One by one: where there is no home, none is made.
    for (const one of [join(folder, "../.."), join(folder, ".."), folder])
      if (!existsSync(one)) mkdirSync(one, { mode: 0o700 });
    writeFileSync(temporary, Buffer.concat([digestOf(data), data]), { mode: 0o600 });
    renameSync(temporary, file);
    // What other versions of the program have left.
    for (const other of readdirSync(folder))
      if (other.startsWith(`${name}-`) && join(folder, other) !== file) rmSync(join(folder, other), { force: true });
  } catch {
    // a full disk, or a folder that is not ours: the next start compiles again
  }
}

/** Against damage, not against an enemy: whoever can write the file can write its digest. */
function digestOf(data: Buffer): Buffer {
  return hash("sha1", data, "buffer");
}
