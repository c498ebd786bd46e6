// The end of a verb that was done to many objects: what became of each, made into the original's words, what it does not
// say (what may have been written, what was not tried, which name was meant), and for whoever sits at a terminal where the
// objects stand. Advice is with the errors themselves, which go along as the cause.
import type { Resources } from "../../../../calico/resources/index.ts";
import type { Console } from "../../console.ts";
import type { Outcome } from "../running/run-all.ts";
import { fateOf } from "../running/run-verb.ts";
import { rateLimitOf } from "../running/turns.ts";
import { nameOf, type Target } from "../targets/targets.ts";
import type { Ending, Said } from "./messages.ts";
import { failureOf, hintsFor, isSilence, reasonOf } from "./reasons.ts";
import { suggestionFor } from "./suggest.ts";

type Ended<T> = { readonly target: Target; readonly outcome: Outcome<T> };

/** Prints what was done; throws CtlError where anything was not. Without a datastore (validate) nothing is looked up. */
export async function end<T>(
  verb: string,
  ended: readonly Ended<T>[],
  context: { words: (endings: readonly Ending[]) => Said; console: Console; resources?: Resources },
): Promise<number> {
  const { words, console, resources } = context;
  const endings = await endingsOf(verb, ended, resources);
  const { out, failure } = endings.length === 0 ? { out: "", failure: undefined } : words(endings);
  if (out !== "") console.out(out);
  const rest = notTried(ended);
  if (failure === undefined && rest === undefined) return 0;
  const lines = [failure, ...(await hints(ended, { console, resources })), rest].filter((line) => line !== undefined);
  throw failureOf(lines, { cause: errorsOf(ended) });
}

function errorsOf<T>(ended: readonly Ended<T>[]): readonly unknown[] {
  return ended.flatMap(({ outcome }) => (outcome.is === "failed" ? [outcome.error] : []));
}

async function endingsOf<T>(
  verb: string,
  ended: readonly Ended<T>[],
  resources: Resources | undefined,
): Promise<readonly Ending[]> {
  const endings: Ending[] = [];
  let doesAnswer = resources !== undefined;
  for (const { target, outcome } of ended) {
    if (outcome.is === "not tried") continue;
    const { kind } = target;
    if (outcome.is === "done") endings.push({ kind, failure: undefined });
    else {
      const { error } = outcome;
      const reason = reasonOf(error);
      const fate = hasFate(verb, error) ? await lookedUp(verb, target, doesAnswer ? resources : undefined) : undefined;
      doesAnswer &&= fate?.isKnown ?? true;
      const isMisplaced = target.refusal !== undefined;
      endings.push({ kind, failure: fate === undefined ? reason : `${reason}; ${fate.text}`, isMisplaced });
    }
  }
  return endings;
}

/** Who is told to come later has written nothing, unless it was in the middle of several steps. */
function hasFate(verb: string, error: unknown): boolean {
  if (verb === "validate" || !isSilence(error)) return false;
  return verb === "delete" || rateLimitOf(error) === undefined;
}

async function lookedUp(verb: string, target: Target, resources: Resources | undefined) {
  if (resources === undefined) return { text: `whether ${nameOf(target)} was changed is not known`, isKnown: false };
  return await fateOf(verb, target, resources);
}

async function hints<T>(
  ended: readonly Ended<T>[],
  { console, resources }: { console: Console; resources: Resources | undefined },
): Promise<readonly string[]> {
  const lines: string[] = [];
  let asked = 0;
  for (const { target, outcome } of ended) {
    if (outcome.is !== "failed") continue;
    const { error } = outcome;
    const { where } = target;
    if (console.isTerminal && where !== undefined) {
      lines.push(...(await hintsFor(error, { name: nameOf(target), where })));
    }
    if (resources === undefined || asked++ >= mostLists) continue;
    const suggestion = await suggestionFor(error, target, { resources, signal: console.signal });
    if (suggestion !== undefined) lines.push(suggestion);
  }
  return [...new Set(lines)];
}

/** Whoever misspells a hundred names has another problem. */
const mostLists = 3;

function notTried<T>(ended: readonly Ended<T>[]): string | undefined {
  const left = ended.flatMap(({ target, outcome }) =>
    outcome.is === "not tried" ? [{ name: nameOf(target), why: outcome.why }] : [],
  );
  const [first] = left;
  if (first === undefined) return undefined;
  return `Not tried, because ${first.why}: ${left.map(({ name }) => name).join(", ")}`;
}
