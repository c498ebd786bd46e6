// A folder of manifests all the way to what clients are sent: initialised like any datastore, followed by the syncers.
import { deepEqual, match } from "node:assert/strict";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { openDirectoryDatastore } from "../../src/calico/datastore/index.ts";
import { initialiseDatastore } from "../../src/calico/resources/index.ts";
import { runSyncers } from "../../src/calico/syncer/index.ts";
import { Cattail, cattail, probe } from "../kit/cattail-process.ts";
import { eventually } from "../kit/eventually.ts";
import { Followed } from "../kit/followed.ts";
import { typhaSettings } from "../kit/typha-settings.ts";

const policy = `
apiVersion: projectcalico.org/v3
kind: GlobalNetworkPolicy
metadata: {name: allow-dns}
spec:
  selector: all()
  egress: [{action: Allow, protocol: UDP, destination: {ports: [53]}}]
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {team: web}}
`;

test("an empty folder becomes ready; a policy written into it is served, and gone with its file", async (t) => {
  const path = await mkdtemp(join(tmpdir(), "cattail-directory-"));
  t.after(() => rm(path, { recursive: true }));
  await using datastore = await openDirectoryDatastore({ path, quietMs: 5 });
  const ending = new AbortController();
  const { signal } = ending;
  using _ = { [Symbol.dispose]: () => ending.abort() };
  const newClusterGuid = () => "0".repeat(32);
  await initialiseDatastore(datastore, {
    signal,
    clock: systemClock,
    log: silentLog,
    newClusterGuid,
    clusterTypes: ["typha"],
  });
  const kvs = new Map<string, string>();
  let status = 0;
  const reading = (async () => {
    const edge = { clock: systemClock, log: silentLog, random: Math.random };
    for await (const batch of runSyncers({ datastore, ...edge, signal, limits: { attemptIntervalMs: 10 } })) {
      if (batch.syncer !== "felix") continue;
      for (const { path: key, value } of batch.updates) {
        if (value === undefined) kvs.delete(key);
        else kvs.set(key, value);
      }
      status = batch.status ?? status;
    }
  })();
  await eventually(() => status === 2, "in sync");
  deepEqual(kvs.get("/calico/v1/Ready"), "true");
  deepEqual(
    [...kvs.keys()].filter((key) => key.includes("/policy/tier/")),
    ["default", "kube-admin", "kube-baseline"].map((tier) => `/calico/v1/policy/tier/${tier}/metadata`),
  );
  await writeFile(join(path, "shop.yaml.new"), policy);
  await rename(join(path, "shop.yaml.new"), join(path, "shop.yaml"));
  const key = "/calico/v1/policy/GlobalNetworkPolicy//allow-dns";
  await eventually(
    () => kvs.has(key) && kvs.has("/calico/v1/policy/profile/kns.shop/labels"),
    "the policy and the profile",
  );
  match(kvs.get(key) ?? "", /"selector":"all\(\)"/);
  await rm(join(path, "shop.yaml"));
  await eventually(() => !kvs.has(key) && !kvs.has("/calico/v1/policy/profile/kns.shop/labels"), "they are gone");
  ending.abort();
  await reading;
});

test("cattail typha on a folder: initialised, ready, and a file that cannot be used is shown by probes and doctor", {
  timeout: 120_000,
}, async (t) => {
  const path = await mkdtemp(join(tmpdir(), "cattail-directory-"));
  t.after(() => rm(path, { recursive: true }));
  await writeFile(join(path, "shop.yaml"), policy);
  const env = await typhaSettings({ TYPHA_DATASTORETYPE: "directory", TYPHA_DATASTOREDIRECTORY: path });
  await using typha = new Cattail(["typha"], { env });
  const readiness = (wanted: RegExp) =>
    typha.until(`readiness with ${wanted}`, async () => {
      const answer = await probe(`http://127.0.0.1:${env.TYPHA_HEALTHPORT}/readiness`);
      return answer?.status === 200 && wanted.test(answer.body) ? answer : undefined;
    });
  const calm = await readiness(/^(?!.*manifests)/s);
  match(calm.body, /felix-cache .*reporting ready/);
  await using client = new Followed({ servers: `127.0.0.1:${env.TYPHA_SERVERPORT}` });
  const made = ["/calico/v1/Ready", "/calico/v1/policy/tier/default/metadata"];
  await client.until(() => made.every((key) => client.state.has(key)), "what the server itself writes");
  await writeFile(join(path, "broken.yaml"), "apiVersion: v1\nkind: Pod\n");
  const troubled = await readiness(/manifests/);
  match(troubled.body, /manifests .*reporting ready .*broken\.yaml:1:1: .*metadata\.name/);
  match((await cattail(["doctor", "-o", "json"], { env })).stdout, /"MANIFEST_PROBLEM"/);
  await rm(join(path, "broken.yaml"));
  await readiness(/^(?!.*manifests)/s);
});
