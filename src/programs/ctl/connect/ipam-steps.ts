// Address management for deletions of nodes and pools, loaded when there is one.
import { systemClock } from "../../../base/lib/index.ts";
import type { Datastore } from "../../../calico/datastore/index.ts";
import type { IpamSteps } from "../../../calico/resources/index.ts";

export function ipamStepsOf(datastore: Datastore): IpamSteps {
  const load = async () => {
    const { ipamSteps, openIpam, openIpamAccess } = await import("../../../calico/ipam-client/index.ts");
    const edge = { clock: systemClock, random: Math.random };
    return ipamSteps(() => openIpam(openIpamAccess(datastore, edge), edge));
  };
  return {
    releaseAddresses: async (addresses, call) => (await load()).releaseAddresses(addresses, call),
    releasePool: async (cidr, call) => (await load()).releasePool(cidr, call),
    releaseNode: async (node, call) => (await load()).releaseNode(node, call),
  };
}
