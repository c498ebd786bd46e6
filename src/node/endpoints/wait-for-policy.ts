// A pod may wait until Felix has its policy in place, which Felix says with a file. That it did not in time is only said: a pod without policy
// is better than none, as Felix drops what it does not know.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { EndpointEdge, EndpointRequest } from "./request.ts";

const pauseMs = 100;

export async function waitForPolicy(
  request: EndpointRequest,
  { clock, warn, signal }: Pick<EndpointEdge, "clock" | "warn" | "signal">,
): Promise<void> {
  const { policyWaitSeconds, endpointStatusDir } = request.settings;
  if (policyWaitSeconds === 0) return;
  const file = join(endpointStatusDir, statusFileName(request));
  const startMs = clock.monotonicMs();
  while (clock.monotonicMs() - startMs < policyWaitSeconds * 1_000) {
    if (existsSync(file)) return;
    await clock.sleep(pauseMs, signal);
  }
  warn(`policy was not in place within ${policyWaitSeconds} s: there is no ${file}`);
}

/** ORCHESTRATOR NAMESPACE%2FPOD ENDPOINT: each part escaped, so that none holds a slash or a space. */
export function statusFileName({
  pod,
  containerId,
  ifname,
}: Pick<EndpointRequest, "pod" | "containerId" | "ifname">): string {
  const parts = pod === undefined ? ["cni", containerId, ifname] : ["k8s", `${pod.namespace}/${pod.name}`, ifname];
  return parts.map(encodeURIComponent).join(" ");
}
