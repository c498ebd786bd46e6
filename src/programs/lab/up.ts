// Starts a lab: what has to be done outside of it, before everything else happens inside.
//
//   listen for the dashboard ─▶ relay to a given datastore ─▶ unshare (user, mount, net, pid, uts) ─▶ keeper ─▶ its progress, until it is ready
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { CattailError, isRecord, messageOf, parseJson } from "../../base/lib/index.ts";
import { openNetlink } from "../../base/linux/kernel.ts";
import { type DatastoreFlags, givenDatastore, requireReadable } from "./cluster/given-datastore.ts";
import { launcher } from "./cluster/launcher.ts";
import { removeLab } from "./down.ts";
import type { PingRow } from "./matrix-table.ts";
import {
  isAlive,
  keeperLog,
  type LabMode,
  type LabState,
  logsOf,
  prepareFolder,
  readState,
  startTicksOf,
  stateFile,
  writeState,
} from "./state.ts";
import { nodeName } from "./world/index.ts";

export type UpOptions = DatastoreFlags & {
  readonly folder: string;
  readonly nodes: number;
  readonly mode: LabMode;
  readonly isDualStack: boolean;
  readonly dashboardPort: number;
  readonly say: (line: string) => void;
};

export type StartedLab = {
  readonly rows: readonly PingRow[];
  readonly dashboard: string;
  /** Variables for `cattail ctl`. */
  readonly datastore: string;
};

const [dashboardFd, progressFd] = [3, 4];

export async function startLab(options: UpOptions): Promise<StartedLab> {
  const { folder, nodes, mode, isDualStack, say } = options;
  const known = readState(folder);
  if (known !== undefined && isAlive(known))
    throw new CattailError("LAB_RUNNING", {
      problem: `a lab runs in ${folder} already`,
      next: "Use it (cattail lab status), or end it first: cattail lab down",
    });
  requireLinux();
  await openNetlink()[Symbol.asyncDispose](); // a Node that cannot is said here, not by a process of the lab in its log
  requirePrograms(mode);
  await removeLab(folder); // what one left that crashed
  prepareFolder(folder);
  try {
    return await begin(options);
  } catch (error) {
    // What names its logs leaves them; the next lab up, or lab down, removes them.
    if (!process.env.CATTAIL_LAB_KEEP)
      await removeLab(folder, { keepsLogs: messageOf(error).includes(logsOf(folder)) });
    throw error;
  }

  async function begin({ kubeconfig, etcd }: UpOptions): Promise<StartedLab> {
    const isRootless = process.getuid?.() !== 0;
    say(
      isRootless
        ? "not root: everything happens in a user namespace"
        : "as root, in namespaces of its own: nothing of this machine's network is touched",
    );
    const given = await givenDatastore(
      { ...(kubeconfig === undefined ? {} : { kubeconfig }), ...(etcd === undefined ? {} : { etcd }) },
      folder,
    );
    if (given.outside !== undefined) await requireReadable(given.outside);
    const helpers = given.relay === undefined ? [] : [startOutside(given.relay, folder)];
    const server = await listen(options.dashboardPort);
    const address = server.address();
    const dashboard = `http://127.0.0.1:${typeof address === "object" ? address?.port : options.dashboardPort}/`;
    const child = startKeeper(
      { folder, nodes, mode, isDualStack, given, dashboardFd, progressFd },
      { server, isRootless },
    );
    const ended = endOf(child, folder); // listened for at once: where namespaces are forbidden, it is over within milliseconds
    server.close();
    const pid = child.pid ?? 0;
    const names = Array.from({ length: nodes }, (_, i) => nodeName(i + 1));
    const own = given.outside === undefined ? {} : { given: { datastore: given.outside, nodes: names } };
    const state: LabState = { pid, startTicks: startTicksOf(pid) ?? "", isRootless, mode, dashboard, helpers, ...own };
    await writeState(folder, state);
    const rows = await untilReady(child, ended, options);
    child.unref();
    return { rows, dashboard, datastore: given.variables };
  }
}

function requireLinux(): void {
  if (process.platform !== "linux")
    throw new CattailError("LAB_NO_NAMESPACES", {
      problem: "a lab is made of Linux namespaces, and this is not Linux",
      next: "Run it in a Linux machine or container",
    });
}

const packages = {
  unshare: "util-linux",
  nsenter: "util-linux",
  setpriv: "util-linux",
  mount: "mount",
  nft: "nftables",
};

/** Without one of them the lab would come up, and no packet would arrive. */
function requirePrograms(mode: LabMode): void {
  const needed = { ...packages, ...(mode === "bgp" ? { bird: "bird2" } : {}) };
  const folders = (process.env.PATH ?? "").split(":").filter((folder) => folder !== "");
  const missing = Object.entries(needed).filter(([name]) => !folders.some((folder) => existsSync(join(folder, name))));
  if (missing.length === 0) return;
  throw new CattailError("LAB_NO_PROGRAM", {
    problem: `this machine lacks what a lab runs: ${missing.map(([name]) => name).join(", ")}`,
    next: `Install ${[...new Set(missing.map(([, from]) => from))].join(", ")}, or add the folder they are in to PATH (often /usr/sbin)`,
  });
}

/** The wanted port of this machine, or else any. */
async function listen(port: number): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  const attempt = (wanted: number) =>
    new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host: "127.0.0.1", port: wanted }, () => {
        server.off("error", reject);
        resolve();
      });
    });
  await attempt(port).catch(() => attempt(0));
  return server;
}

function startKeeper(options: object, { server, isRootless }: { server: Server; isRootless: boolean }): ChildProcess {
  const { folder } = options as { folder: string }; // of our own making
  const own = ["--mount", "--net", "--pid", "--uts", "--ipc", "--fork", "--kill-child", "--mount-proc"];
  const user = isRootless ? ["--user", "--map-root-user"] : [];
  const log = openSync(keeperLog(folder), "a", 0o600);
  try {
    const words = [...user, ...own, "--", ...launcher().words, "lab", "keep", JSON.stringify(options)];
    return spawn("unshare", words, {
      detached: true,
      stdio: ["ignore", log, log, descriptorOf(server), "pipe"],
    });
  } finally {
    closeSync(log);
  }
}

/** A listening socket is handed on as it is, and stays in the network that it was opened in. Node has no public name for its descriptor. */
function descriptorOf(server: Server): number {
  const { _handle: handle } = server as unknown as { _handle?: { fd?: number } };
  if (handle?.fd === undefined) throw died("", "the dashboard's socket has no descriptor");
  return handle.fd;
}

function startOutside(
  { host, port, socket }: { host: string; port: number; socket: string },
  folder: string,
): { pid: number; startTicks: string } {
  const log = openSync(keeperLog(folder), "a", 0o600);
  try {
    const [program = "", ...words] = [
      ...launcher().words,
      "lab",
      "relay",
      `unix:${socket}`,
      `${host}:${port}`,
      stateFile(folder),
    ];
    const child = spawn(program, words, { detached: true, stdio: ["ignore", log, log] });
    child.unref();
    const pid = child.pid ?? 0;
    return { pid, startTicks: startTicksOf(pid) ?? "" };
  } finally {
    closeSync(log);
  }
}

/** Rejects a moment after the process has ended: what it said last is read before. */
function endOf(child: ChildProcess, folder: string): Promise<never> {
  const ended = new Promise<never>((_, reject) => {
    child.once("error", (error) => reject(died(folder, error.message)));
    child.once("exit", (code, signal) => setTimeout(() => reject(died(folder, `exit ${code ?? signal}`)), 200));
  });
  ended.catch(() => undefined); // some day it does
  return ended;
}

async function untilReady(child: ChildProcess, ended: Promise<never>, { say }: UpOptions): Promise<readonly PingRow[]> {
  const progress = child.stdio[progressFd] as Readable; // it is a pipe, as asked
  const ready = (async () => {
    for await (const line of createInterface({ input: progress })) {
      const read = parseJson(line);
      if (!isRecord(read)) continue;
      if (typeof read.says === "string") say(read.says);
      if (isRecord(read.failed)) throw failed(read.failed);
      if (isRecord(read.ready)) return read.ready.rows as readonly PingRow[]; // of the same program
    }
    return await ended;
  })();
  const rows = await Promise.race([ready, ended]);
  progress.destroy();
  return rows;
}

function failed({ code, problem, next }: { readonly [name: string]: unknown }): CattailError {
  return new CattailError(String(code), { problem: String(problem), next: String(next) });
}

function died(folder: string, how: string): CattailError {
  // The log goes with the folder of a lab that did not start.
  const said = existsSync(keeperLog(folder)) ? readFileSync(keeperLog(folder), "utf8").trim() : "";
  return new CattailError("LAB_NO_NAMESPACES", {
    problem: `the lab's first process ended (${how}) before the lab was ready${said === "" ? "" : `; it said\n${said.slice(-2000)}\n`}`,
    next: "Run it as root. Without root the kernel has to allow user namespaces: sysctl user.max_user_namespaces says how many; on Ubuntu sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, on older Debian sysctl -w kernel.unprivileged_userns_clone=1; in a container, its runtime has to allow them",
  });
}
