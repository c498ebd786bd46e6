// Builds the Go programs of test/peers into a cache outside git, once per content of their sources.
// Where Go is missing, or the modules cannot be had, the answer is the reason, and the tests that need the peer are
// skipped with it by name.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

export type GoPeer = { path: string; missing?: undefined } | { path?: undefined; missing: string };

/** Where built peers are kept between runs. */
export const peerCache = resolve(
  process.env.CATTAIL_PEER_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "cattail", "peers"),
);

/**
 * The program built from the Go package in `folder` (relative to the repository root), or why there is none. `package`: one of another module, which
 * the folder's go.mod names.
 */
export async function goPeer(
  folder: string,
  options: { buildMinutes?: number; package?: string } = {},
): Promise<GoPeer> {
  let goVersion: string;
  try {
    goVersion = (await run("go", ["version"])).stdout.trim();
  } catch {
    return { missing: "Go is not installed" };
  }
  const module = moduleOf(folder);
  const sources = globSync(`${module}/**/*.{go,mod,sum,json}`).sort();
  const hash = createHash("sha256").update(goVersion);
  for (const source of sources) hash.update(source).update(readFileSync(source));
  const { package: built = "." } = options;
  const name = built === "." ? relative(dirname(module), folder).replaceAll("/", "-") : basename(built);
  const path = join(peerCache, `${name}-${hash.digest("hex").slice(0, 16)}`);
  if (existsSync(path)) return { path };
  return withLock(`${path}.lock`, async () => {
    if (existsSync(path)) return { path };
    console.log(`building ${folder} with ${goVersion} (kept in ${peerCache} afterwards)`);
    const part = `${path}.part-${process.pid}`;
    try {
      const options_ = {
        cwd: folder,
        timeout: (options.buildMinutes ?? 10) * 60_000,
        env: { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-buildvcs=false", GOTOOLCHAIN: "local" },
        maxBuffer: 1 << 26,
      };
      await run("go", ["build", "-trimpath", "-ldflags=-s -w", "-o", part, built], options_);
      renameSync(part, path);
      return { path };
    } catch (error) {
      const detail = (error as { stderr?: string }).stderr?.trim().split("\n").slice(-3).join("; ") ?? String(error);
      // A machine without the module proxy cannot build; sources that do not compile are a failure of ours.
      if (/dial tcp|no such host|connection refused|i\/o timeout|proxyconnect|410 Gone|404 Not Found/.test(detail)) {
        return { missing: `its Go modules cannot be fetched (${detail})` };
      }
      throw new Error(`go build in ${folder} failed: ${detail}`, { cause: error });
    }
  });
}

/** The nearest folder above a package that makes a module of it: all of its sources may go into the program. */
function moduleOf(folder: string): string {
  for (let at = folder; at !== "."; at = dirname(at)) if (existsSync(join(at, "go.mod"))) return at;
  throw new Error(`${folder} belongs to no Go module`);
}

// Test files run in processes of their own, so the lock is a file: making one that must not exist is atomic everywhere.
async function withLock<T>(lock: string, work: () => Promise<T>): Promise<T> {
  mkdirSync(peerCache, { recursive: true });
  using _ = sayNowAndThen(`waiting for ${lock}`);
  while (!take(lock)) {
    // Whoever was killed while it built is waited for by nobody. Two that find out may both build, each its own file.
    if (!isHeld(lock)) rmSync(lock, { force: true, recursive: true });
    await sleep(500);
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function take(lock: string): boolean {
  try {
    writeFileSync(lock, `${process.pid}`, { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}

function isHeld(lock: string): boolean {
  try {
    // Between making it and writing who has it there is a moment; signalling process 0 would be signalling ourselves.
    const pid = Number(readFileSync(lock, "utf8"));
    if (pid > 0) return process.kill(pid, 0);
    return Date.now() - statSync(lock).mtimeMs < 10_000;
  } catch {
    return false; // it is gone, whoever had it is, or it is none
  }
}

/** A first build takes minutes; who says nothing for so long is taken for stuck (tools/stuck-files.ts). */
function sayNowAndThen(what: string): Disposable {
  const timer = setInterval(() => console.log(`still ${what}`), 60_000);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
