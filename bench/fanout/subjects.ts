// The servers under test, each a process of its own: ours, and the Go server that encodes for every client. Both are fed the
// same JSON lines; both serve the same certificates. against.ts adds a third that reads etcd.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { buildSync } from "esbuild";
import { goPeer } from "../../test/kit/go.ts";
import { serverFlags } from "../../tools/server-flags.ts";
import { type Use, useOf } from "./process-use.ts";

export type Kv = { key: string; value: string | null; type: 1 | 2 | 3 };
export type ServerName = "cattail" | "go-per-client" | "against";

export type Subject = AsyncDisposable & {
  readonly name: ServerName;
  readonly port: number;
  readonly pid: number;
  /** Resolves when the server has been handed the updates, not when clients have them. */
  apply(kvs: readonly Kv[]): Promise<void>;
  setInSync(): Promise<void>;
  use(): Use;
};

export type TlsFlags = { readonly ca: string; readonly cert: string; readonly key: string } | undefined;

export async function startCattail(options: { workers: number | undefined; tls: TlsFlags }): Promise<Subject> {
  const workers = options.workers === undefined ? [] : ["--workers", `${options.workers}`];
  // As released: bundled JavaScript. Stripping types at start would be measured too, in memory above all.
  const folder = mkdtempSync(join(process.cwd(), "node_modules", ".bench-fanout-"));
  const bundle = (entry: string, out: string) =>
    buildSync({
      entryPoints: [entry],
      outfile: join(folder, out),
      bundle: true,
      platform: "node",
      format: "esm",
      packages: "external",
    });
  bundle("bench/fanout/cattail-server.ts", "cattail-server.mjs");
  bundle("src/typha/server/threads/worker.ts", "worker.js");
  const program = [join(folder, "cattail-server.mjs"), ...workers, ...tlsArguments(options.tls)];
  const child = spawn(process.execPath, [...serverFlags, ...profileFlags(), ...program], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { MALLOC_ARENA_MAX: "2", ...process.env }, // as bin/cattail sets it
  });
  child.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return fedByLines("cattail", child);
}

/** BENCH_PROFILE names a folder for CPU profiles of our server, one for each thread. */
export function profileFlags(): string[] {
  const folder = process.env.BENCH_PROFILE;
  return folder === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${folder}`];
}

/** The path of `cattail` as it is installed from a package: without src/, so that it runs what was built. */
export function released(): string {
  execFileSync(process.execPath, ["tools/build.ts"], { stdio: ["ignore", "ignore", "inherit"] });
  const folder = mkdtempSync(join(process.cwd(), "node_modules", ".bench-fanout-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const part of ["bin", "dist", "package.json"]) cpSync(part, join(folder, part), { recursive: true });
  return join(folder, "bin", "cattail");
}

export async function startGoPerClient(options: { tls: TlsFlags }): Promise<Subject> {
  const peer = await goPeer("test/peers/typha/server");
  if (peer.path === undefined) throw new Error(`the Go server cannot be built: ${peer.missing}`);
  const program = ["--listen", "127.0.0.1:0", "--updates-stdin", ...tlsArguments(options.tls)];
  return fedByLines("go-per-client", spawn(peer.path, program, { stdio: ["pipe", "pipe", "ignore"] }));
}

function tlsArguments(tls: TlsFlags): string[] {
  return tls === undefined ? [] : ["--ca", tls.ca, "--cert", tls.cert, "--key", tls.key];
}

async function fedByLines(name: ServerName, child: ChildProcess): Promise<Subject> {
  const { stdin, stdout, pid } = child;
  if (stdin === null || stdout === null || pid === undefined) throw new Error(`${name} did not start`);
  const exited = once(child, "exit"); // from the start: what it is put through may end it
  const [line] = (await once(createInterface(stdout), "line")) as [string];
  const { listening } = JSON.parse(line) as { listening: string }; // the first line of both programs
  let revision = 0;
  const write = async (object: object): Promise<void> => {
    if (!stdin.write(`${JSON.stringify(object)}\n`)) await once(stdin, "drain");
  };
  return {
    name,
    port: Number(listening.split(":").at(-1)),
    pid,
    apply: (kvs) =>
      write({
        syncer: "felix",
        kvs: kvs.map((kv) => {
          revision += 1;
          return { ...kv, revision: `${revision}`, v3rv: "" };
        }),
      }),
    setInSync: () => write({ syncer: "felix", status: 2 }),
    use: () => useOf(pid),
    async [Symbol.asyncDispose]() {
      stdin.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), 5000);
      await exited;
      clearTimeout(timer);
    },
  };
}
