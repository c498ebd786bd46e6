// The two patches that are objects. A merge patch (RFC 7396): objects are merged, null removes, everything else replaces.
// A strategic merge is the same here, because no list of Calico's types has a merge key, but for its directives: an object
// with "$patch": "replace" stands for all of the old one, with "$patch": "delete" for nothing.
import { isRecord, type JsonRecord } from "../../../../base/lib/index.ts";

export function mergePatched(target: unknown, patch: unknown): unknown {
  return patched(target, patch, (part) => ({ is: "merge", part }));
}

export function strategicPatched(target: unknown, patch: unknown): unknown {
  return patched(target, patch, directive);
}

type Directive = { readonly is: "merge" | "replace" | "delete"; readonly part: JsonRecord };

/** Objects of Calico have a dozen levels. */
const mostLevels = 200;

function patched(target: unknown, patch: unknown, read: (part: JsonRecord) => Directive, level = 0): unknown {
  if (!isRecord(patch)) return patch;
  if (level > mostLevels) throw new PatchProblem(`the patch has more than ${mostLevels} levels`);
  const { is, part } = read(patch);
  if (is === "delete") return {};
  const base = is === "merge" && isRecord(target) ? target : {};
  // Keys come from users: no plain object, which has some of its own.
  const result = new Map(Object.entries(base));
  for (const [name, value] of Object.entries(part)) {
    if (value === null) result.delete(name);
    else result.set(name, patched(result.get(name), value, read, level + 1));
  }
  return Object.fromEntries(result);
}

/** What no patch can mean. */
export class PatchProblem extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = "PatchProblem";
  }
}

function directive({ $patch = "merge", ...part }: JsonRecord): Directive {
  if ($patch === "merge" || $patch === "replace" || $patch === "delete") return { is: $patch, part };
  throw new PatchProblem(`unknown patch type: ${$patch}`);
}
