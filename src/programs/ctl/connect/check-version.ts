// The comparison that comes before most commands: a cluster of a Calico version that we do not speak is not touched, unless
// --allow-version-mismatch says so. A cluster that names no version, or has no ClusterInformation yet, passes.
import { isRecord } from "../../../base/lib/index.ts";
import { isResourceError, type Resources } from "../../../calico/resources/index.ts";
import { CtlError } from "../console.ts";
import { cutVersion, isSpoken } from "./versions.ts";

const override = "Use --allow-version-mismatch to override";

/** `client` as `version` prints it. Throws CtlError with the original's words. */
export async function checkVersion(resources: Resources, client: string, signal: AbortSignal): Promise<void> {
  const cluster = await clusterVersion(resources, signal);
  if (cluster === "" || isSpoken(cluster)) return;
  throw new CtlError(
    `version mismatch.\nClient Version:   ${client}\nCluster Version:  ${cutVersion(cluster)}\n${override}`,
  );
}

async function clusterVersion(resources: Resources, signal: AbortSignal): Promise<string> {
  try {
    const { spec } = await resources.get("ClusterInformation", { namespace: "", name: "default" }, { signal });
    const version = isRecord(spec) ? spec.calicoVersion : undefined;
    return typeof version === "string" ? version : "";
  } catch (error) {
    signal.throwIfAborted();
    if (isResourceError(error, "not-found", "no-such-kind")) return "";
    if (!(error instanceof Error)) throw error;
    const text = `unable to get Cluster Information to verify version mismatch: ${error.message}\n${override}`;
    throw new CtlError(text, { cause: error });
  }
}
