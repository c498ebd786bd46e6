// Plays a case of the plugin: fills the datastore, calls it step by step on namespaces, and answers what it said, what is stored and what
// the networks of nodes and pods are in the end. The method is the recorder's, so that the original passes too.

import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { isRecord, type JsonRecord } from "../../../src/base/lib/index.ts";
import { runProgram } from "../../../src/base/linux/index.ts";
import { ping } from "../../../src/base/linux/kernel.ts";
import type { CaseObject } from "../ipam-cases/case.ts";
import { applyAll, type CaseStore, merged, ready } from "../ipam-cases/case-store.ts";
import type { Meddler } from "../ipam-cases/meddler.ts";
import type { CniCall, CniCase, CniOutcome, CniPlayed, CniStep, Networks } from "./case.ts";
import { networkOf } from "./network-state.ts";
import type { Stage } from "./stage.ts";

export type CniWorld = {
  readonly stage: Stage;
  readonly store: CaseStore;
  /** Of calico and its IPAM plugin. */
  readonly plugins: string;
  /** How the datastore is reached. */
  readonly configuration: JsonRecord;
  readonly meddler: Meddler;
  /** What texts of this run are called in the recordings. */
  readonly words: ReadonlyMap<string, string>;
  /** Before the first call on a node: an agent, for one. */
  readonly readyNode?: (node: string) => Promise<void>;
  /** Once everything was done, and before it is cleared away. */
  readonly looked?: () => void;
};

type Playing = CniWorld & { readonly each: CniCase; readonly conf: JsonRecord; readonly expected: CniPlayed };

const base = {
  cniVersion: "1.0.0",
  name: "k8s-pod-network",
  type: "calico",
  log_level: "info",
  mtu: 1450,
  ipam: { type: "calico-ipam" },
  policy: { type: "k8s" },
};

export async function playCni(each: CniCase, expected: CniPlayed, world: CniWorld): Promise<CniPlayed> {
  const { stage, store } = world;
  stage.clear();
  await store.clear();
  const startedMs = Date.now();
  await applyAll(store, [...(each.no_ready === true ? [] : [ready]), ...each.objects]);
  const conf = withState(merged(merged(base, world.configuration), each.conf ?? {}), stage);
  const playing = { ...world, each, conf, expected };
  const steps: CniOutcome[] = [];
  for (const step of each.steps) {
    world.meddler.arm(step.race ?? []);
    const outcome = await playStep(step, playing, expected.steps[steps.length]?.out);
    if (outcome !== undefined) steps.push(outcome);
  }
  world.looked?.();
  return {
    steps,
    store: withoutMacs(await store.dumpWithEndpoints(startedMs), each),
    network: await look(playing, expected.network),
    logs: stage.logs(),
  };
}

async function playStep(step: CniStep, playing: Playing, expected: unknown): Promise<CniOutcome | undefined> {
  const { stage, store } = playing;
  const { add, del, call, look: isLook, unplug, run, ping, apply, delete: gone } = step;
  if (add !== undefined) return await callOnce(add, "ADD", playing);
  if (del !== undefined) return await callOnce(del, "DEL", playing);
  if (call !== undefined) return await callOnce(call, call.command ?? "", playing);
  if (isLook !== undefined) return { rc: 0, out: await look(playing, expected) };
  if (ping !== undefined) return { rc: 0, out: (await isAnswered(ping, stage)) ? "answered" : "no answer" };
  if (unplug !== undefined) stage.unplug(unplug);
  if (run !== undefined) await runProgram("ip", ["netns", "exec", stage.node(run.node).name, "sh", "-c", run.sh]);
  if (apply !== undefined) await applyAll(store, [apply].flat() as CaseObject[]);
  if (gone !== undefined)
    for (const { only = store.kind, ...object } of [gone].flat() as CaseObject[])
      if (only === store.kind) await store.delete(object);
  return undefined;
}

async function callOnce(given: CniCall, command: string, playing: Playing): Promise<CniOutcome> {
  const { stage, plugins, conf } = playing;
  const call = withState(given as unknown as JsonRecord, stage) as unknown as CniCall;
  stage.writeNodeFiles(call.node, { nodename: call.nodename, mtu: call.mtu });
  await playing.readyNode?.(call.node);
  const { code, stdout } = await stage.call({
    node: call.node,
    program: `${plugins}/calico`,
    args: call.flags ?? [],
    env: variablesOf(call, command, playing),
    stdin: call.stdin ?? JSON.stringify(merged(conf, call.conf ?? {})),
  });
  const text = inRecordedWords(stdout, playing);
  return { rc: code ?? -1, out: normalOut(parsedOr(text), playing.each) };
}

function variablesOf(call: CniCall, command: string, { stage, plugins }: Playing): { [name: string]: string } {
  const label = call.netns ?? call.container;
  const netns = label === "" || label.startsWith("/") ? label : stage.pod(label).path;
  const [namespace, pod] = (call.pod ?? "").split("/");
  const ofPod = [
    "IgnoreUnknown=1",
    `K8S_POD_NAMESPACE=${namespace}`,
    `K8S_POD_NAME=${pod}`,
    `K8S_POD_INFRA_CONTAINER_ID=${call.container}`,
  ];
  const args = [...(call.pod === undefined ? [] : ofPod), ...(call.args === undefined ? [] : [call.args])];
  const variables = {
    CNI_COMMAND: command,
    CNI_CONTAINERID: call.container,
    CNI_NETNS: netns,
    CNI_IFNAME: call.ifname ?? "eth0",
    CNI_ARGS: args.join(";"),
    CNI_PATH: plugins,
    ...call.env,
  };
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ""));
}

/** Until it is what was recorded: addresses of the kernel's own making come when they are ready. */
async function look(playing: Playing, expected: unknown): Promise<Networks> {
  const endMs = performance.now() + settleMs;
  for (;;) {
    const seen = await lookOnce(playing);
    if (isDeepStrictEqual(seen, expected) || performance.now() > endMs) return seen;
    await sleep(50);
  }
}

const settleMs = 3_000;

async function lookOnce({ stage, each }: Playing): Promise<Networks> {
  const fixedMacs = each.macs ?? [];
  const seen: { nodes: { [name: string]: object }; pods: { [name: string]: object } } = { nodes: {}, pods: {} };
  for (const [node, { name }] of stage.nodes) seen.nodes[node] = await networkOf({ name, isNode: true, fixedMacs });
  for (const [pod, { name }] of stage.pods)
    if (stage.isThere(pod)) seen.pods[pod] = await networkOf({ name, isNode: false, fixedMacs });
  return seen as Networks;
}

async function isAnswered({ from, to }: { from: string; to: string }, stage: Stage): Promise<boolean> {
  const how = { namespace: stage.pod(from).path, count: 1, timeoutMs: 1000 };
  for (let attempt = 0; attempt < 3; attempt += 1) if ((await ping(to, how)).received > 0) return true;
  return false;
}

function withState(value: JsonRecord, { folder }: Stage): JsonRecord {
  return JSON.parse(JSON.stringify(value).replaceAll("$STATE", folder)) as JsonRecord;
}

/** The longest first: one may hold another. */
function inRecordedWords(text: string, { stage, plugins, words }: Playing): string {
  const pods = [...stage.pods].map(([label, { path }]) => [path, `$NETNS(${label})`] as const);
  const swaps = [...words, [stage.folder, "$STATE"] as const, [plugins, "$PLUGINS"] as const, ...pods];
  return swaps
    .filter(([real]) => real !== "")
    .sort(([a], [b]) => b.length - a.length)
    .reduce((said, [real, word]) => said.replaceAll(real, word), text);
}

function parsedOr(text: string): unknown {
  if (text.trim() === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return text; // what is no JSON is compared as it is
  }
}

function normalOut(out: unknown, each: CniCase): unknown {
  if (!isRecord(out)) return out;
  const interfaces = Array.isArray(out.interfaces) ? { interfaces: out.interfaces.map((it) => macless(it, each)) } : {};
  const msg = typeof out.msg === "string" ? { msg: out.msg.replaceAll(/Ifindex: \d+/g, "Ifindex: N") } : {};
  return { ...out, ...interfaces, ...msg };
}

function withoutMacs(store: JsonRecord, each: CniCase): JsonRecord {
  const normal = Object.entries(store).map(([name, value]) => {
    const spec = isRecord(value) ? value.spec : undefined;
    return [name, isRecord(spec) && "mac" in spec ? { ...(value as object), spec: macless(spec, each) } : value];
  });
  return Object.fromEntries(normal);
}

function macless(value: unknown, { macs = [] }: CniCase): unknown {
  if (!isRecord(value) || typeof value.mac !== "string") return value;
  return macs.includes(value.mac) || value.mac.startsWith("ee:ee") ? value : { ...value, mac: "$MAC" };
}
