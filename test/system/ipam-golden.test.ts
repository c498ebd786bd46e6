// Every recorded case of the original's calico-ipam, on a real API server and a real etcd: the same answers, and the same objects stored.
// All are played with the plugin in this process; npm test plays every ninth with the program as well, and npm run test:all the rest.
// Where Cattail does better on purpose, ipam-better.ts says how; test/conformance/known-differences.md says why.
import { deepEqual, equal, ok } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { isRecord, type JsonRecord, systemClock } from "../../src/base/lib/index.ts";
import { crdManifest, customKinds } from "../../src/calico/kinds/index.ts";
import { createIpamPlugin, freshBacking, runPlugin } from "../../src/node/cni/index.ts";
import { Cattail } from "../kit/cattail-process.ts";
import { type Cluster, clusterPeer, kubeconfigText, startCluster } from "../kit/cluster.ts";
import { installCrds } from "../kit/crds.ts";
import { type EtcdCluster, startEtcd } from "../kit/etcd.ts";
import { type Case, ipamCases, type Outcome, type Played, type StoreKind } from "../kit/ipam-cases/case.ts";
import type { CaseStore } from "../kit/ipam-cases/case-store.ts";
import { EtcdStore } from "../kit/ipam-cases/etcd-store.ts";
import { KubeStore } from "../kit/ipam-cases/kube-store.ts";
import { type Meddler, startMeddler } from "../kit/ipam-cases/meddler.ts";
import { type CallPlugin, play } from "../kit/ipam-cases/play.ts";
import { shareOf } from "../kit/share.ts";
import { betterThan } from "./ipam-better.ts";

const peer = await clusterPeer();
const calico = ["projectcalico.org", "crd.projectcalico.org"];
const ofPods = { apiGroups: [""], resources: ["pods", "nodes", "namespaces"], verbs: ["get"] };
const all = ["get", "list", "create", "update", "delete"];
const ipamObjects = ["blockaffinities", "ipamblocks", "ipamhandles"];
/** Exactly what the original's manifest allows its plugin; what seed clusters allow it; nothing. */
const rights = {
  cni: [
    ofPods,
    {
      apiGroups: calico,
      resources: [
        ...ipamObjects,
        "clusterinformations",
        "ippools",
        "ipreservations",
        "ipamconfigurations",
        "ipamconfigs",
      ],
      verbs: all,
    },
  ],
  seed: [
    ofPods,
    { apiGroups: ["crd.projectcalico.org"], resources: ipamObjects, verbs: all },
    {
      apiGroups: ["crd.projectcalico.org"],
      resources: ["ipamconfigs", "clusterinformations", "ippools"],
      verbs: ["get", "list"],
    },
  ],
  none: [],
} as const;

const inProcess: CallPlugin = (variables, stdin) => {
  const edge = { clock: systemClock, random: Math.random, warn: (text: string) => ok(false, text) };
  const isOwnFile = () => false;
  const plugin = createIpamPlugin({ ...edge, variables, version: "v0", backing: freshBacking(edge), isOwnFile });
  return runPlugin(plugin, variables, async () => stdin);
};

const asProgram: CallPlugin = async (env, stdin) => {
  await using program = new Cattail(["cni", "ipam"], { env, stdin });
  const code = await program.ended;
  return { exitCode: code ?? 1, stdout: program.stdout };
};

describe("recorded cases of calico-ipam", { skip: peer.missing ?? false }, () => {
  let cluster: Cluster;
  let etcd: EtcdCluster;
  let meddler: Meddler;
  let stores: { readonly [kind in StoreKind]: CaseStore };
  const folder = mkdtempSync(join(tmpdir(), "cattail-ipam-golden-"));
  const kubeconfigs = new Map<string, string>();

  before(async () => {
    [cluster, etcd] = await Promise.all([startCluster(), startEtcd()]);
    const manifests = customKinds.map((kind) => crdManifest(kind));
    await installCrds(cluster, manifests);
    for (const [name, rules] of Object.entries(rights)) {
      const account = `golden-${name}`;
      const token = await cluster.makeToken(account);
      const subject = { kind: "ServiceAccount", name: account, namespace: "default" } as const;
      await cluster.grant(
        account,
        subject,
        rules as unknown as { apiGroups: string[]; resources: string[]; verbs: string[] }[],
      );
      kubeconfigs.set(
        name,
        written(name, kubeconfigText({ server: cluster.server, dir: cluster.dir, user: { token } })),
      );
    }
    const [member] = etcd.members;
    if (member === undefined) throw new Error("no etcd");
    const kubernetes = new KubeStore(cluster);
    stores = { kubernetes, etcdv3: new EtcdStore(member) };
    meddler = await startMeddler(cluster, kubernetes, await cluster.makeToken("golden-cni"));
    const meddled = { name: "c", cluster: { server: meddler.server } };
    const context = { name: "c", context: { cluster: "c", user: "u" } };
    const users = [{ name: "u", user: {} }];
    kubeconfigs.set(
      "meddled",
      written("meddled", JSON.stringify({ clusters: [meddled], users, contexts: [context], "current-context": "c" })),
    );
  });
  after(async () => {
    await meddler?.[Symbol.asyncDispose]();
    await etcd?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  function written(name: string, text: string): string {
    const path = join(folder, `${name}.kubeconfig`);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  function configurationFor(kind: StoreKind, each: Case): JsonRecord {
    if (kind === "etcdv3") return { datastore_type: "etcdv3", etcd_endpoints: etcd.members[0]?.url };
    const isRace = each.steps.some(({ race }) => race !== undefined);
    const kubeconfig = kubeconfigs.get(isRace ? "meddled" : (each.rights ?? "cni"));
    return { datastore_type: "kubernetes", policy: { type: "k8s" }, kubernetes: { kubeconfig } };
  }

  const part = process.env.CATTAIL_TEST_PART;
  /** What npm test has played already. */
  const isOnlyRest = part === "rest";
  const cases = ipamCases();
  test("the cases were found", () => equal(cases.length, 99));
  const plays = cases.flatMap((each) => each.datastores.map((kind) => ({ each, kind })));
  const asPrograms = new Set(shareOf(plays, part, 9));
  for (const at of plays) {
    const { each, kind } = at;
    for (const [how, callPlugin] of [["", inProcess] as const, [", as a program", asProgram] as const]) {
      if (how === "" ? isOnlyRest : !asPrograms.has(at)) continue;
      test(`${each.name} (${kind}${how}): ${each.about}`, async () => {
        const configuration = configurationFor(kind, each);
        const store = stores[kind];
        const played = await play(each, { store, callPlugin, configuration, meddler, folder });
        const recorded = each.expect[kind];
        ok(recorded !== undefined);
        compare(each, played, betterThan(each.name, kind, recorded));
      });
    }
  }
});

function compare(each: Case, played: Played, expected: Played): void {
  const withWords = each.steps.filter(({ apply, edit, sleep }) => (apply ?? edit ?? sleep) === undefined);
  equal(played.steps.length, expected.steps.length);
  for (const [at, outcome] of played.steps.entries()) {
    const wanted = expected.steps[at];
    const words = withWords[at]?.contains;
    if (words === undefined) {
      deepEqual(withoutDetails(outcome, wanted), wanted, `step ${at}`);
      continue;
    }
    const { code, msg } = outcome.out as { code: number; msg: string };
    const recorded = wanted?.out as { code: number } | undefined;
    deepEqual([outcome.rc, code], [wanted?.rc, recorded?.code]);
    for (const word of words) ok(msg.includes(word), `"${msg}" lacks "${word}"`);
  }
  deepEqual(played.store, expected.store);
}

/** Our errors have the original's sentence, and say in `details` what to do. */
function withoutDetails({ rc, out }: Outcome, wanted: Outcome | undefined): Outcome {
  if (Array.isArray(out)) return { rc, out: out.map((each) => withoutDetails({ rc, out: each }, undefined).out) };
  if (!isRecord(out) || typeof out.msg !== "string" || (isRecord(wanted?.out) && "details" in wanted.out))
    return { rc, out };
  const { details: _, ...rest } = out;
  return { rc, out: rest };
}
