// label KIND NAME KEY=VALUE ...: sets, changes and removes labels of one object. Several are one write: all or none.

import { systemClock } from "../../../base/lib/index.ts";
import {
  isResourceError,
  nameInMessages,
  ResourceError,
  type ResourceId,
  type Resources,
  refusedByCtl,
} from "../../../calico/resources/index.ts";
import type { Run } from "../command.ts";
import { type Console, CtlError } from "../console.ts";
import { Turns } from "./running/turns.ts";
import { type LabelChange, type LabelOptions, readLabels, relabelled } from "./said/labels.ts";
import { failureOf, reasonOf } from "./said/reasons.ts";
import { suggestionFor } from "./said/suggest.ts";
import { flagsOf, type Target, targetsOfWords } from "./targets/targets.ts";

export const label: Run = async (invocation, console) => {
  const [word = "", name = "", ...labels] = invocation.words;
  const what = `${word} ${name}`;
  const options = { removes: invocation.isSet("remove"), overwrites: invocation.isSet("overwrite") };
  const changes = readLabels(labels, options);
  const target = targetOf(what, [word, name], invocation);
  const { resources } = await invocation.connect();
  const lines = await relabel(target, changes, { what, options, resources, console });
  for (const line of lines) console.out(`${line}\n`);
  return 0;
};

function targetOf(what: string, words: readonly string[], invocation: Parameters<Run>[0]): Target {
  try {
    const [target] = targetsOfWords(words, flagsOf(invocation));
    // In a namespace where it cannot be, it is not; the original says no more.
    if (target?.refusal !== undefined) throw new CtlError(`${what} not found`, { cause: target.refusal });
    if (target !== undefined) return target;
  } catch (error) {
    if (error instanceof CtlError && isResourceError(error.cause)) throw error;
    throw failureOf([`failed to get ${what}, error ${reasonOf(error)}`], { cause: error });
  }
  throw new CtlError(`failed to get ${what}, error resource name may not be empty`);
}

type Context = { what: string; options: LabelOptions; resources: Resources; console: Console };

/** Answers what was done to each label. */
async function relabel(
  target: Target,
  changes: readonly LabelChange[],
  { what, options, resources, console }: Context,
): Promise<readonly string[]> {
  const { kind, id } = target;
  const { signal } = console;
  let lines: readonly string[] = [];
  const turns = new Turns({ clock: systemClock, random: Math.random, signal });
  try {
    const edited = await turns.take(() =>
      resources.edit(
        kind,
        id,
        (current) => {
          if (current === undefined) throw new ResourceError("not-found", nameInMessages(kind, id));
          const { object, says } = relabelled(current, changes, { what, ...options });
          lines = says;
          refuseReadOnly(target, id);
          return object;
        },
        { signal },
      ),
    );
    if (edited !== undefined) return lines;
    throw new ResourceError("not-found", nameInMessages(kind, id));
  } catch (error) {
    throw await failed(error, target, { what, resources, console });
  }
}

function refuseReadOnly({ kind }: Target, id: ResourceId): void {
  const refused = refusedByCtl("replace", kind, id);
  if (refused !== undefined) throw refused;
}

async function failed(
  error: unknown,
  target: Target,
  { what, resources, console }: Omit<Context, "options">,
): Promise<CtlError> {
  if (error instanceof CtlError) return error;
  if (isResourceError(error, "not-found")) {
    const suggestion = await suggestionFor(error, target, { resources, signal: console.signal });
    const lines = [`${what} not found`, ...(suggestion === undefined ? [] : [suggestion])];
    return failureOf(lines, { cause: error });
  }
  if (isResourceError(error, "no-such-kind", "unreadable")) {
    return failureOf([`failed to get ${what}, error ${reasonOf(error)}`], { cause: error });
  }
  return failureOf([`failed to update ${what}, label not changed: ${reasonOf(error)}`], { cause: error });
}
