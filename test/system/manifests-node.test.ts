// What `cattail manifests all` prints for nodes, on a real kube-apiserver that checks rights: all of it is accepted, twice; and agents and plugins that
// have exactly the rights of the printed accounts run a cluster, are never refused, and use what they were given (the API server's audit says so).
import { deepEqual, equal, ok } from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { stringify } from "yaml";
import { isRecord, type JsonRecord } from "../../src/base/lib/index.ts";
import { givenDatastore } from "../../src/programs/lab/cluster/given-datastore.ts";
import { Lab } from "../../src/programs/lab/cluster/lab.ts";
import { startRelay } from "../../src/programs/lab/relay.ts";
import { isWhole } from "../../src/programs/lab/world/index.ts";
import { accountConfig } from "../kit/account-config.ts";
import { type Cluster, clusterPeer, type Rule, startCluster } from "../kit/cluster.ts";
import { noLab } from "../kit/lab-under-test.ts";
import { applyObject, lookUpObject, type Printed, printObjects, untilDefined } from "../kit/manifest-objects.ts";

const skip = noLab || ((await clusterPeer()).missing ?? false);
const namespace = "kube-system";

/** What a short-lived cluster of two nodes with VXLAN has no use for, and what it is for. */
const forOtherClusters: readonly RegExp[] = [
  /^\w+ \S*(bgppeers|bgpfilters|bgpconfigurations|caliconodestatuses)/, // BIRD, and who asks for its sessions
  /^\w+ (secrets|configmaps|services|endpoints|endpointslices)/, // passwords of peers, advertised services, Typha by its Service
  /^create ippools$/, // the default pool, where there is none
  /^create serviceaccounts\/token$/, // the plugin's, which the lab brings itself
  /^(get blockaffinities|delete (blockaffinities|ipamblocks)|(update|list) ipamhandles)$/, // blocks that are given up; the audit; `cni` GC
  /^(update (clusterinformations|felixconfigurations)|(list|watch) felixconfigurations)$/, // an upgrade; a node without Typha
];

test("the node's manifests are accepted, and the accounts in them are enough for a cluster", {
  skip,
  timeout: 600_000,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "cattail-node-manifests-"));
  mkdirSync(join(folder, "logs"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const audit = join(folder, "audit.log");
  writeFileSync(
    join(folder, "policy.yaml"),
    stringify({ apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] }),
  );
  const flags = [`--audit-policy-file=${join(folder, "policy.yaml")}`, `--audit-log-path=${audit}`];
  await using cluster = await startCluster({ apiserverFlags: flags });
  const images = ["--image", "registry.example/cattail:0.1.0", "--node-image", "registry.example/cattail-node:0.1.0"];
  const { objects } = await printObjects(["manifests", "all", "--namespace", namespace, ...images]);
  await applied(cluster, objects);

  const given = await givenDatastore({ kubeconfig: cluster.kubeconfig }, folder);
  const { relay } = given;
  ok(relay !== undefined);
  const server = await startRelay({ path: relay.socket }, { host: "127.0.0.1", port: relay.port });
  t.after(() => server.close());
  const [node, plugin] = await Promise.all(
    ["calico-node", "calico-cni-plugin"].map((name) => accountConfig(cluster, { name, namespace })),
  );
  const told = {
    env: { DATASTORE_TYPE: "kubernetes", KUBECONFIG: node ?? "" },
    plugin: { datastore_type: "kubernetes", kubernetes: { kubeconfig: plugin ?? "" } },
  };
  {
    const options = {
      folder,
      nodes: 2,
      mode: "vxlan",
      datastore: given.inside.datastore,
      told,
      relay,
      say: () => undefined,
    } as const;
    await using lab = await Lab.start(options, false);
    await lab.addFirstPods();
    equal((await lab.pingUntilWhole(60_000)).every(isWhole), true, "all pings are answered");
    await lab.pods.remove("pingtest-2");
  }
  const asked = askedBy(audit, ["calico-node", "calico-cni-plugin"]);
  const used = new Set(asked.map(({ right }) => right));
  const roles = objects.filter(({ kind, metadata }) => /Role$/.test(kind) && metadata.name !== "calico-typha");
  const rights = new Set(roles.flatMap(({ rules = [] }) => rules.flatMap(rightsOf)));
  // Where one may list and not watch, a list is asked for as a stream first, which is a watch.
  const isList = (right: string) => right.startsWith("watch ") && rights.has(right.replace("watch ", "list "));
  deepEqual(
    asked.filter(({ status, right }) => status === 403 && !isList(right)).map(({ right, user }) => `${user}: ${right}`),
    [],
    "nobody was refused",
  );
  const isUsed = (right: string) =>
    used.has(right) || (right.startsWith("list ") && used.has(right.replace("list ", "watch ")));
  const unused = [...rights].filter((right) => !isUsed(right) && !forOtherClusters.some((each) => each.test(right)));
  deepEqual(unused.sort(), [], "every right is used");
});

async function applied(cluster: Cluster, objects: readonly Printed[]): Promise<void> {
  for (const one of objects) await applyObject(cluster, one);
  await untilDefined(cluster, objects);
  for (const one of objects.filter(({ kind }) => kind !== "CustomResourceDefinition")) {
    const earlier = await lookUpObject(cluster, one);
    const later = await applyObject(cluster, one);
    equal(later.metadata.resourceVersion, earlier.metadata.resourceVersion, `${one.kind} ${one.metadata.name}`);
  }
}

function rightsOf({ verbs, resources }: Rule): string[] {
  return resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`));
}

type Asked = { readonly user: string; readonly right: string; readonly status: number };

function askedBy(file: string, accounts: readonly string[]): Asked[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .flatMap((line) => {
      const { user, verb, objectRef, responseStatus } = recordOf(JSON.parse(line));
      const { resource, subresource } = recordOf(objectRef);
      const name = String(recordOf(user).username).split(":").at(-1) ?? "";
      if (!accounts.includes(name) || resource === undefined) return [];
      const right = `${verb} ${resource}${subresource === undefined ? "" : `/${subresource}`}`;
      return [{ user: name, right, status: Number(recordOf(responseStatus).code ?? 0) }];
    });
}

function recordOf(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}
