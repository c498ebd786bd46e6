// Plays a case: fills the datastore, calls the plugin step by step, and answers what it said and what is stored in the end. Each pretend
// node has its own name file and lock.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isRecord, type JsonRecord } from "../../../src/base/lib/index.ts";
import type { Case, CaseStep, Outcome, Played, PluginStep } from "./case.ts";
import { applyAll, type CaseStore, merged, ready } from "./case-store.ts";
import type { Meddler } from "./meddler.ts";

export type PluginAnswer = { readonly exitCode: number; readonly stdout: string };

/** The program, or its parts in this process. */
export type CallPlugin = (variables: { [name: string]: string }, stdin: string) => Promise<PluginAnswer>;

export type Stage = {
  readonly store: CaseStore;
  readonly callPlugin: CallPlugin;
  /** Of the datastore: how to reach it. */
  readonly configuration: JsonRecord;
  readonly meddler: Meddler | undefined;
  /** For the files of nodes. */
  readonly folder: string;
};

export async function play(each: Case, stage: Stage): Promise<Played> {
  const { store } = stage;
  await store.clear();
  const startedMs = Date.now();
  await applyAll(store, [ready, ...each.objects]);
  const base = { cniVersion: "1.0.0", name: "k8s-pod-network", type: "calico", ipam: { type: "calico-ipam" } };
  const configuration = merged({ ...base, ...stage.configuration }, each.conf ?? {});
  const steps: Outcome[] = [];
  for (const step of each.steps) {
    stage.meddler?.arm(step.race ?? []);
    const outcome = await playStep(step, { stage, configuration, startedMs });
    if (outcome !== undefined) steps.push(outcome);
  }
  return { steps, store: await store.dump(startedMs) };
}

type Playing = { readonly stage: Stage; readonly configuration: JsonRecord; readonly startedMs: number };

async function playStep(step: CaseStep, playing: Playing): Promise<Outcome | undefined> {
  const { store } = playing.stage;
  const { add, del, call, fill, apply, edit, dump, sleep: seconds } = step;
  if (add !== undefined) return await callOnce(add, "ADD", playing);
  if (del !== undefined) return await callOnce(del, "DEL", playing);
  if (call !== undefined) return await callOnce(call, call.command ?? "", playing);
  if (dump !== undefined) return { rc: 0, out: await store.dump(playing.startedMs) };
  if (fill !== undefined) return { rc: 0, out: await filled(fill, playing) };
  if (seconds !== undefined) await sleep(seconds * 1000);
  if (apply !== undefined) await applyAll(store, [apply].flat() as Case["objects"]);
  const mine = edit?.[store.kind];
  if (mine !== undefined) await store.edit(mine);
  return undefined;
}

async function filled(fill: NonNullable<CaseStep["fill"]>, playing: Playing): Promise<unknown[]> {
  const results: unknown[] = [];
  const { from = 0, count } = fill;
  for (let number = from; number < from + count; number += 1) {
    const numbered = (text: string) => text.replace("%d", String(number));
    const one = { ...fill, container: numbered(fill.container), ...(fill.pod ? { pod: numbered(fill.pod) } : {}) };
    const { out } = await callOnce(one, fill.command ?? "ADD", playing);
    const [first] = isRecord(out) && Array.isArray(out.ips) ? out.ips : [];
    results.push(isRecord(first) ? first.address : out);
  }
  return results;
}

async function callOnce(step: PluginStep, command: string, { stage, configuration }: Playing): Promise<Outcome> {
  const node = join(stage.folder, step.node);
  mkdirSync(node, { recursive: true });
  const files = { nodename_file: join(node, "nodename"), ipam_lock_file: join(node, "ipam.lock") };
  writeFileSync(files.nodename_file, typeof step.nodename === "string" ? step.nodename : step.node);
  const stdin = step.stdin ?? JSON.stringify(merged({ ...configuration, ...files }, step.conf ?? {}));
  const { exitCode, stdout } = await stage.callPlugin(variablesOf(step, command), stdin);
  return { rc: exitCode, out: stdout.trim() === "" ? null : JSON.parse(stdout) };
}

function variablesOf(step: PluginStep, command: string): { [name: string]: string } {
  const [namespace, pod] = (step.pod ?? "").split("/");
  const ofPod =
    step.pod === undefined ? [] : ["IgnoreUnknown=1", `K8S_POD_NAMESPACE=${namespace}`, `K8S_POD_NAME=${pod}`];
  const variables = {
    CNI_COMMAND: command,
    CNI_CONTAINERID: step.container,
    CNI_NETNS: "/var/run/netns/none",
    CNI_IFNAME: step.ifname ?? "eth0",
    CNI_ARGS: [...ofPod, ...(step.args === undefined ? [] : [step.args])].join(";"),
    CNI_PATH: "/opt/cni/bin",
    ...step.env,
  };
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ""));
}
