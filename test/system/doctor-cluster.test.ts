// The doctor in front of a real kube-apiserver: kinds that are missing, credentials that are refused, and every right
// of the ClusterRole taken away in turn.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { openDatastore, openKubernetes } from "../../src/calico/datastore/index.ts";
import { followedKinds, followRules, kindInfo, rulesFor } from "../../src/calico/kinds/index.ts";
import { checkRights, examineSetup, type Finding, usesOf } from "../../src/programs/doctor/index.ts";

import { datastoreOptions } from "../../src/typha/settings/index.ts";
import { cattail } from "../kit/cattail-process.ts";
import { type Cluster, clusterPeer, type Rule, startCluster } from "../kit/cluster.ts";
import { customKinds, installCrds, openCrd } from "../kit/crds.ts";
import { eventually } from "../kit/eventually.ts";
import { freePort } from "../kit/free-port.ts";

const skip = (await clusterPeer()).missing ?? false;
const group = "crd.projectcalico.org";
const edge = { clock: systemClock, log: silentLog };

let cluster: Cluster;
before(async () => {
  if (!skip) cluster = await startCluster();
});
after(() => (skip ? undefined : cluster[Symbol.asyncDispose]()));

async function examine(environment: { [name: string]: string }): Promise<string[]> {
  const sections = await examineSetup({
    environment: {
      TYPHA_DATASTORETYPE: "kubernetes",
      TYPHA_SERVERPORT: `${await freePort()}`,
      HOME: "/nowhere",
      ...environment,
    },
    configFile: "",
    openDatastore: (settings) => openDatastore(datastoreOptions(settings), edge),
    clock: systemClock,
  });
  const looked = sections.filter(({ name }) => name === "datastore" || name === "rights");
  return problems(looked.flatMap(({ findings }) => findings)).map(({ code }) => code);
}

function problems(findings: readonly Finding[]) {
  return findings.flatMap((finding) => (finding.level === "ok" ? [] : [finding]));
}

/** One rule per right, so that any one can be left out. */
function rights(): { resource: string; verb: string; rule: Rule }[] {
  return [...followRules(group), ...rulesFor("typha", group)].flatMap(({ apiGroups, resources, verbs }) =>
    resources.flatMap((resource) =>
      verbs.map((verb) => ({ resource, verb, rule: { apiGroups, resources: [resource], verbs: [verb] } })),
    ),
  );
}

test("doctor: an API server that is not there, a kubeconfig that is none, a token nobody knows", { skip }, async () => {
  deepEqual(await examine({ K8S_API_ENDPOINT: "https://127.0.0.1:1" }), ["DATASTORE_UNREACHABLE"]);
  const broken = join(cluster.dir, "broken.kubeconfig");
  await writeFile(broken, "{");
  deepEqual(await examine({ KUBECONFIG: broken }), ["DATASTORE_SETTINGS"]);
  const unknown = {
    K8S_API_ENDPOINT: cluster.server,
    K8S_CA_FILE: join(cluster.dir, "ca.crt"),
    CALICO_K8SAPITOKEN: "nobody",
  };
  deepEqual(await examine(unknown), ["DATASTORE_REFUSED"]);
});

test("doctor: a cluster without Calico's kinds, then with some, then with all", { skip }, async () => {
  const without = ["CRDS_MISSING", "API_MISSING", "API_MISSING"];
  deepEqual(await examine({ KUBECONFIG: cluster.kubeconfig }), without);
  const [first, ...others] = customKinds.map((kind) => openCrd(kind));
  await installCrds(cluster, others);
  deepEqual(await examine({ KUBECONFIG: cluster.kubeconfig }), ["CRD_MISSING", "API_MISSING", "API_MISSING"]);
  await installCrds(cluster, [first ?? {}]);
  deepEqual(await examine({ KUBECONFIG: cluster.kubeconfig }), ["API_MISSING", "API_MISSING"]);
});

test("doctor: what it asks for is what the manifests grant", () => {
  const kubernetesKinds = followedKinds.filter((kind) => kindInfo(kind).kubernetes !== undefined);
  const asked = usesOf(kubernetesKinds).map(({ kind, verb }) => `${verb} ${kindInfo(kind).kubernetes?.plural}`);
  const granted = rights().map(({ resource, verb }) => `${verb} ${resource}`);
  deepEqual(asked.sort(), granted.sort());
});

test("doctor: each right taken away in turn is noticed, and no other", { skip }, async () => {
  const name = "doctor-patient";
  const kubeconfig = await cluster.makeUser(name);
  const all = rights().map(({ rule }) => rule);
  await cluster.grant(name, { kind: "User", name }, all);
  await using datastore = await openKubernetes({ kubeconfig, clientQps: 10_000, clientBurst: 10_000 }, edge);
  const there = followedKinds.filter((kind) => {
    const source = kindInfo(kind).kubernetes;
    return source !== undefined && source.group !== "policy.networking.k8s.io" && source.group !== "kubevirt.io";
  });
  await eventually(async () => (await datastore.mayI("create", "Tier")).may, "the server knows the role");
  deepEqual(problems(await checkRights(datastore, there)), []);
  for (const { kind, verb } of usesOf(there)) {
    const source = kindInfo(kind).kubernetes;
    const kindGroup = source?.group === "calico" ? group : source?.group;
    const isTaken = ({ apiGroups, resources, verbs }: Rule) =>
      apiGroups[0] === kindGroup && resources[0] === source?.plural && verbs[0] === verb;
    const left = all.filter((rule) => !isTaken(rule));
    equal(left.length, all.length - 1);
    await cluster.grant(name, { kind: "User", name }, left);
    await eventually(async () => !(await datastore.mayI(verb, kind)).may, "the server knows the new role");
    const found = problems(await checkRights(datastore, there));
    equal(found.length, 1, `${verb} ${kind}: ${JSON.stringify(found)}`);
    match(found[0]?.what ?? "", new RegExp(`^may not ${verb} ${source?.plural}`));
    match(found[0]?.fix ?? "", new RegExp(`resources: \\["${source?.plural}"\\]`));
  }
});

test("doctor: the command itself, with no right at all: one finding, with the rules for all", { skip }, async () => {
  const kubeconfig = await cluster.makeUser("doctor-nobody");
  const port = `${await freePort()}`;
  const env = { TYPHA_DATASTORETYPE: "kubernetes", TYPHA_SERVERPORT: port, KUBECONFIG: kubeconfig };
  const { code, stdout } = await cattail(["doctor", "-o", "json"], { env });
  equal(code, 2);
  const { exitCode, findings } = JSON.parse(stdout) as {
    exitCode: number;
    findings: { code?: string; level: string; fix: string }[];
  };
  equal(exitCode, 2);
  const broken = findings.filter(({ level }) => level === "broken");
  deepEqual(
    broken.map((finding) => finding.code),
    ["RIGHTS_MISSING"],
  );
  for (const kind of customKinds) match(broken[0]?.fix ?? "", new RegExp(`"${kindInfo(kind).kubernetes?.plural}"`));
});

test("doctor: says as whom it asks, from which file, and asks for the account that will run", { skip }, async () => {
  const kubeconfig = await cluster.makeUser("doctor-asks");
  const env = {
    TYPHA_DATASTORETYPE: "kubernetes",
    TYPHA_SERVERPORT: `${await freePort()}`,
    KUBECONFIG: kubeconfig,
  };
  const own = await cattail(["doctor"], { env });
  match(own.stdout, /asked as doctor-asks \(groups: .*system:authenticated\), with the credentials of .*: users?\b/);
  ok(own.stdout.includes(kubeconfig), own.stdout);
  const rules = [...followRules(group), ...rulesFor("typha", group)];
  await cluster.grant(
    "doctor-account",
    { kind: "ServiceAccount", name: "calico-node", namespace: "kube-system" },
    rules,
  );
  const asAdministrator = { ...env, KUBECONFIG: cluster.kubeconfig };
  const account = await cattail(["doctor", "--as-service-account", "kube-system/calico-node"], {
    env: asAdministrator,
  });
  match(
    account.stdout,
    /for the service account kube-system\/calico-node\n.*all \d+ rights that the server uses are granted/,
  );
  const other = await cattail(["doctor", "--as-service-account", "kube-system/calico-typha"], { env: asAdministrator });
  match(other.stdout, /none of the \d+ rights that the server uses is granted \(RIGHTS_MISSING\)/);
  const wrong = await cattail(["doctor", "--as-service-account", "calico-typha"], { env });
  match(wrong.stderr, /It has to be NAMESPACE\/NAME/);
});
