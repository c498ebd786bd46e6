// patch KIND NAME -p JSON: reads an object, changes it, and writes it in the place of what was read.
import { isRecord, parseJson, systemClock } from "../../../base/lib/index.ts";
import { isResourceError, type Resources, refusedByCtl, type V3Object } from "../../../calico/resources/index.ts";
import type { Run } from "../command.ts";
import { type Console, CtlError } from "../console.ts";
import { DocumentError, readDocument } from "../input/read-document.ts";
import { jsonPatched } from "./patching/json-patch.ts";
import { mergePatched, PatchProblem, strategicPatched } from "./patching/merge.ts";
import { withVersions } from "./running/perform.ts";
import { fateOf } from "./running/run-verb.ts";
import { Turns } from "./running/turns.ts";
import { failureOf, isSilence, reasonOf } from "./said/reasons.ts";
import { suggestionFor } from "./said/suggest.ts";
import { flagsOf, type Target, targetsOfWords } from "./targets/targets.ts";

const types = {
  strategic: { apply: strategicPatched, name: "strategic merge patch" },
  merge: { apply: mergePatched, name: "merge patch" },
  json: { apply: jsonPatched, name: "JSON patch" },
} as const;
type PatchType = (typeof types)[keyof typeof types];

export const patch: Run = async (invocation, console) => {
  const { words, value, connect } = invocation;
  const [target] = targetsOfWords(words.slice(0, 2), flagsOf(invocation));
  if (target === undefined) throw new CtlError("patch needs a KIND and a NAME");
  const type = typeOf(value("type") ?? "strategic");
  const { resources } = await connect();
  await patchOne(target, { type, patch: value("patch") ?? "", resources, console });
  console.out(`Successfully patched 1 '${target.kind}' resource\n`);
  return 0;
};

/** The original takes any word for strategic. */
function typeOf(word: string): PatchType {
  if (Object.hasOwn(types, word)) return types[word as keyof typeof types];
  throw new CtlError(`unknown patch type '${word}', expected one of: ${Object.keys(types).join(", ")}`);
}

type Context = { type: PatchType; patch: string; resources: Resources; console: Console };

/** As often as the original writes an object that others write too. */
const mostAttempts = 5;

async function patchOne(target: Target, context: Context): Promise<void> {
  const { kind, id, refusal } = target;
  const { resources, console } = context;
  const { signal } = console;
  const turns = new Turns({ clock: systemClock, random: Math.random, signal });
  for (let attempt = 1; ; attempt++) {
    const current = await got(turns, target, context, refusal);
    const next = patchedObject(current, context);
    const moves = next.metadata.resourceVersion !== current.metadata.resourceVersion;
    try {
      const refused = refusedByCtl("replace", kind, id);
      if (refused !== undefined) throw refused;
      await turns.take(() => resources.update(next.kind, next, { signal }));
      return;
    } catch (error) {
      // Somebody else was faster; unless the patch itself says which version it is for.
      const isRace = isResourceError(error, "conflict") && !moves && next.metadata.name === id.name;
      if (isRace && attempt < mostAttempts) continue;
      const fate = isSilence(error) ? `; ${(await fateOf("patch", target, resources)).text}` : "";
      const told = await withVersions(error, { kind, id, object: next }, { resources, call: { signal } });
      throw failureOf([`hit error: updating existing resource: ${reasonOf(told)}${fate}`], { cause: told });
    }
  }
}

async function got(
  turns: Turns,
  target: Target,
  { resources, console }: Context,
  refusal: Target["refusal"],
): Promise<V3Object> {
  const { kind, id } = target;
  const { signal } = console;
  try {
    if (refusal !== undefined) throw refusal;
    return await turns.take(() => resources.get(kind, id, { signal }));
  } catch (error) {
    const suggestion = await suggestionFor(error, target, { resources, signal });
    const lines = [`hit error: ${reasonOf(error)}`, ...(suggestion === undefined ? [] : [suggestion])];
    throw failureOf(lines, { cause: error });
  }
}

function patchedObject(current: V3Object, { type, patch }: Pick<Context, "type" | "patch">): V3Object {
  const failed = (why: string, cause: unknown) => new CtlError(`hit error: performing ${type.name}: ${why}`, { cause });
  let changed: unknown;
  try {
    changed = type.apply(current, readPatch(patch, type));
  } catch (error) {
    if (error instanceof PatchProblem) throw failed(error.message, error);
    throw failed("invalid JSON document", error);
  }
  try {
    const [read] = readDocument(changed);
    if (read !== undefined) return read.object;
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    const { message } = error;
    const isUnknown = message.startsWith("field in document");
    throw new CtlError(isUnknown ? message : `hit error: creating resource from patched data: ${message}`, {
      cause: error,
    });
  }
  throw new CtlError("hit error: creating resource from patched data: no object is left");
}

/** Of a list of operations, or of an object; the original takes null for one without members. Throws SyntaxError. */
function readPatch(text: string, type: PatchType): unknown {
  const read = parseJson(text);
  if (type === types.json ? Array.isArray(read) : isRecord(read)) return read;
  if (read === null && type !== types.json) return {};
  throw new SyntaxError(text);
}
