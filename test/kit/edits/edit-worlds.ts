// The four datastores under the campaign of edits: how to open each with nothing in it, and how several writers reach it,
// where they can over a connection that is cut again and again, with answers lost on the way.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { silentLog, systemClock } from "../../../src/base/lib/index.ts";
import {
  createMemoryDatastore,
  type Datastore,
  type DatastoreOptions,
  openDatastore,
} from "../../../src/calico/datastore/index.ts";
import { clusterPeer, startCluster } from "../cluster.ts";
import { installCrds, openCrd } from "../crds.ts";
import { etcdMissing, startEtcd } from "../etcd.ts";
import { type FaultProxy, startProxy } from "../proxy.ts";
import { countEdits, type EditsPlan, type EditsResult, editsKind } from "./count-edits.ts";

export type EditWorld = AsyncDisposable & {
  readonly datastore: Datastore;
  /** Runs each list of plans with a datastore of its own, all at the same time. */
  write(plans: readonly (readonly EditsPlan[])[]): Promise<EditsResult[]>;
};

export type EditWorldKind = {
  readonly name: string;
  readonly missing: string | undefined;
  /** Of the short form: those with the disk in their way do fewer. */
  readonly shortEdits: number;
  /** Whether every write is an event of a watch; a folder that changes twice between two looks has changed once. */
  readonly saysEveryWrite: boolean;
  open(): Promise<EditWorld>;
};

export async function editWorlds(): Promise<EditWorldKind[]> {
  return [
    { name: "memory", missing: undefined, shortEdits: 400, saysEveryWrite: true, open: openMemory },
    { name: "directory", missing: undefined, shortEdits: 80, saysEveryWrite: false, open: openFolder },
    { name: "etcd", missing: await etcdMissing(), shortEdits: 400, saysEveryWrite: true, open: openEtcd },
    {
      name: "kubernetes",
      missing: (await clusterPeer()).missing,
      shortEdits: 400,
      saysEveryWrite: true,
      open: openKubernetes,
    },
  ];
}

const edge = { clock: systemClock, log: silentLog };

async function openMemory(): Promise<EditWorld> {
  const datastore = createMemoryDatastore({ mostChanges: 1_000_000 });
  return {
    datastore,
    write: (plans) => Promise.all(plans.flat().map((plan) => countEdits(datastore, plan))),
    [Symbol.asyncDispose]: () => datastore[Symbol.asyncDispose](),
  };
}

async function openFolder(): Promise<EditWorld> {
  const path = await mkdtemp(join(tmpdir(), "cattail-edits-"));
  const options: DatastoreOptions = { type: "directory", path };
  const datastore = await openDatastore(options, edge);
  return {
    datastore,
    write: (plans) => inProcesses(plans.map((list) => ({ datastore: options, plans: list }))),
    async [Symbol.asyncDispose]() {
      await datastore[Symbol.asyncDispose]();
      await rm(path, { recursive: true });
    },
  };
}

async function openEtcd(): Promise<EditWorld> {
  const etcd = await startEtcd();
  const [member] = etcd.members;
  if (member === undefined) throw new Error("an etcd without members");
  const proxy = await startProxy(member.port);
  const optionsAt = (port: number): DatastoreOptions => ({
    type: "etcdv3",
    endpoints: [`http://127.0.0.1:${port}`],
    requestTimeoutMs: 5000,
  });
  return behindProxy({ proxy, peer: etcd, direct: optionsAt(member.port), cut: optionsAt(proxy.port) });
}

async function openKubernetes(): Promise<EditWorld> {
  const cluster = await startCluster();
  await installCrds(cluster, [openCrd(editsKind)]);
  const proxy = await startProxy(cluster.port);
  const server = `https://127.0.0.1:${proxy.port}`;
  const kubeconfig = await cluster.makeUser("editor", { groups: ["system:masters"], server });
  const optionsOf = (file: string): DatastoreOptions => ({
    type: "kubernetes",
    kubeconfig: file,
    clientQps: 100_000,
    clientBurst: 100_000,
  });
  return behindProxy({ proxy, peer: cluster, direct: optionsOf(cluster.kubeconfig), cut: optionsOf(kubeconfig) });
}

type Reached = {
  readonly proxy: FaultProxy;
  readonly peer: AsyncDisposable;
  readonly direct: DatastoreOptions;
  readonly cut: DatastoreOptions;
};

/** Every second process is cut off, now before an answer and now in the middle of one. */
async function behindProxy({ proxy, peer, direct, cut }: Reached): Promise<EditWorld> {
  const datastore = await openDatastore(direct, edge);
  return {
    datastore,
    async write(plans) {
      let isTurn = false;
      const cutting = setInterval(() => {
        isTurn = !isTurn;
        if (isTurn) proxy.cut();
        else proxy.truncate(1);
      }, 700);
      try {
        return await inProcesses(
          plans.map((list, index) => ({ datastore: index % 2 === 0 ? direct : cut, plans: list })),
        );
      } finally {
        clearInterval(cutting);
      }
    },
    async [Symbol.asyncDispose]() {
      await datastore[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
      await peer[Symbol.asyncDispose]();
    },
  };
}

type ProcessPlan = { readonly datastore: DatastoreOptions; readonly plans: readonly EditsPlan[] };

async function inProcesses(processes: readonly ProcessPlan[]): Promise<EditsResult[]> {
  const program = join(import.meta.dirname, "writer-process.ts");
  const outputs = await Promise.all(
    processes.map((plan) =>
      promisify(execFile)(process.execPath, [program, JSON.stringify(plan)], { maxBuffer: 1 << 26 }),
    ),
  );
  return outputs.flatMap(({ stdout }) => JSON.parse(stdout) as EditsResult[]); // written by writer-process.ts
}
