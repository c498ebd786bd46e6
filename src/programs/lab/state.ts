// Where a lab keeps what it has, and whether it runs: by the process that holds all of it, and when that was started, so that another process
// that has its number one day is not taken for it.
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { CattailError, isRecord, parseJson } from "../../base/lib/index.ts";
import { replaceFile } from "../../base/linux/files.ts";
import type { DatastoreOptions } from "../../calico/datastore/index.ts";

export type LabMode = "direct" | "vxlan" | "bgp";

export type LabState = {
  /** Of the process outside that everything else ends with. */
  readonly pid: number;
  readonly startTicks: string;
  readonly isRootless: boolean;
  readonly mode: LabMode;
  readonly dashboard: string;
  /** A datastore of somebody else, that the lab has written into; as it is reached from outside. */
  readonly given?: { readonly datastore: DatastoreOptions; readonly nodes: readonly string[] };
  /** Processes beside it, outside. */
  readonly helpers: readonly { readonly pid: number; readonly startTicks: string }[];
};

export function defaultFolder(environment: NodeJS.ProcessEnv): string {
  if (environment.CATTAIL_LAB_FOLDER) return resolve(environment.CATTAIL_LAB_FOLDER);
  if (process.getuid?.() === 0) return "/run/cattail-lab";
  const { XDG_RUNTIME_DIR } = environment;
  return join(XDG_RUNTIME_DIR || "/tmp", `cattail-lab-${process.getuid?.() ?? 0}`);
}

export const socketOf = (folder: string): string => join(folder, "lab.sock");
export const logsOf = (folder: string): string => join(folder, "logs");
export const keeperLog = (folder: string): string => join(logsOf(folder), "keeper.log");
export const stateFile = (folder: string): string => join(folder, "state.json");

export const markOf = (folder: string): string => join(folder, ".cattail-lab");

export function prepareFolder(folder: string): void {
  requireOwn(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(markOf(folder), "Everything in this folder is of a lab, and goes with it: cattail lab down\n");
  mkdirSync(logsOf(folder), { recursive: true, mode: 0o700 });
}

/**
 * What is at this path is ours, or nothing. In /tmp anybody may have been there first, and would own what the lab's processes are told by. And a lab
 * goes with everything in its folder: a wrong --folder must not cost somebody his files.
 */
function requireOwn(folder: string): void {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isDirectory()) throw notOurs(`${folder} is ${found.isSymbolicLink() ? "a link" : "a file"}, not a folder`);
  if (found.uid !== process.getuid?.()) throw notOurs(`the lab's folder ${folder} belongs to user ${found.uid}`);
  if ((found.mode & 0o002) !== 0) throw notOurs(`everybody may write to the lab's folder ${folder}`);
  const [first] = readdirSync(folder);
  // The state alone tells a lab of an older release.
  if (first !== undefined && !existsSync(markOf(folder)) && !isLabState(readJson(stateFile(folder))))
    throw notOurs(`${folder} is no lab's: it has ${JSON.stringify(first)} in it`);
}

function notOurs(problem: string): CattailError {
  const next = "Give --folder, or CATTAIL_LAB_FOLDER, a folder that is not there yet, or that of a lab";
  return new CattailError("LAB_FOLDER", { problem, next });
}

export async function writeState(folder: string, state: LabState): Promise<void> {
  await replaceFile(stateFile(folder), `${JSON.stringify(state, undefined, 2)}\n`, { mode: 0o600 });
}

/** Undefined: there is none, or none that can be read. */
export function readState(folder: string): LabState | undefined {
  requireOwn(folder);
  const read = readJson(stateFile(folder));
  return isLabState(read) ? read : undefined;
}

function readJson(file: string): unknown {
  try {
    return parseJson(readFileSync(file, "utf8"));
  } catch {
    return undefined; // no lab
  }
}

/** As written above. */
function isLabState(read: unknown): read is LabState {
  return isRecord(read) && typeof read.pid === "number" && typeof read.startTicks === "string";
}

export function isAlive({ pid, startTicks }: Pick<LabState, "pid" | "startTicks">): boolean {
  return startTicksOf(pid) === startTicks;
}

/** When a process was started, in the kernel's ticks. Undefined: there is no such process, or it has ended. */
export function startTicksOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" || state === "X" ? undefined : rest[18];
  } catch {
    return undefined; // gone
  }
}

export function childOf(pid: number): number | undefined {
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      if (Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === pid) return Number(name);
    } catch {
      // It has ended meanwhile.
    }
  }
  return undefined;
}

export function requireLab(folder: string): LabState {
  const state = readState(folder);
  if (state !== undefined && isAlive(state)) return state;
  throw new CattailError("LAB_NOT_RUNNING", {
    problem: `no lab runs in ${folder}`,
    next:
      state === undefined
        ? "Start one: cattail lab up"
        : `It ended by itself; ${keeperLog(folder)} may say why. cattail lab down removes what is left, cattail lab up starts a new one`,
  });
}
