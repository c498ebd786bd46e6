// What several steps need to know of the datastore that they are given.
import type { Datastore, KubernetesDatastore } from "../../calico/datastore/index.ts";

/** Undefined: it is none that an API server is behind. */
export function asKubernetes(datastore: Datastore): KubernetesDatastore | undefined {
  return "api" in datastore && "calicoGroup" in datastore ? (datastore as KubernetesDatastore) : undefined; // both are its own
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
