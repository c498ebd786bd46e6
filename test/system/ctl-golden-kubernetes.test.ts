// The recorded runs of calicoctl against a real API server: first without Calico's CRDs, then with them.
import { after, before, describe, test } from "node:test";
import { crdManifest, customKinds } from "../../src/calico/kinds/index.ts";
import { casesOn } from "../conformance/ctl/case.ts";
import { kubernetesStore } from "../conformance/ctl/kubernetes-store.ts";
import type { Store } from "../conformance/ctl/store.ts";
import { asTest } from "../conformance/ctl/test-case.ts";
import { type Cluster, clusterPeer, startCluster } from "../kit/cluster.ts";
import { installCrds } from "../kit/crds.ts";

const peer = await clusterPeer();

describe("recorded runs of calicoctl, on Kubernetes", { skip: peer.missing ?? false }, () => {
  let cluster: Cluster;
  let store: Store;
  before(async () => {
    cluster = await startCluster();
    store = await kubernetesStore(cluster);
  });
  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  describe("without the CRDs", () => {
    for (const golden of casesOn("bare")) test(...asTest(golden, () => store));
  });

  describe("with the CRDs", () => {
    before(async () => {
      await installCrds(
        cluster,
        customKinds.map((kind) => crdManifest(kind)),
      );
      store = await kubernetesStore(cluster);
    });
    for (const golden of casesOn("kubernetes")) test(...asTest(golden, () => store));
  });
});
