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
import { setFlagsFromString } from "node:v8";
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
  run(module.exports, (id: string) => required(id, program), module, program.href);
  let isKept = cachedData !== undefined && script.cachedDataRejected !== true;
  return {
    exports: module.exports,
    keep: () => {
      if (file !== undefined && !isKept)
        writeKept(
          file,
          withUsualFlags(() => script.createCachedData()),
          name,
        );
      isKept = true;
    },
  };
}

/**
 * Of Node's own modules those that take long and that many a run never uses. With them come others: https loads tls, zlib loads all that
 * reads archives.
 */
const lateBuiltins: ReadonlySet<string> = new Set([
  ...["node:child_process", "node:dgram", "node:dns", "node:http2", "node:https", "node:perf_hooks", "node:tls"],
  ...["node:worker_threads", "node:zlib"],
]);

/** Node's own modules, and those that are not bundled because they are native. */
function required(id: string, program: URL): unknown {
  const isLate = lateBuiltins.has(id.startsWith("node:") ? id : `node:${id}`);
  const builtin = isLate ? undefined : withUsualFlags(() => process.getBuiltinModule(id));
  return builtin ?? late(() => createRequire(program)(id));
}

/**
 * What an agent asks of V8 as soon as its code is there, each with what V8 takes without being asked (docs/performance.md, "Policy on a node"):
 * - The young generation stays as small as it is at the start, 1 MB, where it would grow to 16 MB and the process with it. Most of what an agent reads it
 *   keeps, and its garbage is collected as cheaply in small pieces. The flag that Node takes for this would have to be set by a second start.
 * - No optimizing compilers: within its first seconds an agent does everything a few times, and they cost a tenth of its processor time and of its memory.
 */
const frugal = {
  small: { flag: "--semi-space-growth-factor=1", usual: "--semi-space-growth-factor=2" },
  plain: { flag: "--no-maglev", usual: "--maglev" },
  plainer: { flag: "--no-turbofan", usual: "--turbofan" },
} as const;
type Frugal = (typeof frugal)[keyof typeof frugal];
const asked = new Set<Frugal>();

/** A start that takes longer is worth compiling for: by then it has much to read. */
const frugalCompilingMs = 2_000;

export function runFrugally(): void {
  for (const one of Object.values(frugal)) ask(one);
  setTimeout(() => {
    setFlagsFromString(frugal.plain.usual);
    asked.delete(frugal.plain);
  }, frugalCompilingMs).unref();
}

function ask(one: Frugal): void {
  asked.add(one);
  setFlagsFromString(one.flag);
}

/** Under other flags V8 refuses code that was compiled before, Node's own too. */
function withUsualFlags<T>(load: () => T): T {
  for (const { usual } of asked) setFlagsFromString(usual);
  try {
    return load();
  } finally {
    for (const { flag } of asked) setFlagsFromString(flag);
  }
}

/** Stands for a module that is loaded when somebody first looks into it. */
function late(load: () => object): object {
  let loaded: object | undefined;
  const module = (): object => {
    loaded ??= withUsualFlags(load);
    return loaded;
  };
  return new Proxy(
    {},
    {
      get: (_, name) => Reflect.get(module(), name),
      has: (_, name) => Reflect.has(module(), name),
      ownKeys: () => Reflect.ownKeys(module()),
      getOwnPropertyDescriptor: (_, name) => {
        const found = Reflect.getOwnPropertyDescriptor(module(), name);
        return found === undefined ? undefined : { ...found, configurable: true }; // as it must be said of what the object itself has not
      },
    },
  );
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
