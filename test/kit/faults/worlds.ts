// Every world there is, by name, with the reason where one cannot be had here.
import { clusterPeer } from "../cluster.ts";
import { etcdMissing } from "../etcd.ts";
import { openDirectoryWorld } from "./directory-world.ts";
import { openEtcdWorld } from "./etcd-world.ts";
import { openKubernetesWorld } from "./kubernetes-world.ts";
import { openMemoryWorld } from "./memory-world.ts";
import type { FaultWorld } from "./world.ts";

export type WorldEntry = {
  readonly name: string;
  /** Its part of a campaign. */
  readonly share: number;
  readonly missing: string | undefined;
  open(): Promise<FaultWorld>;
};

export async function faultWorlds(): Promise<WorldEntry[]> {
  const etcd = await etcdMissing();
  const cluster = (await clusterPeer()).missing;
  return [
    { name: "etcd", share: 0.4, missing: etcd, open: () => openEtcdWorld(1) },
    { name: "etcd-3", share: 0.1, missing: etcd, open: () => openEtcdWorld(3) },
    { name: "kubernetes", share: 0.3, missing: cluster, open: openKubernetesWorld },
    { name: "directory", share: 0.1, missing: undefined, open: openDirectoryWorld },
    { name: "memory", share: 0.1, missing: undefined, open: openMemoryWorld },
  ];
}
