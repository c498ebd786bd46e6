// create, apply and replace: the objects of -f, written.
import { silentLog, systemClock } from "../../../base/lib/index.ts";
import { type Datastore, isDatastoreError } from "../../../calico/datastore/index.ts";
import { initialiseDatastore, isResourceError } from "../../../calico/resources/index.ts";
import type { Invocation, Run } from "../command.ts";
import type { Console } from "../console.ts";
import { perform } from "./running/perform.ts";
import { forEachTarget } from "./running/run-verb.ts";
import { end } from "./said/end.ts";
import { countedEnding, nothingSpecified } from "./said/messages.ts";
import { requireFilename } from "./targets/require-filename.ts";
import { targetsOfInput } from "./targets/targets.ts";

export const create: Run = (invocation, console) => write("create", invocation, console);
export const replace: Run = (invocation, console) => write("replace", invocation, console);
export const apply: Run = async (invocation, console) => {
  if (!invocation.isSet("dry-run")) return await write("apply", invocation, console);
  const { applyDry } = await import("./changes/dry-run.ts");
  return await applyDry(invocation, console);
};

async function write(
  verb: "create" | "apply" | "replace",
  invocation: Invocation,
  console: Console,
): Promise<number> {
  requireFilename(verb, invocation);
  const targets = await targetsOfInput(invocation, console);
  if (targets.length === 0) {
    console.out(nothingSpecified);
    return 0;
  }
  const { datastore, resources } = await invocation.connect();
  const { signal } = console;
  await writeFirst(datastore, signal);
  const options = { skipsExisting: invocation.isSet("skip-exists"), skipsMissing: false };
  const outcomes = await forEachTarget(verb, targets, {
    signal,
    doing: (target, late) => perform(verb, target, { resources, call: { signal: late }, options }),
  });
  const ended = outcomes.flatMap((outcome, at) => {
    const target = targets[at];
    return target === undefined ? [] : [{ target, outcome }];
  });
  return await end(verb, ended, { words: (endings) => countedEnding(verb, endings), console, resources });
}

/** What every datastore must have. As in the original, nobody is told when that fails: the objects themselves will. */
export async function writeFirst(datastore: Datastore, signal: AbortSignal): Promise<void> {
  const newClusterGuid = () => crypto.randomUUID().replaceAll("-", "");
  try {
    await initialiseDatastore(datastore, { clock: systemClock, log: silentLog, signal, newClusterGuid });
  } catch (error) {
    if (!isDatastoreError(error) && !isResourceError(error) && !signal.aborted) throw error;
  }
}
