// What a run did against what was recorded: to the letter where users' scripts read letters, with the freedom that the
// recordings grant elsewhere (spaces of tables, an error printed twice, the better answer where the original has a fault).
import { isRecord, type JsonRecord, parseJson, writeJson } from "../../../src/base/lib/index.ts";
import type { CompareMode, GoldenCase, Result, Step, StepResult } from "./case.ts";
import { withoutBookkeeping } from "./masks.ts";

/** Empty when all is as recorded. */
export function differences(golden: Pick<GoldenCase, "steps">, want: Result, got: Result): string[] {
  const ofSteps = golden.steps.flatMap((step, at) => {
    const [wanted, gotten] = [want.steps[at], got.steps[at]];
    const name = `step ${at + 1} (${step.argv.join(" ")})`;
    if (wanted === undefined || gotten === undefined) return [`${name}: nothing was recorded`];
    return stepDifferences(step, wanted, gotten).map((found) => `${name}: ${found}`);
  });
  return [...ofSteps, ...storedDifferences(want.stored, got.stored)];
}

function stepDifferences(step: Step, recorded: StepResult, got: StepResult): string[] {
  if (step.instead !== undefined && isBetter(step.instead, got)) return [];
  const want = step.argv[0] === "replace" ? plainReplace(recorded, got) : recorded;
  const found: (string | undefined)[] = [];
  if (want.rc !== got.rc) found.push(`exit code: want ${want.rc}, got ${got.rc}; stderr ${short(got.stderr)}`);
  const mode = compareMode(step);
  if (step.has !== undefined) {
    const text = got.stdout.join("\n");
    found.push(...step.has.filter((each) => !text.includes(each)).map((each) => `stdout lacks ${short(each)}`));
  } else {
    found.push(firstDifference(shape(want.stdout.join("\n"), mode), shape(got.stdout.join("\n"), mode), "stdout"));
  }
  if (step.anyStderr !== true) {
    const errMode = mode === "lines" ? "lines" : "table";
    const shapeOf = (lines: readonly string[]) => shape(unprefixed(lines.join("\n")), errMode);
    found.push(firstDifference(shapeOf(want.stderr), shapeOf(got.stderr), "stderr"));
  }
  for (const [file, lines] of Object.entries(want.files ?? {})) {
    const shapeOf = (text: readonly string[] | null | undefined) => shape((text ?? []).join("\n"), "json");
    found.push(firstDifference(shapeOf(lines), shapeOf(got.files?.[file]), file));
  }
  return found.filter((each) => each !== undefined);
}

function isBetter(instead: NonNullable<Step["instead"]>, got: StepResult): boolean {
  const text = [...got.stdout, ...got.stderr].join("\n").toLowerCase();
  return got.rc === instead.rc && instead.has.every((each) => text.includes(each.toLowerCase()));
}

/** The original calls a failed replace of one object a partial success; plain words are as good. */
function plainReplace(want: StepResult, got: StepResult): StepResult {
  const first = /^Partial success: replaced the first 1 out of 1 ('\w+') resources:$/.exec(want.stdout[0] ?? "");
  if (first === null || got.stdout.join("\n") !== "") return want;
  const [line = "", ...rest] = want.stderr;
  const plain = line.replace(/^(Error: )?hit error: /, `$1failed to replace ${first[1]} resource: `);
  return { ...want, stdout: [""], stderr: [plain, ...rest] };
}

/** Released programs of the original print the text alone; the recorded one puts `Error: ` in front. */
function unprefixed(text: string): string {
  return text.replaceAll(/^Error: /gm, "");
}

export function compareMode({ argv, compare }: Pick<Step, "argv" | "compare">): CompareMode {
  if (compare !== undefined) return compare;
  if (argv[0] !== "get") {
    const isTable = argv[0] === "ipam" ? argv[1] === "show" : argv[0] === "node" && argv[1] === "status";
    return isTable ? "table" : "text";
  }
  const format = argv.reduce((found, word, at) => {
    if ((word === "-o" || word === "--output") && at + 1 < argv.length) return argv[at + 1] ?? "";
    if (word.startsWith("-o") && word !== "-o") return word.slice(2).replace(/^=+/, "");
    return word.startsWith("--output=") ? word.slice("--output=".length) : found;
  }, "");
  if (format === "json") return "json";
  return ["", "ps", "wide"].includes(format) || format.startsWith("custom-columns") ? "table" : "text";
}

/** The form in which two outputs are compared. */
export function shape(text: string, mode: CompareMode): unknown {
  if (mode === "json") {
    try {
      return withoutBookkeeping(parseJson(text));
    } catch {
      return text; // compared as it is
    }
  }
  const lines = text.split("\n");
  if (mode === "table") return lines.map((line) => line.replaceAll(/ +/g, " ").replaceAll(/-{3,}/g, "---").trim());
  return mode === "lines" ? lines.sort() : lines;
}

/** Where two values differ first, and how; undefined where they do not. */
export function firstDifference(want: unknown, got: unknown, at = ""): string | undefined {
  if (Array.isArray(want) && Array.isArray(got)) {
    for (let index = 0; index < Math.max(want.length, got.length); index++) {
      const here = `${at}[${index}]`;
      if (index >= got.length) return `${here} is missing (want ${short(want[index])})`;
      if (index >= want.length) return `${here} should not be there (got ${short(got[index])})`;
      const found = firstDifference(want[index], got[index], here);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isRecord(want) && isRecord(got)) {
    for (const key of [...new Set([...Object.keys(want), ...Object.keys(got)])].sort()) {
      if (!Object.hasOwn(got, key)) return `${at}.${key} is missing (want ${short(want[key])})`;
      if (!Object.hasOwn(want, key)) return `${at}.${key} should not be there (got ${short(got[key])})`;
      const found = firstDifference(want[key], got[key], `${at}.${key}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return want === got ? undefined : `${at || "value"}: want ${short(want)}, got ${short(got)}`;
}

function storedDifferences(want: Result["stored"], got: Result["stored"]): string[] {
  if (want === undefined) return [];
  const found: (string | undefined)[] = [];
  found.push(firstDifference(want.initialised, got?.initialised, "stored.initialised"));
  const [wanted, gotten] = [byName(want.objects), byName(got?.objects ?? [])];
  for (const name of [...new Set([...wanted.keys(), ...gotten.keys()])].sort()) {
    if (!gotten.has(name)) found.push(`stored: ${name} is missing`);
    else if (!wanted.has(name)) found.push(`stored: ${name} should not be there`);
    else {
      const each = firstDifference(wanted.get(name), gotten.get(name), name);
      if (each !== undefined) found.push(`stored: ${each}`);
    }
  }
  return found.filter((each) => each !== undefined);
}

function byName(objects: readonly JsonRecord[]): Map<string, JsonRecord> {
  return new Map(
    objects.map((object) => {
      const { namespace, name } = isRecord(object.metadata) ? object.metadata : {};
      const parts = [object.kind, namespace, name].filter((part) => part !== undefined);
      return [typeof object.key === "string" ? object.key : parts.join("/"), object];
    }),
  );
}

function short(value: unknown): string {
  const text = writeJson(value) ?? "undefined";
  return text.length <= 300 ? text : `${text.slice(0, 297)}...`;
}
