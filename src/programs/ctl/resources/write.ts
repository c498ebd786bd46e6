// create, apply and replace: the objects of -f, written.
import type { Invocation, Run } from "../command.ts";
import type { Console } from "../console.ts";
import { perform } from "./running/perform.ts";
import { forEachTarget } from "./running/run-verb.ts";
import { end } from "./said/end.ts";
import { countedEnding, nothingSpecified } from "./said/messages.ts";
import { requireFilename } from "./targets/require-filename.ts";
import { targetsOfInput } from "./targets/targets.ts";
import { writeFirst } from "./write-first.ts";

export const create: Run = (invocation, console) => write("create", invocation, console);
export const replace: Run = (invocation, console) => write("replace", invocation, console);
export const apply: Run = async (invocation, console) => {
  if (!invocation.isSet("dry-run")) return await write("apply", invocation, console);
  const { applyDry } = await import("./changes/dry-run.ts");
  return await applyDry(invocation, console);
};

async function write(verb: "create" | "apply" | "replace", invocation: Invocation, console: Console): Promise<number> {
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
