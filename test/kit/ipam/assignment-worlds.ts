// The datastores under the campaign of assignments, each with nothing in it. Their files are in memory where there is room: what is
// asked here is whether addresses are given twice, and not how fast a disk is.
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog, systemClock } from "../../../src/base/lib/index.ts";
import { createMemoryDatastore, type Datastore, openDatastore } from "../../../src/calico/datastore/index.ts";
import { clusterPeer, startCluster } from "../cluster.ts";
import { installCrds, openCrd } from "../crds.ts";
import { etcdMissing, startEtcd } from "../etcd.ts";

export type AssignmentWorld = AsyncDisposable & { readonly datastore: Datastore };
export type AssignmentWorldKind = {
  readonly name: "memory" | "directory" | "etcd" | "kubernetes";
  readonly missing: string | undefined;
  open(): Promise<AssignmentWorld>;
};

export async function assignmentWorlds(): Promise<AssignmentWorldKind[]> {
  return [
    { name: "memory", missing: undefined, open: openMemory },
    { name: "directory", missing: undefined, open: openFolder },
    { name: "etcd", missing: await etcdMissing(), open: openEtcd },
    { name: "kubernetes", missing: (await clusterPeer()).missing, open: openKubernetes },
  ];
}

const edge = { clock: systemClock, log: silentLog };

/** Where the kit makes its folders; to be called before any is made. */
export function useMemoryForFiles(): void {
  if (existsSync("/dev/shm")) process.env.TMPDIR = "/dev/shm";
}

async function openMemory(): Promise<AssignmentWorld> {
  const datastore = createMemoryDatastore({ mostChanges: 1000 });
  return { datastore, [Symbol.asyncDispose]: () => datastore[Symbol.asyncDispose]() };
}

async function openFolder(): Promise<AssignmentWorld> {
  const path = await mkdtemp(join(tmpdir(), "cattail-assignments-"));
  const datastore = await openDatastore({ type: "directory", path }, edge);
  return {
    datastore,
    async [Symbol.asyncDispose]() {
      await datastore[Symbol.asyncDispose]();
      await rm(path, { recursive: true });
    },
  };
}

async function openEtcd(): Promise<AssignmentWorld> {
  const etcd = await startEtcd();
  const [member] = etcd.members;
  if (member === undefined) throw new Error("an etcd without members");
  const endpoints = [`http://127.0.0.1:${member.port}`];
  const datastore = await openDatastore({ type: "etcdv3", endpoints, requestTimeoutMs: 30_000 }, edge);
  // Every write leaves a version behind, and a member keeps no more than two gigabytes of them.
  const compacting = setInterval(() => {
    member.ask({ do: "compact" }).catch(() => undefined);
  }, 10_000);
  return {
    datastore,
    async [Symbol.asyncDispose]() {
      clearInterval(compacting);
      await datastore[Symbol.asyncDispose]();
      await etcd[Symbol.asyncDispose]();
    },
  };
}

async function openKubernetes(): Promise<AssignmentWorld> {
  const cluster = await startCluster({ apiserverFlags: ["--etcd-compaction-interval=1m"] });
  await installCrds(
    cluster,
    (["IPAMBlock", "BlockAffinity", "IPAMHandle"] as const).map((kind) => openCrd(kind)),
  );
  const limits = { clientQps: 100_000, clientBurst: 100_000, streamLists: false };
  const datastore = await openDatastore({ type: "kubernetes", kubeconfig: cluster.kubeconfig, ...limits }, edge);
  return {
    datastore,
    async [Symbol.asyncDispose]() {
      await datastore[Symbol.asyncDispose]();
      await cluster[Symbol.asyncDispose]();
    },
  };
}
