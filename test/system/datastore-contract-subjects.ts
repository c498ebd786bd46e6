// The four datastores as the contract sees them: how to open each with nothing in it, and how something gets into it.
import { mkdtemp, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import {
  createMemoryDatastore,
  type Datastore,
  type ObjectId,
  openDirectoryDatastore,
  openEtcdDatastore,
  openKubernetes,
  writeJson,
} from "../../src/calico/datastore/index.ts";
import { type Kind, kindInfo } from "../../src/calico/kinds/index.ts";
import { clusterPeer, startCluster } from "../kit/cluster.ts";
import { customKinds, installCrds, openCrd } from "../kit/crds.ts";
import { etcdMissing, startEtcd } from "../kit/etcd.ts";

export type TestObject = { metadata: { name: string; namespace?: string; [more: string]: unknown }; spec?: object };

export type Opened = AsyncDisposable & {
  readonly datastore: Datastore;
  /** Creates or replaces, by the way its users do. */
  put(kind: Kind, object: TestObject): Promise<void>;
  remove(kind: Kind, id: ObjectId): Promise<void>;
  /** A second way to the same objects: another connection, another reader of the same folder. */
  another(): Promise<Datastore>;
  /** Makes old revisions unusable. */
  forgetHistory?(): Promise<void>;
};

export type Subject = {
  readonly name: string;
  readonly missing: string | undefined;
  /** Objects on one page. */
  readonly pageSize: number;
  readonly isWritable: boolean;
  /** One that it does not have; undefined: it holds every kind. */
  readonly missingKind: Kind | undefined;
  open(): Promise<Opened>;
};

export async function contractSubjects(): Promise<Subject[]> {
  return [
    { name: "memory", missing: undefined, pageSize: 7, isWritable: true, missingKind: undefined, open: openMemory },
    {
      name: "directory",
      missing: undefined,
      pageSize: 7,
      isWritable: true,
      missingKind: undefined,
      open: openDirectory,
    },
    {
      name: "directory by hand",
      missing: undefined,
      pageSize: 500,
      isWritable: false,
      missingKind: undefined,
      open: openDirectoryByHand,
    },
    { name: "etcd", missing: await etcdMissing(), pageSize: 7, isWritable: true, missingKind: "Pod", open: openEtcd },
    {
      name: "kubernetes",
      missing: (await clusterPeer()).missing,
      pageSize: 500,
      isWritable: true,
      missingKind: kindWithoutCrd,
      open: openCluster,
    },
  ];
}

/** Calico's own, but not installed. */
const kindWithoutCrd = "BGPFilter";

async function openMemory(): Promise<Opened> {
  const datastore = createMemoryDatastore({ pageSize: 7, holdsEveryKind: true });
  return {
    datastore,
    ...writesTo(datastore),
    another: async () => ({ ...memoryCalls(datastore), async [Symbol.asyncDispose]() {} }),
    forgetHistory: async () => datastore.compact(),
    [Symbol.asyncDispose]: () => datastore[Symbol.asyncDispose](),
  };
}

async function openDirectory(): Promise<Opened> {
  const path = await mkdtemp(join(tmpdir(), "cattail-contract-"));
  const open = () => openDirectoryDatastore({ path, durable: false, pageSize: 7 });
  const datastore = await open();
  return {
    datastore,
    ...writesTo(datastore),
    another: open,
    async [Symbol.asyncDispose]() {
      await datastore[Symbol.asyncDispose]();
      await rm(path, { recursive: true });
    },
  };
}

/** Files that a person writes, who knows nothing of the datastore. */
async function openDirectoryByHand(): Promise<Opened> {
  const path = await mkdtemp(join(tmpdir(), "cattail-contract-"));
  const datastore = await openDirectoryDatastore({ path, quietMs: 1 });
  const fileOf = (kind: Kind, { namespace, name }: ObjectId) => join(path, `${kind}-${namespace}-${name}.json`);
  return {
    datastore,
    async put(kind, object) {
      const { name, namespace = "" } = object.metadata;
      const manifest = { apiVersion: "projectcalico.org/v3", kind, ...object };
      await writeFile(fileOf(kind, { name, namespace }), writeJson(manifest));
      await datastore.refresh();
    },
    async remove(kind, id) {
      await unlink(fileOf(kind, id));
      await datastore.refresh();
    },
    another: () => openDirectoryDatastore({ path, quietMs: 1 }),
    async [Symbol.asyncDispose]() {
      await datastore[Symbol.asyncDispose]();
      await rm(path, { recursive: true });
    },
  };
}

async function openEtcd(): Promise<Opened> {
  const etcd = await startEtcd();
  const [member] = etcd.members;
  if (member === undefined) throw new Error("an etcd without members");
  const open = () => openEtcdDatastore({ endpoints: [member.url], pageSize: 7 });
  const datastore = await open();
  return {
    datastore,
    ...writesTo(datastore),
    another: open,
    async forgetHistory() {
      await member.ask({ do: "compact" });
    },
    async [Symbol.asyncDispose]() {
      await datastore[Symbol.asyncDispose]();
      await etcd[Symbol.asyncDispose]();
    },
  };
}

async function openCluster(): Promise<Opened> {
  const cluster = await startCluster();
  await installCrds(
    cluster,
    [...customKinds, "IPAMConfig" as const]
      .filter((kind) => kind !== kindWithoutCrd)
      .map((kind) => openCrd(kind, { hasStatus: kind === "CalicoNodeStatus" })),
  );
  const settings = { kubeconfig: cluster.kubeconfig, clientQps: 10_000, clientBurst: 10_000 };
  const open = () => openKubernetes(settings, { clock: systemClock, log: silentLog });
  const datastore = await open();
  return {
    datastore,
    ...writesTo(datastore),
    another: open,
    async forgetHistory() {
      // A server that has just started has no history in its memory.
      await cluster.apiserver.kill();
      await cluster.apiserver.start();
    },
    async [Symbol.asyncDispose]() {
      await datastore[Symbol.asyncDispose]();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

/** The same memory, without the right to close it. */
function memoryCalls(memory: Datastore): Omit<Datastore, typeof Symbol.asyncDispose> {
  return {
    flavour: memory.flavour,
    list: (...call) => memory.list(...call),
    watch: (...call) => memory.watch(...call),
    get: (...call) => memory.get(...call),
    create: (...call) => memory.create(...call),
    update: (...call) => memory.update(...call),
    updateStatus: (...call) => memory.updateStatus(...call),
    patch: (...call) => memory.patch(...call),
    delete: (...call) => memory.delete(...call),
  };
}

function writesTo(datastore: Datastore): Pick<Opened, "put" | "remove"> {
  return {
    async put(kind, object) {
      const { name, namespace = "" } = object.metadata;
      const stored = await datastore.get(kind, { namespace: kindInfo(kind).namespaced ? namespace : "", name });
      if (stored === undefined) await datastore.create(kind, object);
      else await datastore.update(kind, { ...stored, value: object });
    },
    remove: (kind, id) => datastore.delete(kind, id),
  };
}
