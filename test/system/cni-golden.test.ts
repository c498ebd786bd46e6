// Every recorded case of the original's plugin `calico`, started as a runtime starts it, on network namespaces, a real API server and a real
// etcd: the same answers, the same objects stored, the same links, routes and sysctls on node and pod. npm test plays a share, npm run
// test:all the rest. Where Cattail does better on purpose, cni-better.ts says how; test/conformance/known-differences.md says why.
//
// CATTAIL_CNI_PLUGINS=FOLDER plays them with the calico and calico-ipam in that folder. CATTAIL_CNI_RECORDED=1: nothing is expected to be
// better than recorded, which is how the original passes.
import { deepEqual, equal, ok } from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { isRecord, type JsonRecord } from "../../src/base/lib/index.ts";
import { clusterPeer } from "../kit/cluster.ts";
import { type CniCase, type CniOutcome, type CniPlayed, cniCases } from "../kit/cni-cases/case.ts";
import { playCni } from "../kit/cni-cases/play.ts";
import { Stage } from "../kit/cni-cases/stage.ts";
import { type CniServers, startCniServers } from "../kit/cni-cases/world.ts";
import { linkedPlugins } from "../kit/cni-plugins.ts";
import type { StoreKind } from "../kit/ipam-cases/case.ts";
import { noNamespaces } from "../kit/namespace.ts";
import { shareOf } from "../kit/share.ts";
import { betterCni } from "./cni-better.ts";

const peer = await clusterPeer();
const skip = noNamespaces || (peer.missing ?? false);
const { CATTAIL_CNI_PLUGINS: others, CATTAIL_CNI_RECORDED: isAsRecorded } = process.env;

describe("recorded cases of calico", { skip }, () => {
  let servers: CniServers;
  const folder = mkdtempSync(join(tmpdir(), "cattail-cni-golden-"));
  const plugins = others === undefined ? linkedPlugins(folder) : resolve(others);
  let stage: Stage;

  before(async () => {
    servers = await startCniServers();
    stage = new Stage(folder, () => servers.ports);
  });
  after(async () => {
    stage?.[Symbol.dispose]();
    await servers?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Whoever answers has what the configuration says, or hands the call back: races and rights are of the plugin's own connection. */
  function agentOf(kind: StoreKind): { readyNode: (node: string) => Promise<void> } {
    const { cluster, etcdUrl } = servers;
    const kubernetes = { type: "kubernetes", kubeconfig: cluster.kubeconfig };
    const datastore = kind === "kubernetes" ? kubernetes : { type: "etcdv3", endpoints: [etcdUrl], tls: {} };
    return { readyNode: (node) => stage.startAgent(node, datastore) };
  }

  function worldOf(each: CniCase, kind: StoreKind) {
    const { cluster, etcdUrl, kubeconfigs, meddler, stores } = servers;
    const isRace = each.steps.some(({ race }) => race !== undefined);
    const kubeconfig = isRace ? kubeconfigs.meddled : kubeconfigs[each.rights ?? "cni"];
    const ofEtcd = kind === "etcdv3" ? { etcd_endpoints: etcdUrl } : {};
    return {
      stage,
      store: stores[kind],
      plugins,
      meddler,
      configuration: { datastore_type: kind, kubernetes: { kubeconfig }, ...ofEtcd },
      words: new Map([
        [kubeconfig, "$KUBECONFIG"],
        [cluster.server, "$API"],
        [`127.0.0.1:${cluster.port}`, "$APIADDR"],
        [etcdUrl, "$ETCD"],
      ]),
    };
  }

  const cases = cniCases();
  test("the cases were found", () => equal(cases.length, 57));
  const plays = cases.flatMap((each) => each.datastores.map((kind) => ({ each, kind })));
  for (const { each, kind } of shareOf(plays)) {
    test(`${each.name} (${kind}): ${each.about}`, { timeout: 240_000 }, async () => {
      const recorded = each.expect[kind];
      ok(recorded !== undefined);
      const expected = isAsRecorded === undefined ? betterCni(each.name, kind, recorded) : recorded;
      compare(each, await playCni(each, expected, worldOf(each, kind)), expected);
    });
  }

  test("through the agent, the agent does the work", { timeout: 240_000 }, async () => {
    const each = cases.find(({ name }) => name === "add-del");
    const recorded = each?.expect.kubernetes;
    ok(each !== undefined && recorded !== undefined);
    const log = join(folder, "who.log");
    let agents: readonly (number | undefined)[] = [];
    const looked = () => {
      agents = stage.agentPids;
    };
    const world = { ...worldOf(each, "kubernetes"), ...agentOf("kubernetes"), looked };
    const configuration = { ...world.configuration, log_file_path: log };
    compare(each, await playCni(each, recorded, { ...world, configuration }), recorded);
    const workers = [...readFileSync(log, "utf8").matchAll(/\[INFO\]\[(\d+)\]/g)].map(([, pid]) => Number(pid));
    ok(workers.length > 0);
    for (const pid of workers) ok(agents.includes(pid), `${pid} did the work, and the agents are ${agents.join(", ")}`);
  });

  const isOfConnection = ({ rights, steps, no_ready }: CniCase) =>
    rights !== undefined || no_ready === true || steps.some(({ race }) => race !== undefined);
  const answered = plays.filter(({ each }) => !isOfConnection(each));
  for (const { each, kind } of others === undefined ? shareOf(answered, undefined, 12) : []) {
    test(`${each.name} (${kind}), through the agent`, { timeout: 240_000 }, async () => {
      const recorded = each.expect[kind];
      ok(recorded !== undefined);
      const expected = betterCni(each.name, kind, recorded);
      compare(each, await playCni(each, expected, { ...worldOf(each, kind), ...agentOf(kind) }), expected);
    });
  }
});

function compare(each: CniCase, played: CniPlayed, expected: CniPlayed): void {
  const said = each.steps.filter(
    ({ apply, delete: gone, unplug, run }) => (apply ?? gone ?? unplug ?? run) === undefined,
  );
  equal(played.steps.length, expected.steps.length);
  for (const [at, outcome] of played.steps.entries()) {
    const wanted = expected.steps[at];
    const words = said[at]?.contains;
    if (words === undefined) deepEqual(withoutDetails(outcome, wanted), wanted, `step ${at}: ${shown(outcome)}`);
    else compareWords(outcome, wanted, words);
  }
  deepEqual(played.store, expected.store);
  deepEqual(played.network, expected.network);
  deepEqual(played.logs, expected.logs);
}

/** The rest of the text comes from a language's own parser. */
function compareWords({ rc, out }: CniOutcome, wanted: CniOutcome | undefined, words: readonly string[]): void {
  const { code, msg = "", details = "" } = out as { code: number; msg?: string; details?: string };
  deepEqual([rc, code], [wanted?.rc, (wanted?.out as { code: number } | undefined)?.code]);
  for (const word of words) ok(`${msg} ${details}`.includes(word), `"${msg} ${details}" lacks "${word}"`);
}

/** Our errors have the original's sentence, and say in `details` what to do. */
function withoutDetails({ rc, out }: CniOutcome, wanted: CniOutcome | undefined): CniOutcome {
  if (!isRecord(out) || typeof out.msg !== "string") return { rc, out };
  if (isRecord(wanted?.out) && "details" in wanted.out) return { rc, out };
  const { details: _, ...rest } = out as JsonRecord;
  return { rc, out: rest };
}

function shown({ rc, out }: CniOutcome): string {
  return `${rc} ${JSON.stringify(out)?.slice(0, 400)}`;
}
