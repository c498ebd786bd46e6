// One call for a pod at a time, whichever process works on it. The agent and the program that a runtime starts may both have the work of one pod: a
// runtime that was killed leaves a call behind which the agent still finishes or undoes, and an agent that is about to end sends new calls away. The
// node's end of the interface is named after the pod, not after the container: two sandboxes of a pod would take it away from each other.
//
//   /var/run/calico/cattail/pods/caliX: locked while a call changes that interface, removed after it. A process that dies lets go of it.
import { dirname, join } from "node:path";
import { type Clock, messageOf } from "../../base/lib/index.ts";
import { makeFoldersSync, tryPassingFlock } from "../../base/linux/files.ts";
import { CniError, cniErrorCodes } from "./protocol/cni-error.ts";

export type PodLockEdge = {
  readonly clock: Clock;
  /** For what is no reason to fail. */
  readonly warn: (text: string) => void;
  /** Ends the waiting, not the work. */
  readonly signal?: AbortSignal | undefined;
};

const lookAgainMs = 5;
/** Half of a runtime's: the other half is for the work. */
const patienceMs = 60_000;

/** Beside the host's lock, which all plugins of a node name alike. */
export function podLockPath(hostLock: string, hostSide: string): string {
  return join(dirname(hostLock), "cattail", "pods", hostSide);
}

/** Throws CniError where it is not free in time. A host where it cannot be had at all works without. */
export async function withPodLock<T>(path: string, edge: PodLockEdge, work: () => Promise<T>): Promise<T> {
  using _held = await taken(path, edge);
  return await work();
}

async function taken(path: string, { clock, warn, signal }: PodLockEdge): Promise<Disposable | undefined> {
  const startMs = clock.monotonicMs();
  while (clock.monotonicMs() - startMs < patienceMs) {
    try {
      makeFoldersSync(dirname(path), 0o700);
      const held = tryPassingFlock(path);
      if (held !== undefined) return held;
    } catch (error) {
      warn(`the pod's lock ${path} cannot be had, and is done without: ${messageOf(error)}`);
      return undefined;
    }
    await clock.sleep(lookAgainMs, signal);
  }
  throw new CniError(cniErrorCodes.tryLater, `another call for the same pod was at work for ${patienceMs / 1000} s`, {
    details: `the runtime calls again; fuser ${path} shows the process that is at work`,
  });
}
