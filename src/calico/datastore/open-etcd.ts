// The way to etcd, loaded by whoever goes it: its client's libraries are a fifth of what a server loads, and most servers
// have a Kubernetes instead.
import type { Datastore } from "./datastore.ts";
import type { EtcdOptions } from "./etcd/etcd-datastore.ts";

/** Connects when first asked for something. Throws for settings that can never work. */
export async function openEtcdDatastore(options: EtcdOptions): Promise<Datastore> {
  const { openEtcdDatastore: open } = await import("./etcd/etcd-datastore.ts");
  return open(options);
}
