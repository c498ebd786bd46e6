// get: all objects of a kind, those that are named, or those of -f; in the format of -o. What cannot be read is told beside
// the rest, and what is not there does not hide what is.
import { isResourceError, type Resources } from "../../../calico/resources/index.ts";
import type { Invocation, Run } from "../command.ts";
import { type Console, CtlError } from "../console.ts";
import { InputError } from "../input/read-input.ts";
import { readOutputFormat } from "../output/output-format.ts";
import { print, type Result } from "../output/print.ts";
import type { Outcome } from "./running/run-all.ts";
import { forEachTarget } from "./running/run-verb.ts";
import { exported } from "./said/exported.ts";
import { failureOf, reasonOf } from "./said/reasons.ts";
import { suggestionFor } from "./said/suggest.ts";
import { flagsOf, nameOf, type Target, targetsOfInput, targetsOfWords } from "./targets/targets.ts";

export const get: Run = async (invocation, console) => {
  const format = readOutputFormat(invocation.value("output") ?? "ps");
  const targets = await beforeAnything(() => targetsOf(invocation, console));
  const { resources } = await invocation.connect();
  const { namespace, isEverywhere } = flagsOf(invocation);
  // Of objects that are named on the command line; as the original has it, not of those of a file.
  const isExport = invocation.isSet("export") && invocation.words.length > 1;
  const options = {
    showsNamespace: isEverywhere || namespace !== "",
    defaultAsNumber: () => defaultAsNumber(resources, console.signal),
  };
  if (invocation.isSet("watch")) {
    const { follow } = await import("./following/follow.ts");
    return await follow(targets, { resources, console, format, options });
  }
  const outcomes = await forEachTarget("get", targets, {
    signal: console.signal,
    doing: (target, signal) => ask(target, { resources, signal, isExport }),
  });
  const found = outcomes.flatMap((outcome) => (outcome.is === "done" ? [outcome.value] : []));
  await print(
    found.map(({ result }) => result),
    format,
    { ...options, console },
  );
  await complain({ targets, outcomes, resources, console });
  return 0;
};

async function targetsOf(invocation: Invocation, console: Console): Promise<readonly Target[]> {
  const { words, value } = invocation;
  if (value("filename") !== undefined) return await targetsOfInput(invocation, console);
  if (words.length === 0) throw new CtlError("a KIND is needed, or --filename (-f)");
  return targetsOfWords(words, flagsOf(invocation));
}

/** What a file is wrong with has its own words; all else that ends the command before a question is said as this. */
async function beforeAnything<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const isOwn = error instanceof InputError ? error.isEmpty : error instanceof CtlError;
    if (!isOwn || !(error instanceof Error)) throw error;
    throw new CtlError(`failed to get resources: ${error.message}`, { cause: error });
  }
}

type Found = { readonly result: Result; readonly problems: readonly string[] };

async function ask(
  target: Target,
  { resources, signal, isExport }: { resources: Resources; signal: AbortSignal; isExport: boolean },
): Promise<Found> {
  const { kind, id, isEverywhere, refusal } = target;
  if (refusal !== undefined) throw refusal;
  if (id.name !== "") {
    const object = await resources.get(kind, id, { signal });
    return { result: { is: "object", object: isExport ? exported(object) : object }, problems: [] };
  }
  const within = id.namespace === "" || isEverywhere ? {} : { within: { namespace: id.namespace } };
  const { items, unreadable, revision } = await resources.list(kind, { signal, ...within });
  return {
    result: { is: "list", kind, items, resourceVersion: revision },
    problems: unreadable.map((bad) => `${nameOf({ kind, id: bad.id })} cannot be read: ${bad.problem}`),
  };
}

/** All that went wrong, after what was found. */
async function complain({
  targets,
  outcomes,
  resources,
  console,
}: {
  targets: readonly Target[];
  outcomes: readonly Outcome<Found>[];
  resources: Resources;
  console: Console;
}): Promise<void> {
  const errors: unknown[] = [];
  const lines: string[] = [];
  const suggestions: string[] = [];
  for (const [at, outcome] of outcomes.entries()) {
    const target = targets[at];
    if (target === undefined) continue;
    if (outcome.is === "done") lines.push(...outcome.value.problems);
    else if (outcome.is === "not tried") lines.push(`${nameOf(target)} was not asked for, because ${outcome.why}`);
    else {
      errors.push(outcome.error);
      lines.push(reasonOf(outcome.error));
      const suggestion = await suggestionFor(outcome.error, target, { resources, signal: console.signal });
      if (suggestion !== undefined) suggestions.push(suggestion);
    }
  }
  if (lines.length > 0) throw failureOf([...lines, ...suggestions], { cause: errors });
}

const asNumberOfCalico = 64512;

/** Undefined: it cannot be read. */
async function defaultAsNumber(resources: Resources, signal: AbortSignal): Promise<number | undefined> {
  try {
    const { spec } = await resources.get("BGPConfiguration", { namespace: "", name: "default" }, { signal });
    return typeof spec.asNumber === "number" ? spec.asNumber : asNumberOfCalico;
  } catch (error) {
    if (isResourceError(error, "not-found")) return asNumberOfCalico;
    if (isResourceError(error)) return undefined;
    throw error;
  }
}
