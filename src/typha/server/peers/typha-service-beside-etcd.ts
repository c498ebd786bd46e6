// The Typha service's slices where the objects themselves are in etcd: followed from the Kubernetes API, which rebalancing
// then needs beside the datastore, as in the original. Without it the server keeps to its upper limit and says so once.

import { type Clock, type Log, messageOf } from "../../../base/lib/index.ts";
import { follow, openKubernetes, type Reader, writeJson } from "../../../calico/datastore/index.ts";
import { updateType } from "../../../calico/model/index.ts";
import { kubernetesSettings, type Settings } from "../../settings/index.ts";
import { slicePath, type TyphaService } from "./typha-service.ts";

type Edge = { readonly clock: Clock; readonly log: Log; readonly random: () => number; readonly signal: AbortSignal };

export async function followServiceBesideEtcd(settings: Settings, service: TyphaService, edge: Edge): Promise<void> {
  try {
    await using kubernetes = await openKubernetes(kubernetesSettings(settings), edge);
    await followService(kubernetes, service, edge);
  } catch (error) {
    edge.log.warn("Cannot follow the Typha service; connections are not rebalanced", { problem: messageOf(error) });
  }
}

export async function followService(kubernetes: Reader, service: TyphaService, edge: Edge): Promise<void> {
  for await (const events of follow(kubernetes, "EndpointSlice", edge)) {
    for (const event of events) {
      if (event.is === "status") continue;
      const id = event.is === "set" ? event.object.id : event.id;
      const value = event.is === "set" ? writeJson(event.object.value) : undefined;
      const type = event.is === "set" ? updateType.new : updateType.deleted;
      service.apply([{ path: slicePath(id), value, revision: "", v3ResourceVersion: "", type }]);
    }
  }
}
