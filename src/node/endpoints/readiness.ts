// Whether Calico's data may be used now. A migration of the datastore stops everything with one flag.
import { messageOf } from "../../base/lib/index.ts";
import { ResourceError, type Resources, type V3Object } from "../../calico/resources/index.ts";
import { EndpointError } from "./endpoint-error.ts";

export async function mustBeReady(resources: Resources, signal?: AbortSignal): Promise<void> {
  refuseUnready(await clusterInformation(resources, signal));
}

/** Throws EndpointError where it is not. */
export function refuseUnready({ spec }: V3Object): void {
  if (spec.datastoreReady === false) throw new EndpointError("Calico is currently not ready to process requests");
}

export async function clusterInformation(resources: Resources, signal: AbortSignal | undefined): Promise<V3Object> {
  try {
    return await resources.get("ClusterInformation", { namespace: "", name: "default" }, { signal });
  } catch (error) {
    if (!(error instanceof ResourceError)) throw error;
    throw new EndpointError(`error getting ClusterInformation: ${messageOf(error)}`, { cause: error });
  }
}
