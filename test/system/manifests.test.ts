// What `cattail manifests all` prints, applied to a real kube-apiserver as `kubectl apply --server-side` would: twice,
// without a change the second time. Then a server with exactly the ServiceAccount's rights and the Deployment's
// environment; and every rule of the ClusterRole taken away in turn.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Log, silentLog, systemClock } from "../../src/base/lib/index.ts";
import { openKubernetes } from "../../src/calico/datastore/index.ts";
import { customKinds, followedKinds, kindInfo } from "../../src/calico/kinds/index.ts";
import { checkRights } from "../../src/programs/doctor/index.ts";
import { startTypha } from "../../src/typha/server/index.ts";
import { loadSettings } from "../../src/typha/settings/index.ts";
import { accountConfig } from "../kit/account-config.ts";
import { cattail, probe } from "../kit/cattail-process.ts";
import { certificateFolder } from "../kit/certificates.ts";
import { type Cluster, clusterPeer, type Rule, startCluster } from "../kit/cluster.ts";
import { installCrds, openCrd } from "../kit/crds.ts";
import { eventually } from "../kit/eventually.ts";
import { freePort } from "../kit/free-port.ts";
import {
  applyObject,
  deployedEnvironment,
  findObject,
  lookUpObject,
  printObjects,
  untilDefined,
} from "../kit/manifest-objects.ts";
import { type TyphaEnvironment, tlsSettings } from "../kit/typha-settings.ts";

const skip = (await clusterPeer()).missing ?? false;
const namespace = "calico-system";
const { text, objects: printed } = await printObjects([
  "manifests",
  "all",
  "--image",
  "registry.example/cattail:0.2.0",
  "--namespace",
  namespace,
  "--metrics-port",
  "9093",
]);
const find = (kind: string) => findObject(printed, kind);

let cluster: Cluster;
before(async () => {
  if (!skip) cluster = await startCluster();
});
after(() => (skip ? undefined : cluster[Symbol.asyncDispose]()));

test("no object is printed twice, and every one says what it is", () => {
  const names = printed.map(({ apiVersion, kind, metadata }) => {
    ok(apiVersion !== "" && metadata.name !== "", JSON.stringify(metadata));
    return `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
  });
  deepEqual(names, [...new Set(names)]);
  ok(names.length > 20);
});

const hasKubectl = spawnSync("kubectl", ["kustomize", "--help"]).status === 0;
test("kustomize takes it as a base", { skip: hasKubectl ? false : "kubectl is not installed" }, () => {
  const folder = mkdtempSync(join(tmpdir(), "cattail-kustomize-"));
  writeFileSync(join(folder, "all.yaml"), text);
  writeFileSync(join(folder, "kustomization.yaml"), "resources: [all.yaml]\nnamePrefix: try-\n");
  const { status, stdout, stderr } = spawnSync("kubectl", ["kustomize", folder], { encoding: "utf8" });
  rmSync(folder, { recursive: true, force: true });
  equal(status, 0, stderr);
  match(stdout, /name: try-calico-typha$/m);
});

test("applied twice: all of it is accepted, and the second time changes nothing", { skip }, async () => {
  for (const one of printed) await applyObject(cluster, one);
  await untilDefined(cluster, printed);
  for (const one of printed) {
    const earlier = await lookUpObject(cluster, one);
    const later = await applyObject(cluster, one);
    equal(later.metadata.generation, earlier.metadata.generation, one.metadata.name);
    // Of definitions the API server itself goes on writing the status for a while.
    if (one.kind !== "CustomResourceDefinition")
      equal(later.metadata.resourceVersion, earlier.metadata.resourceVersion, `${one.kind} ${one.metadata.name}`);
  }
});

test("a server with the ServiceAccount's rights and the Deployment's environment is ready; nothing is missing", {
  skip,
  timeout: 300_000,
}, async () => {
  using certificates = certificateFolder();
  await using server = await startAsDeployed(tlsSettings(certificates));
  await eventually(async () => (await server.readiness())?.status === 200, "ready", 120000);
  deepEqual(server.complaints(), []);
  // Beside the syncers, not before them: a server may be ready a moment earlier.
  await eventually(async () => {
    const tiers = (await cluster.must("GET", "/apis/crd.projectcalico.org/v1/tiers")) as { items: unknown[] };
    return tiers.items.length > 0;
  }, "it has also set up the empty datastore");
});

test("a right that is missing keeps the server unready, and the probe says which", {
  skip,
  timeout: 300_000,
}, async () => {
  using certificates = certificateFolder();
  const rules = find("ClusterRole").rules ?? [];
  await grant(rules.filter(({ apiGroups }) => apiGroups[0] !== "networking.k8s.io"));
  await using server = await startAsDeployed(tlsSettings(certificates));
  await eventually(
    async () => /rights .*may not read KubernetesNetworkPolicy/.test((await server.readiness())?.body ?? ""),
    "the probe says so",
  );
  equal((await server.readiness())?.status, 503);
  await grant(rules);
  await eventually(async () => (await server.readiness())?.status === 200, "ready once it is granted", 120000);
});

test("every rule of the ClusterRole taken away in turn is missed, and nothing else", { skip }, async () => {
  // All kinds that a server may follow, also those that other projects define.
  for (const kind of ["ClusterNetworkPolicy", "VirtualMachineInstanceMigration"] as const) {
    const source = kindInfo(kind).kubernetes;
    if (source === undefined || !("version" in source)) throw new Error(`${kind} is Calico's own`);
    const crd = openCrd(kind, { group: source.group, version: source.version }) as { metadata: object };
    const annotations = { "api-approved.kubernetes.io": "unapproved, for a test" };
    await installCrds(cluster, [{ ...crd, metadata: { ...crd.metadata, annotations } }]);
  }
  const kubeconfig = await accountConfig(cluster, account);
  const log = silentLog;
  await using datastore = await openKubernetes(
    { kubeconfig, clientQps: 10_000, clientBurst: 10_000 },
    { clock: systemClock, log },
  );
  const kinds = followedKinds.filter((kind) => kindInfo(kind).kubernetes !== undefined);
  const missed = async () => {
    const found = await checkRights(datastore, kinds);
    return found.flatMap((finding) => (finding.level === "ok" ? [] : [finding.what])).sort();
  };
  const rules = find("ClusterRole").rules ?? [];
  ok(rules.length >= 7);
  for (const rule of rules) {
    await grant(rules.filter((one) => one !== rule));
    const verbs = rule.verbs.join(" and ");
    const group = rule.apiGroups[0] === "crd.projectcalico.org" ? "" : (rule.apiGroups[0] ?? "");
    const expected = rule.resources.map((plural) => `may not ${verbs} ${plural}${group === "" ? "" : `.${group}`}`);
    await eventually(
      async () => (await missed()).join() === expected.sort().join(),
      `missed: ${rule.resources.join()}`,
    );
  }
  await grant(rules);
  await eventually(async () => (await missed()).length === 0, "nothing is missed");
});

const account = { kind: "ServiceAccount", name: "calico-typha", namespace } as const;

function grant(rules: readonly Rule[]): Promise<void> {
  return cluster.grant("calico-typha", account, rules);
}

async function startAsDeployed(tls: TyphaEnvironment) {
  const healthPort = await freePort();
  const environment = {
    ...deployedEnvironment(printed),
    ...tls,
    KUBECONFIG: await accountConfig(cluster, account),
    TYPHA_SERVERHOST: "127.0.0.1",
    TYPHA_WORKERS: "0",
    TYPHA_HEALTHHOST: "127.0.0.1",
    TYPHA_HEALTHPORT: `${healthPort}`,
    TYPHA_PROMETHEUSMETRICSPORT: `${await freePort()}`,
  };
  const read = loadSettings({ environment, configFile: "" });
  const said: string[] = [];
  const note = (message: string, fields?: object) => void said.push(`${message} ${JSON.stringify(fields ?? {})}`);
  const log: Log = { ...silentLog, warn: note, error: note };
  const stop = new AbortController();
  const typha = await startTypha({
    // The settings know no "any free port": 0 means 5473 there, as in the original.
    read: { ...read, values: { ...read.values, serverPort: 0 } },
    version: "test",
    log,
    signal: stop.signal,
  });
  return {
    readiness: () => probe(`http://127.0.0.1:${healthPort}/readiness`),
    complaints: () => said.filter((line) => /forbidden|may not|missing|right/i.test(line)),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await typha[Symbol.asyncDispose]();
    },
  };
}

test("of the definitions, those that a cluster has are left alone: --missing asks for them", { skip }, async () => {
  await using empty = await startCluster();
  const missing = () => cattail(["manifests", "crds", "--missing"], { env: { KUBECONFIG: empty.kubeconfig } });
  const names = (text: string) => [...text.matchAll(/^ {4}kind: (\w+)$/gm)].map(([, kind]) => kind);
  const all = await missing();
  equal(names(all.stdout).length, customKinds.length, all.stderr);
  const [pool, ...others] = customKinds.map((kind) => openCrd(kind)).reverse();
  await installCrds(empty, others);
  deepEqual(names((await missing()).stdout).length, 1);
  await installCrds(empty, [pool ?? {}]);
  const none = await missing();
  equal(none.stdout, "");
  match(none.stderr, /the cluster has all of Calico's kinds/);
});
