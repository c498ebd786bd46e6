// An earlier release with its dependencies, beside which this one is tried: CATTAIL_RELEASE_0_1 names a checkout of it. Without, it is taken from this
// repository's history, once, and kept beside the Go peers. Where there is no history, or no registry, the answer is the reason.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { peerCache } from "./go.ts";

const run = promisify(execFile);

/** 0.1.0 has no tag. */
const lastCommit = "bbd78c0";
/** What a machine without a registry says. */
const noRegistry = /ENOTCACHED|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ECONNRESET|E40\d|E50\d/;

export type OlderRelease = { readonly path: string } | { readonly path?: undefined; readonly missing: string };

export async function release01(): Promise<OlderRelease> {
  const named = process.env.CATTAIL_RELEASE_0_1;
  if (named !== undefined) return { path: resolve(named) };
  const path = join(peerCache, `release-0.1-${lastCommit}`);
  if (existsSync(path)) return { path };
  const part = `${path}.part-${process.pid}`;
  try {
    await run("git", ["cat-file", "-e", `${lastCommit}^{commit}`]);
  } catch {
    return {
      missing: `this is no clone with the whole history, and CATTAIL_RELEASE_0_1 does not name a checkout of 0.1`,
    };
  }
  try {
    mkdirSync(part, { recursive: true });
    await run("git", ["archive", "--output", join(part, "all.tar"), lastCommit]);
    await run("tar", ["-xf", "all.tar"], { cwd: part });
    await run("npm", ["ci", "--no-audit", "--no-fund"], { cwd: part, timeout: 540_000, maxBuffer: 1 << 26 });
    if (!existsSync(path)) renameSync(part, path); // another clone's tests may have been faster
    return { path };
  } catch (error) {
    const { stderr = "" } = error as { stderr?: string }; // what execFile rejects with
    if (!noRegistry.test(stderr)) throw error;
    return { missing: "the packages of 0.1 cannot be fetched" };
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
}
