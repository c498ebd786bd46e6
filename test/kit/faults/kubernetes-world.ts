// A kube-apiserver under fault: a real one, with a proxy in front of it.

import { silentLog, systemClock } from "../../../src/base/lib/index.ts";
import { type Datastore, isDatastoreError, openKubernetes } from "../../../src/calico/datastore/index.ts";
import { type Cluster, startCluster } from "../cluster.ts";
import { installCrds, openCrd } from "../crds.ts";
import { type FaultProxy, startProxy } from "../proxy.ts";
import { contentOf, type Fault, type FaultWorld, networkFaults } from "./world.ts";

const kinds = ["Tier", "IPPool"] as const;

export async function openKubernetesWorld(): Promise<FaultWorld> {
  const cluster = await startCluster();
  await installCrds(
    cluster,
    kinds.map((kind) => openCrd(kind)),
  );
  const proxy = await startProxy(cluster.port);
  const server = `https://127.0.0.1:${proxy.port}`;
  const kubeconfig = await cluster.makeUser("follower", { groups: ["system:masters"], server });
  const open = (file: string) =>
    openKubernetes(
      { kubeconfig: file, clientQps: 10_000, clientBurst: 10_000 },
      { clock: systemClock, log: silentLog },
    );
  const datastore = await open(kubeconfig);
  const direct = await open(cluster.kubeconfig);
  return {
    name: "kubernetes",
    kinds,
    faults: [...networkFaults(proxy), ...serverFaults(cluster, proxy)],
    datastore,
    put: (kind, name, serial) => patiently(() => put(direct, kind as (typeof kinds)[number], name, serial)),
    remove: (kind, name) =>
      patiently(async () => {
        try {
          await direct.delete(kind, { namespace: "", name });
        } catch (error) {
          if (!isDatastoreError(error, "not-found")) throw error;
        }
      }),
    truth: (kind) => patiently(() => contentOf(direct, kind)),
    async [Symbol.asyncDispose]() {
      await datastore[Symbol.asyncDispose]();
      await direct[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

async function put(datastore: Datastore, kind: (typeof kinds)[number], name: string, serial: number): Promise<void> {
  const value = { metadata: { name }, spec: { serial } };
  const stored = await datastore.get(kind, { namespace: "", name });
  if (stored === undefined) await datastore.create(kind, value);
  else await datastore.update(kind, { ...stored, value });
}

/** A server that has just started is not ready for everything at once. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const isPassing = isDatastoreError(error, "unavailable", "rate-limited", "conflict", "exists", "expired");
      if (tries >= 200 || !isPassing) throw error;
    }
    await systemClock.sleep(50);
  }
}

function serverFaults({ apiserver }: Cluster, proxy: FaultProxy): Fault[] {
  return [
    {
      name: "the API server is killed and starts again",
      weight: 0.5,
      async strike({ random, write }) {
        await write(random.below(10));
        await apiserver.kill();
        await apiserver.start();
        await write(random.below(10));
      },
    },
    {
      name: "the API server starts again, without history, while nothing passes",
      weight: 0.5,
      async strike({ random, write }) {
        proxy.freeze();
        await write(random.below(10));
        await apiserver.kill();
        await apiserver.start();
        await write(1 + random.below(10));
        proxy.cut();
        proxy.thaw();
      },
    },
    {
      name: "the API server stands still",
      async strike({ random, write }) {
        apiserver.freeze();
        await systemClock.sleep(random.below(500));
        apiserver.thaw();
        await write(random.below(10));
      },
    },
  ];
}
