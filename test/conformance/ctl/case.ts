// Recorded runs of the original's calicoctl: test/vectors/ctl has a folder for each. case.json says what is run on which
// datastore, initial.json what is there before, in/ has the input files, expect.json what was printed and stored.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type JsonRecord, parseJson } from "../../../src/base/lib/index.ts";

/** kubernetes has the CRDs, bare is an API server without them, offline needs no datastore, host a Linux host of its own. */
export type Place = "kubernetes" | "bare" | "etcdv3" | "offline" | "host";

/** The processes and BIRD sockets that a pretended host has; a socket answers with a file of in/. */
export type HostSetup = {
  readonly processes?: readonly string[];
  readonly sockets?: { readonly [path: string]: string };
};

export type CompareMode = "text" | "table" | "json" | "lines";

export type Step = {
  readonly argv: readonly string[];
  /** A file of in/. */
  readonly stdin?: string;
  /** null takes a variable away. */
  readonly env?: { readonly [name: string]: string | null };
  /** NAMESPACE/ACCOUNT whose token is used. */
  readonly as?: string;
  /** Files of in/ in which @{...} is replaced first. */
  readonly fill?: readonly string[];
  /** Standard output is only searched for these texts. */
  readonly has?: readonly string[];
  readonly compare?: CompareMode;
  /** Files that the step must have written. */
  readonly files?: readonly string[];
  readonly timeout?: number;
  readonly host?: HostSetup;
  readonly anyStderr?: boolean;
  /** The original has a fault here: this outcome is right too, and preferred. */
  readonly instead?: { readonly rc: number; readonly has: readonly string[] };
};

export type StepResult = {
  readonly rc: number | "timeout";
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
  readonly files?: { readonly [name: string]: readonly string[] | null };
};

export type Result = {
  readonly steps: readonly StepResult[];
  readonly stored?: { readonly initialised: boolean; readonly objects: readonly JsonRecord[] };
};

export type GoldenCase = {
  readonly name: string;
  readonly folder: string;
  readonly about: string;
  readonly on: Place;
  /** ClusterInformation and the tiers are compared in full. */
  readonly keepAll?: boolean;
  readonly steps: readonly Step[];
  readonly initial: readonly JsonRecord[];
  readonly expected: Result;
};

const root = resolve(import.meta.dirname, "../../vectors/ctl");

/** CATTAIL_CTL_CASE, a regular expression, picks some of them by name. */
export function casesOn(...places: readonly Place[]): GoldenCase[] {
  const isPicked = new RegExp(process.env.CATTAIL_CTL_CASE ?? "");
  return readdirSync(root)
    .filter((name) => isPicked.test(name))
    .sort()
    .map((name) => readCase(name))
    .filter(({ on }) => places.includes(on));
}

export function readCase(name: string): GoldenCase {
  const folder = `${root}/${name}`;
  // Recorded by a program of ours: the shapes are those above, but that an empty output is left out.
  const read = <T>(file: string) => parseJson(readFileSync(`${folder}/${file}`, "utf8")) as T;
  const given = read<Pick<GoldenCase, "about" | "on" | "keepAll" | "steps">>("case.json");
  const initial = existsSync(`${folder}/initial.json`) ? read<JsonRecord[]>("initial.json") : [];
  const { steps, ...expected } = read<Recorded>("expect.json");
  const whole = steps.map((step) => ({ ...step, stdout: step.stdout ?? [""], stderr: step.stderr ?? [""] }));
  return { name, folder, ...given, initial, expected: { ...expected, steps: whole } };
}

type Recorded = Omit<Result, "steps"> & {
  readonly steps: readonly (Pick<StepResult, "rc" | "files"> & Partial<StepResult>)[];
};
