// The world of one part of a node's agent, on a real API server, without the agent.
import { silentLog, systemClock } from "../../../src/base/lib/index.ts";
import { createMetrics } from "../../../src/base/observe/index.ts";
import { type Datastore, openKubernetes } from "../../../src/calico/datastore/index.ts";
import type { PartWorld } from "../../../src/node/part/index.ts";
import type { Cluster } from "../cluster.ts";

type Report = Parameters<PartWorld["health"]["report"]>[0];

export async function partWorld(
  node: string,
  cluster: Cluster,
): Promise<PartWorld & AsyncDisposable & { readonly reports: readonly Report[] }> {
  const datastore: Datastore = await openKubernetes(
    { kubeconfig: cluster.kubeconfig, clientQps: -1 },
    { clock: systemClock, log: silentLog },
  );
  const reports: Report[] = [];
  return {
    node,
    log: silentLog,
    clock: systemClock,
    metrics: createMetrics({ table: {}, labels: {}, clock: systemClock }),
    health: { report: (report) => void reports.push(report) },
    feed: { follow: () => ({ [Symbol.dispose]: () => undefined }) },
    settings: { raw: () => undefined, onChange: () => ({ [Symbol.dispose]: () => undefined }) },
    datastore: async () => datastore,
    reports,
    async [Symbol.asyncDispose]() {
      await datastore[Symbol.asyncDispose]();
    },
  };
}
