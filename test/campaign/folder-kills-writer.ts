// A writer that is killed: started by folder-kills.test.ts in a process of its own, it writes to a folder and says before and after each write what it
// does, until it is killed by somebody else or, at a step of its own choosing, by itself.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { DatabaseSync } from "node:sqlite";
// Not through index.ts, which loads every other datastore too: a thousand of these are started.
import { openDirectoryDatastore } from "../../src/calico/datastore/directory/directory-datastore.ts";
import { edit } from "../../src/calico/datastore/edit.ts";
import { seededRandom } from "../kit/random.ts";
import { specOf } from "./folder-kills-content.ts";

/** The steps of a write, in their order. */
export const steps = [
  "lock",
  "mark",
  "open",
  "write",
  "mode",
  "sync file",
  "rename",
  "sync folder",
  "unmark",
  "unlink",
  "log",
  "unlock",
] as const;
export type Step = (typeof steps)[number];
export type Fault = {
  readonly step: Step;
  /** "half": of what the step writes, half is written; elsewhere as "after". An errno: the step fails with it. */
  readonly what: "before" | "half" | "after" | "EIO" | "ENOSPC";
  /** The how-manieth time the step is met. */
  readonly nth: number;
};
export type WriterConfig = {
  readonly folder: string;
  readonly writer: number;
  readonly seed: number;
  readonly fault?: Fault;
  readonly writes: number;
  /** Of each write, when it fails. */
  readonly attempts?: number;
};

if (process.argv[2] !== undefined) await write(JSON.parse(process.argv[2]) as WriterConfig); // folder-kills.test.ts made it

async function write({ folder, writer, seed, fault, writes, attempts = 500 }: WriterConfig): Promise<void> {
  const say = (
    (plainWrite) => (text: string) =>
      void plainWrite(1, `${text}\n`)
  )(fs.writeSync);
  const { below } = seededRandom(seed);
  const datastore = await openDirectoryDatastore({ path: folder, lockWaitMs: 60_000 });
  say("open");
  if (fault !== undefined) installFault(fault);
  for (let n = 1; n <= writes; n++) {
    const name = `w${writer}-${["kept", "hand", "shared", "a", "b"][below(5)]}`;
    const isShared = name.endsWith("shared");
    const id = { namespace: "", name: isShared ? "shared" : name };
    const number = seed * 1000 + n;
    const isGone = /-[ab]$/.test(name) && below(3) === 0;
    say(`begin ${id.name} ${isGone ? 0 : number}`);
    try {
      const { did } = await edit(
        datastore,
        "Tier",
        id,
        (current, { mayBeDone }) => {
          if (mayBeDone) say(`begin ${id.name} ${isGone ? 0 : number}`);
          if (isGone) return current === undefined ? "nothing" : "delete";
          const count = Object(Object(current?.value).spec).order ?? 0;
          const before = Object(current?.value);
          return {
            value: {
              ...before,
              metadata: { ...before.metadata, name: id.name },
              spec: isShared ? { order: count + 1 } : specOf(number),
            },
          };
        },
        { mostAttempts: attempts },
      );
      say(`done ${id.name} ${isGone ? 0 : number} ${did}`);
    } catch (error) {
      say(`failed ${id.name} ${isGone ? 0 : number} ${String(Object(error).code)}`);
    }
  }
  say("end");
  await datastore[Symbol.asyncDispose]();
}

// The functions that the datastore and base/linux call are put behind a count; at the chosen one the process kills itself, or the call fails.
function installFault({ step, what, nth }: Fault): void {
  let met = 0;
  const die = () => process.kill(process.pid, "SIGKILL");
  const fail = (): never => {
    throw Object.assign(new Error(`${what}: made up`), { code: what, errno: -5 });
  };
  const isNow = (name: Step) => name === step && ++met === nth;
  const around = <A extends unknown[], R>(
    name: Step | ((...args: A) => Step | undefined),
    call: (...args: A) => R,
    half?: (...args: A) => void,
  ) =>
    function (this: unknown, ...args: A): R {
      const at = typeof name === "string" ? name : name(...args);
      if (at === undefined || !isNow(at)) return call.apply(this, args);
      if (what === "EIO" || what === "ENOSPC") return fail();
      if (what === "before") die();
      if (what === "half" && half !== undefined) {
        half.apply(this, args);
        die();
      }
      const result = call.apply(this, args);
      if (result instanceof Promise) return result.finally(die) as R;
      die();
      return result;
    };
  const isTemporary = (path: unknown) => String(path).endsWith(".tmp");
  const { writeSync } = fs;
  fs.promises.open = around((path) => (isTemporary(path) ? "open" : undefined), fs.promises.open);
  fs.promises.rename = around("rename", fs.promises.rename);
  fs.promises.unlink = around("unlink", fs.promises.unlink);
  fs.writeFileSync = around((path) => (String(path).endsWith("/writing") ? "mark" : undefined), fs.writeFileSync);
  fs.truncateSync = around((path) => (String(path).endsWith("/writing") ? "unmark" : undefined), fs.truncateSync);
  fs.writeSync = around(
    (_fd, bytes) => (typeof bytes === "string" ? undefined : "log"),
    writeSync as (fd: number, bytes: Buffer, from: number, length: number, at: number) => number,
    (fd, bytes, from, length, at) => void writeSync(fd, bytes, from, Math.floor(length / 2), at),
  ) as typeof writeSync;
  const exec = DatabaseSync.prototype.exec;
  DatabaseSync.prototype.exec = around(
    (sql) => (sql === "ROLLBACK" ? "unlock" : sql.startsWith("BEGIN") ? "lock" : undefined),
    exec,
  );
  syncBuiltinESMExports();
  patchHandles(around);
}

type Around = <A extends unknown[], R>(
  name: Step | ((...args: A) => Step | undefined),
  call: (...args: A) => R,
  half?: (...args: A) => void,
) => (...args: A) => R;

/** File handles have one prototype; the first one opened shows it. */
function patchHandles(around: Around): void {
  const fd = fs.openSync(".", "r");
  fs.closeSync(fd);
  const patched = fs.promises.open(".", "r").then(async (handle) => {
    const prototype = Object.getPrototypeOf(handle) as fs.promises.FileHandle;
    const { sync, writeFile, chmod } = prototype;
    const syncOf = function (this: fs.promises.FileHandle): Promise<void> {
      const step = fs.fstatSync(this.fd).isDirectory() ? "sync folder" : "sync file";
      return around(step, () => sync.call(this))();
    };
    prototype.sync = syncOf;
    prototype.writeFile = around("write", writeFile, function (this: fs.promises.FileHandle, data) {
      const bytes = Buffer.from(String(data));
      fs.writeFileSync(this.fd, bytes.subarray(0, bytes.length / 2));
    }) as typeof writeFile;
    prototype.chmod = around("mode", chmod);
    await handle.close();
  });
  void patched;
}
