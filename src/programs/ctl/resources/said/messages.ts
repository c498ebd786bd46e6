// What create, apply, replace, delete and validate say at their end, in the original's words (calicoctl of 3.33): scripts
// look for them. Some of it is odd and stays: "the first N" is said wherever the failure was, and is not said at all where
// as many objects failed as were done.
import type { ApiKind } from "../../../../calico/resources/index.ts";

export type CountedVerb = "create" | "apply" | "replace" | "validate";

/** The error's text; undefined: it was done. */
export type Ending = {
  readonly kind: ApiKind;
  readonly failure: string | undefined;
  /** Its namespace cannot be: nothing was tried. */
  readonly isMisplaced?: boolean;
};

export type Said = {
  /** On standard output, with its new line. */
  readonly out: string;
  /** What ends the command; undefined: nothing failed. */
  readonly failure: string | undefined;
};

const past = { create: "created", apply: "applied", replace: "replaced", validate: "validated" } as const;

export const nothingSpecified = "No resources specified\n";

/** Of at least one object, in the order of the input. */
export function countedEnding(verb: CountedVerb, endings: readonly Ending[]): Said {
  const failures = failuresOf(endings);
  const total = endings.length;
  const done = total - failures.length;
  const quoted = quotedKind(endings);
  if (failures.length === 0)
    return { out: `Successfully ${past[verb]} ${done}${quoted} resource(s)\n`, failure: undefined };
  if (verb === "replace" && total > 1) return replaceEnding(endings, `${failures.at(-1)}`, quoted);
  if (total === 1) {
    const said = verb === "replace" ? failures[0] : inBrackets(failures);
    return { out: "", failure: `failed to ${verb}${quoted} resource: ${said}` };
  }
  if (done === 0) return { out: "", failure: `failed to ${verb} any${quoted} resources: ${inBrackets(failures)}` };
  const out =
    done > failures.length
      ? `Partial success: ${past[verb]} the first ${done} out of ${total}${quoted} resources:\n`
      : "";
  return { out, failure: `hit error: ${inBrackets(failures)}` };
}

/** The original counts in what was tried and failed, and keeps the last error only. */
function replaceEnding(endings: readonly Ending[], last: string, quoted: string): Said {
  const tried = endings.filter(({ isMisplaced }) => isMisplaced !== true).length;
  if (tried === 0) return { out: "", failure: `failed to replace any${quoted} resources: ${last}` };
  const out = `Partial success: replaced the first ${tried} out of ${endings.length}${quoted} resources:\n`;
  return { out, failure: `hit error: ${last}` };
}

export function deleteEnding(endings: readonly Ending[]): Said {
  const failures = failuresOf(endings);
  const quoted = quotedKind(endings);
  const done = endings.length - failures.length;
  return {
    out: done > 0 ? `Successfully deleted ${done}${quoted} resource(s)\n` : "",
    failure:
      failures.length === 0
        ? undefined
        : failures
            .map(
              (failure) => `Failed to delete${quoted} resource: ${failure}
`,
            )
            .join(""),
  };
}

function failuresOf(endings: readonly Ending[]): string[] {
  return endings.flatMap(({ failure }) => (failure === undefined ? [] : [failure]));
}

/** As Go prints a list of errors. */
function inBrackets(failures: readonly string[]): string {
  return `[${failures.join(" ")}]`;
}

/** " 'IPPool'", where all are of one kind. */
function quotedKind(endings: readonly Ending[]): string {
  const [first] = endings;
  return first !== undefined && endings.every(({ kind }) => kind === first.kind) ? ` '${first.kind}'` : "";
}
