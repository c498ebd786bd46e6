// Where a lab keeps what it has, and whether it runs: by the process that holds all of it, and when that was started, so that another process
// that has its number one day is not taken for it.
import { lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
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
  if (environment.CATTAIL_LAB_FOLDER) return environment.CATTAIL_LAB_FOLDER;
  if (process.getuid?.() === 0) return "/run/cattail-lab";
  const { XDG_RUNTIME_DIR } = environment;
  return join(XDG_RUNTIME_DIR || "/tmp", `cattail-lab-${process.getuid?.() ?? 0}`);
}

export const socketOf = (folder: string): string => join(folder, "lab.sock");
export const keeperLog = (folder: string): string => join(folder, "logs", "keeper.log");
export const stateFile = (folder: string): string => join(folder, "state.json");

/** In /tmp anybody may have been there first, and would own what the lab's processes are told by. */
export function prepareFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid } = lstatSync(folder);
  if (uid !== process.getuid?.()) {
    throw new CattailError("LAB_FOLDER", {
      problem: `the lab's folder ${folder} belongs to user ${uid}`,
      next: "Remove it, or set CATTAIL_LAB_FOLDER to a folder of your own",
    });
  }
  mkdirSync(join(folder, "logs"), { recursive: true, mode: 0o700 });
}

export async function writeState(folder: string, state: LabState): Promise<void> {
  await replaceFile(stateFile(folder), `${JSON.stringify(state, undefined, 2)}\n`, { mode: 0o600 });
}

/** Undefined: there is none, or none that can be read. */
export function readState(folder: string): LabState | undefined {
  try {
    const read = parseJson(readFileSync(stateFile(folder), "utf8"));
    return isRecord(read) && typeof read.pid === "number" ? (read as LabState) : undefined; // written above
  } catch {
    return undefined; // no lab
  }
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
