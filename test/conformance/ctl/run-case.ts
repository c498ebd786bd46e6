// Runs the steps of a case with a program, one after the other, in a folder with the case's input files, and notes what
// was printed, written and stored, masked.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonRecord } from "../../../src/base/lib/index.ts";
import type { GoldenCase, Result, Step, StepResult } from "./case.ts";
import { Masks } from "./masks.ts";
import type { Program } from "./programs.ts";
import { type Store, withoutFirstWrite } from "./store.ts";

export async function runCase(golden: GoldenCase, program: Program, store?: Store): Promise<Result> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "cattail-ctl-golden-")));
  try {
    const cwd = join(home, "w");
    if (existsSync(`${golden.folder}/in`)) cpSync(`${golden.folder}/in`, cwd, { recursive: true });
    else mkdirSync(cwd);
    await store?.clean();
    for (const object of golden.initial) await store?.create(object);
    const masks = new Masks([[cwd, "<tmp>"], [home, "<home>"], ...(store?.masks ?? [])]);
    const steps: StepResult[] = [];
    for (const step of golden.steps) steps.push(await runStep(step, { program, store, home, cwd, masks }));
    return { steps, ...(store === undefined ? {} : { stored: await storedIn(store, masks, golden) }) };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

type Stage = {
  readonly program: Program;
  readonly store: Store | undefined;
  readonly home: string;
  readonly cwd: string;
  readonly masks: Masks;
};

async function runStep(step: Step, { program, store, home, cwd, masks }: Stage): Promise<StepResult> {
  const filled = (text: string) => fill(text, store, { tmp: cwd });
  for (const name of step.fill ?? []) {
    writeFileSync(join(cwd, name), await filled(readFileSync(join(cwd, name), "utf8")));
  }
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? "",
    HOME: home,
    LANG: "C.UTF-8",
    TZ: "UTC",
    ...store?.env,
  };
  for (const [name, value] of Object.entries(step.env ?? {})) {
    if (value === null) delete env[name];
    else env[name] = await filled(value);
  }
  if (step.as !== undefined) env.KUBECONFIG = (await store?.actAs?.(step.as, home)) ?? "";
  const stdin = step.stdin === undefined ? "" : readFileSync(join(cwd, step.stdin), "utf8");
  const { argv, host, timeout = 60 } = step;
  const ended = await program({
    argv,
    env,
    cwd,
    stdin,
    timeoutMs: timeout * 1000,
    ...(host === undefined ? {} : { host }),
  });
  const lines = (text: string) => masks.text(text).split("\n");
  const files = (step.files ?? []).map((name) => {
    const path = join(cwd, name);
    return [name, existsSync(path) ? lines(readFileSync(path, "utf8")) : null] as const;
  });
  return {
    rc: ended.rc,
    stdout: lines(ended.stdout),
    stderr: lines(saidOnce(ended.stderr)),
    ...(files.length === 0 ? {} : { files: Object.fromEntries(files) }),
  };
}

async function fill(text: string, store: Store | undefined, more: Store["variables"]): Promise<string> {
  const values = new Map<string, string>();
  for (const [, name = ""] of text.matchAll(/@\{([a-z]+(?::[^}]+)?)\}/g)) {
    const [, reference] = /^rv:(.*)$/.exec(name) ?? [];
    const known = store?.variables[name] ?? more[name];
    values.set(name, reference === undefined ? (known ?? "") : ((await store?.revisionOf(reference)) ?? ""));
  }
  return text.replaceAll(/@\{([a-z]+(?::[^}]+)?)\}/g, (_, name: string) => values.get(name) ?? "");
}

/** The recorded program prints its errors twice. */
function saidOnce(text: string): string {
  const half = text.slice(0, text.length / 2);
  return half !== "" && half + half === text ? half : text;
}

async function storedIn(store: Store, masks: Masks, { keepAll }: GoldenCase): Promise<NonNullable<Result["stored"]>> {
  const objects = (await store.dump()).map((object) => masks.value(object) as JsonRecord); // a record stays one
  const rest = keepAll === true ? undefined : withoutFirstWrite(objects);
  return { initialised: rest !== undefined, objects: rest ?? objects };
}
