// The kubernetes datastore against a kube-apiserver that does not stream lists and forgets quickly: pages, and a
// continuation that expires between two of them.
import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { follow, isDatastoreError, openKubernetes } from "../../src/calico/datastore/index.ts";
import { clusterPeer, startCluster } from "../kit/cluster.ts";
import { installCrds, openCrd } from "../kit/crds.ts";
import { eventually } from "../kit/eventually.ts";
import { listState } from "../kit/follow-state.ts";

const skip = (await clusterPeer()).missing ?? false;
const sets = "/apis/crd.projectcalico.org/v1/globalnetworksets";

test("a list in pages starts again when its continuation expires, and deletes nothing meanwhile", {
  skip,
}, async () => {
  await using cluster = await startCluster({
    apiserverFlags: [
      "--feature-gates=WatchList=false,ListFromCacheSnapshot=false",
      "--etcd-compaction-interval=2s", // a page's revision is gone after two to four seconds
    ],
  });
  await installCrds(cluster, [openCrd("GlobalNetworkSet")]);
  const named = (name: string) => ({
    apiVersion: "crd.projectcalico.org/v1",
    kind: "GlobalNetworkSet",
    metadata: { name },
  });
  let next = 0;
  const fill = async () => {
    for (let i = next++; i < 1100; i = next++) await cluster.must("POST", sets, named(`x-${1000 + i}`));
  };
  await Promise.all(Array.from({ length: 16 }, fill));
  await using datastore = await openKubernetes(
    { kubeconfig: cluster.kubeconfig },
    { clock: systemClock, log: silentLog },
  );
  const controller = new AbortController();
  const { signal } = controller;

  const pages = await inTime(() => Array.fromAsync(datastore.list("GlobalNetworkSet", { signal })));
  deepEqual(
    pages.map(({ items }) => items.length),
    [500, 500, 100],
  );
  equal(new Set(pages.map(({ revision }) => revision)).size, 1);

  const isForgotten = async (token: string) =>
    (await cluster.ask("GET", `${sets}?limit=1&continue=${token}`)).status === 410;
  const firstPage = async () => {
    const answer = await cluster.must("GET", `${sets}?limit=1`);
    return encodeURIComponent((answer as { metadata: { continue: string } }).metadata.continue);
  };
  let passed = 0;
  await rejects(
    async () => {
      for await (const _ of datastore.list("GlobalNetworkSet", { signal })) {
        passed += 1;
        const token = await firstPage(); // no older than the list: once it is forgotten, so is that
        await cluster.must("POST", sets, named(`later-${passed}`)); // compaction needs a newer revision
        await eventually(() => isForgotten(token), "the list's revision is compacted");
      }
    },
    { code: "expired" },
  );
  equal(passed, 1);

  // The follower's reader is slow exactly once: its list expires, and the next one is complete.
  const objects = new Set<string>();
  const deleted: string[] = [];
  let isSlow = true;
  const follower = follow(datastore, "GlobalNetworkSet", {
    clock: systemClock,
    log: silentLog,
    random: () => 0,
    signal,
  });
  for await (const events of follower) {
    for (const event of events) {
      if (event.is === "set") objects.add(`/${event.object.id.name}`);
      if (event.is === "delete") deleted.push(event.id.name);
    }
    if (events.some((event) => event.is === "status" && event.status === 2)) break;
    if (!isSlow) continue;
    isSlow = false;
    const token = await firstPage();
    await cluster.must("DELETE", `${sets}/x-1000`);
    await eventually(() => isForgotten(token), "the list's revision is compacted");
  }
  controller.abort();
  deepEqual(deleted, ["x-1000"]);
  objects.delete("/x-1000");
  await using reader = await openKubernetes({ kubeconfig: cluster.kubeconfig }, { clock: systemClock, log: silentLog });
  const listed = await inTime(() => listState(reader, "GlobalNetworkSet"));
  deepEqual([...objects].sort(), [...listed.keys()].sort());
});

/** On a busy machine a list may take longer than its revision is kept; one of the next will not. */
async function inTime<T>(list: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await list();
    } catch (error) {
      if (!isDatastoreError(error, "expired")) throw error;
    }
  }
}
