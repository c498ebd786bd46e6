// Removes a lab: its processes, its folder, and what it has written into a datastore that it was given.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { messageOf, silentLog, systemClock } from "../../base/lib/index.ts";
import { openDatastore } from "../../calico/datastore/index.ts";
import { removeLeftovers } from "./cluster/leftovers.ts";
import { childOf, isAlive, type LabState, logsOf, markOf, readState, startTicksOf } from "./state.ts";

export type Removed = {
  readonly wasThere: boolean;
  /** Why its objects are still in the datastore that it was given. */
  readonly stays?: string;
};

/** By the mark the folder is still known for a lab's. */
const staying = [basename(logsOf("")), basename(markOf(""))];

/** Everything of it, whether it runs, crashed or never was. */
export async function removeLab(folder: string, { keepsLogs = false } = {}): Promise<Removed> {
  const state = readState(folder);
  if (state === undefined && !existsSync(folder)) return { wasThere: false };
  for (const process of state === undefined ? [] : [state, ...state.helpers]) await endProcess(process);
  const stays = state?.given === undefined ? undefined : await withdraw(state.given);
  const goes = keepsLogs ? readdirSync(folder).filter((name) => !staying.includes(name)) : [""];
  for (const name of goes) rmSync(join(folder, name), { recursive: true, force: true });
  return { wasThere: true, ...(stays === undefined ? {} : { stays }) };
}

const withdrawMs = 30_000;

/** Its objects, from a datastore that goes on without it. Returns why they stay. */
async function withdraw({ datastore: options, nodes }: NonNullable<LabState["given"]>): Promise<string | undefined> {
  try {
    const work = async () => {
      await using datastore = await openDatastore(options, { clock: systemClock, log: silentLog });
      await removeLeftovers(datastore, nodes);
    };
    await Promise.race([work(), systemClock.sleep(withdrawMs).then(() => Promise.reject(new Error("no answer")))]);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

const patienceMs = 10_000;

/** All that a lab has ends with its first process: the kernel sees to that. */
async function endProcess(target: Pick<LabState, "pid" | "startTicks">): Promise<void> {
  if (!isAlive(target)) return;
  const child = childOf(target.pid);
  const childTicks = child === undefined ? undefined : startTicksOf(child);
  process.kill(target.pid, "SIGKILL");
  const deadlineMs = performance.now() + patienceMs;
  const isThere = () =>
    isAlive(target) || (child !== undefined && childTicks !== undefined && startTicksOf(child) === childTicks);
  while (isThere() && performance.now() < deadlineMs) await new Promise((resolve) => setTimeout(resolve, 20));
}
