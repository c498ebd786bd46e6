// Services whose addresses Calico gives: which those are is said by the configuration of its controllers.
import { isRecord, type JsonRecord } from "../../base/lib/index.ts";
import { isResourceError, type Resources } from "../resources/index.ts";

/** Undefined: nobody has said that Calico gives addresses to services. */
export type LoadBalancers = { readonly assignIPs: "AllServices" | "RequestedServicesOnly" } | undefined;

export async function loadBalancersOf(resources: Resources, signal: AbortSignal): Promise<LoadBalancers> {
  try {
    const id = { namespace: "", name: "default" };
    const { spec } = await resources.get("KubeControllersConfiguration", id, { signal });
    const { loadBalancer } = recordAt(spec.controllers);
    if (!isRecord(loadBalancer)) return undefined;
    return { assignIPs: loadBalancer.assignIPs === "RequestedServicesOnly" ? "RequestedServicesOnly" : "AllServices" };
  } catch (error) {
    // A cluster that was made by hand has no controllers.
    if (isResourceError(error, "not-found", "no-such-kind")) return undefined;
    throw error;
  }
}

const ofCalico = "calico";
const asks = ["projectcalico.org/ipv4pools", "projectcalico.org/ipv6pools", "projectcalico.org/loadBalancerIPs"];

/** Whether the addresses of this service are Calico's to give. */
export function assignsLoadBalancers(service: unknown, balancers: LoadBalancers): boolean {
  const { metadata, spec } = recordAt(service);
  const { type, loadBalancerClass, loadBalancerIP = "" } = recordAt(spec);
  if (type !== "LoadBalancer" || balancers === undefined) return false;
  const isOthers = loadBalancerClass !== undefined && loadBalancerClass !== null && loadBalancerClass !== ofCalico;
  if (isOthers || balancers.assignIPs === "AllServices") return !isOthers;
  const annotations = recordAt(recordAt(metadata).annotations);
  const isAsked = asks.some((name) => (annotations[name] ?? "") !== "");
  return loadBalancerClass === ofCalico || isAsked || loadBalancerIP !== "";
}

function recordAt(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}
