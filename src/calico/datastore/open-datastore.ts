// Opens a datastore, and loads only the one that was asked for: a program that reads one object from an API server does not
// pay for etcd's client, nor for a reader of YAML. One that is not there yet is no reason to fail: connections are made when
// first used. What can never work (an unreadable key, a bad kubeconfig, a folder that is a file) throws.
import { type Clock, type Log, unreachable } from "../../base/lib/index.ts";
import type { Datastore } from "./datastore.ts";
import type { DirectoryDatastore, DirectoryOptions } from "./directory/directory-datastore.ts";
import type { FolderAsRead } from "./directory/read-folder.ts";
import type { EtcdOptions } from "./etcd/etcd-datastore.ts";
import type { KubernetesDatastore, KubernetesOptions, KubernetesSettings } from "./kubernetes/kubernetes-datastore.ts";
import type { MemoryDatastoreOptions } from "./memory/memory-datastore.ts";

type WithoutEdge<Options> = Omit<Options, "clock" | "log">;

/** Which datastore, and how to reach it. */
export type DatastoreOptions =
  | (KubernetesSettings & { readonly type: "kubernetes" })
  | (WithoutEdge<EtcdOptions> & { readonly type: "etcdv3" })
  | (WithoutEdge<DirectoryOptions> & { readonly type: "directory" })
  | (WithoutEdge<MemoryDatastoreOptions> & { readonly type: "memory" });

export type Edge = { readonly clock: Clock; readonly log: Log };

export async function openDatastore(options: DatastoreOptions, edge: Edge): Promise<Datastore> {
  switch (options.type) {
    case "kubernetes":
      return await openKubernetes(options, edge);
    case "etcdv3":
      return await openEtcdDatastore({ ...options, ...edge });
    case "directory":
      return await openDirectoryDatastore({ ...options, ...edge });
    case "memory": {
      const { createMemoryDatastore } = await import("./memory/memory-datastore.ts");
      return createMemoryDatastore({ ...options, clock: edge.clock });
    }
    default:
      return unreachable(options);
  }
}

export async function openKubernetes(
  settings: KubernetesSettings,
  options: KubernetesOptions,
): Promise<KubernetesDatastore> {
  const { openKubernetes: open } = await import("./kubernetes/kubernetes-datastore.ts");
  return await open(settings, options);
}

export async function openEtcdDatastore(options: EtcdOptions): Promise<Datastore> {
  const { openEtcdDatastore: open } = await import("./etcd/etcd-datastore.ts");
  return await open(options);
}

/** etcd's members by the SRV records of a domain. */
export async function endpointsOfDomain(domain: string): Promise<readonly string[]> {
  const { endpointsOfDomain: look } = await import("./etcd/discovery.ts");
  return await look(domain);
}

export async function openDirectoryDatastore(options: DirectoryOptions): Promise<DirectoryDatastore> {
  const { openDirectoryDatastore: open } = await import("./directory/directory-datastore.ts");
  return await open(options);
}

export async function readFolder(path: string): Promise<FolderAsRead> {
  const { readFolder: read } = await import("./directory/read-folder.ts");
  return await read(path);
}
