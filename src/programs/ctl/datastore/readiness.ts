// The lock of a migration: ClusterInformation says whether the datastore may be used. Nodes and CNI plugins look at it.
import { isResourceError, type Resources } from "../../../calico/resources/index.ts";
import { CtlError } from "../console.ts";

const id = { namespace: "", name: "default" };

/** Throws what the datastore says, "not-found" included, after `words`. */
export async function setReady(
  resources: Resources,
  isReady: boolean,
  { signal, purpose }: { signal: AbortSignal; purpose: "locking" | "unlocking" },
): Promise<void> {
  try {
    const { metadata, spec } = await resources.get("ClusterInformation", id, { signal });
    if (spec.datastoreReady === isReady && metadata.name !== undefined) return;
  } catch (error) {
    throw failed(`error retrieving ClusterInformation for ${purpose}`, error);
  }
  try {
    await resources.edit(
      "ClusterInformation",
      id,
      (current) =>
        current === undefined ? "nothing" : { ...current, spec: { ...current.spec, datastoreReady: isReady } },
      { signal },
    );
  } catch (error) {
    throw failed(`error updating ClusterInformation for ${purpose}`, error);
  }
}

export async function isLocked(resources: Resources, signal: AbortSignal): Promise<boolean> {
  try {
    const { spec } = await resources.get("ClusterInformation", id, { signal });
    return spec.datastoreReady === false;
  } catch (error) {
    throw failed("error while checking if datastore was locked: error retrieving ClusterInformation", error);
  }
}

/** What the datastore said, after what was tried. */
export function failed(what: string, error: unknown): unknown {
  if (!(error instanceof Error) || !(isResourceError(error) || "code" in error)) return error;
  return new CtlError(`${what}: ${error.message}`, { cause: error });
}
