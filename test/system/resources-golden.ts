// Recorded runs of the original's calicoctl as a suite: the same steps, then the same errors and the same stored objects.
import { deepEqual, equal, ok } from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import { isRecord, type JsonRecord } from "../../src/base/lib/index.ts";
import { type Outcome, runStep, type Stage, type Step } from "./resources-steps.ts";

export const root = "test/vectors/ctl";

type Expected = {
  readonly steps: readonly { readonly rc: number; readonly stdout?: string[]; readonly stderr?: string[] }[];
  readonly stored: { readonly initialised: boolean; readonly objects: readonly JsonRecord[] };
};

export type Case = {
  readonly name: string;
  readonly about: string;
  readonly on: string;
  readonly keepAll?: boolean;
  readonly steps: readonly Step[];
  readonly initial: readonly JsonRecord[];
  readonly expected: Expected;
};

/** Cases about the command line, its input and its output: the whole program runs them (ctl-golden-*.test.ts). */
const forTheProgram =
  /^(config|crashes|datastore|delete-old|etcd-(ipam|migrate|unr)|flags|get-|help|input|ipam-[^c]|ipam-check|ipam-configure|label-forms|no-crds|node-status$|np-namespace-e|output|patch-errors|pool-bad-d|rights-none|unauth|unreach|validate|version)/;

export function casesOn(datastore: string): Case[] {
  return readdirSync(root)
    .filter((name) => !forTheProgram.test(name))
    .map((name): Case => {
      const read = (file: string) => JSON.parse(readFileSync(`${root}/${name}/${file}`, "utf8"));
      const initial = existsSync(`${root}/${name}/initial.json`) ? read("initial.json") : [];
      return { name, ...read("case.json"), initial, expected: read("expect.json") };
    })
    .filter(({ on }) => on === datastore);
}

/** All steps; each must fail or not as recorded, with the recorded words, and show the recorded object. */
export async function runCase({ name, steps, expected }: Case, stage: Omit<Stage, "folder">): Promise<void> {
  for (const [at, step] of steps.entries()) {
    const said = expected.steps[at] ?? { rc: 0 };
    if (step.argv[0] === "validate") continue; // no datastore is asked
    const outcome = await runStep(step, { ...stage, folder: `${root}/${name}` });
    const what = `${name}, step ${at}: ${step.argv.join(" ")}`;
    checkErrors(outcome, step, said, what);
    if (said.rc === 0 && step.argv[0] === "get" && step.argv.includes("yaml")) {
      const shown = parse((said.stdout ?? []).join("\n"), { version: "1.1" });
      if (!isRecord(shown.items)) checkShown(outcome, shown, what);
    }
  }
}

function checkErrors({ errors }: Outcome, step: Step, said: Expected["steps"][number], what: string): void {
  const text = [...(said.stderr ?? []), ...(said.stdout ?? [])].join("\n");
  // A crash of the original is no promise; what labels say is the command line's.
  if (said.rc === 2) return;
  if (step.argv[0] === "label") return;
  equal(errors.length > 0, said.rc !== 0, `${what}: ${errors.join("; ")} instead of ${text}`);
  for (const error of errors) {
    const masked = maskText(error);
    const isBetter = step.instead?.has.every((part) => masked.toLowerCase().includes(part.toLowerCase())) ?? false;
    const isOther = step.argv[0] === "delete" && step.argv[1] === "node"; // the original's reason is a wart
    ok(text.includes(masked) || isBetter || isOther, `${what}: "${masked}" is not in "${text}"`);
  }
}

function maskText(text: string): string {
  return text
    .replace(/(\.crd\.projectcalico\.org "[^"\n]*" is invalid: ).*$/s, "$1<details>")
    .replace(/: resourceVersion \S+ was given, \S+ is stored/, "")
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "<time>");
}

function checkShown({ objects }: Outcome, shown: unknown, what: string): void {
  const expected = isRecord(shown) && Array.isArray(shown.items) ? shown.items : [shown];
  deepEqual(masked(objects), masked(expected), what);
}

/** Of what is stored or shown: nothing that differs from run to run. */
export function masked(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) return value.map((each) => masked(each));
  if (isRecord(value)) {
    const entries = Object.entries(value).filter(
      ([name]) => !["managedFields", "generation", "selfLink"].includes(name),
    );
    return Object.fromEntries(entries.map(([name, each]) => [name, masked(each, name)]));
  }
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "string") return value;
  if (key === "resourceVersion") return "<rv>";
  if (key === "uid") return "<uid>";
  return value.replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "<time>").replaceAll(/\b[0-9a-f]{32}\b/g, "<guid>");
}

const builtIn = ["ClusterInformation/default", "Tier/default", "Tier/kube-admin", "Tier/kube-baseline"];

/** Sorted, masked, without what a first write makes unless the case looks at it. */
export function comparable(
  objects: readonly JsonRecord[],
  { expected }: Case,
  nameOf: (object: JsonRecord) => string,
): unknown {
  const { initialised } = expected.stored;
  const left = initialised ? objects.filter((object) => !builtIn.includes(nameOf(object))) : objects;
  if (initialised) equal(objects.length - left.length, builtIn.length, "the objects of a first write");
  return left.map((object) => masked(object));
}
