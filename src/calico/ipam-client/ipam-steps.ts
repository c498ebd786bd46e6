// What calico/resources asks of address management when a node or a pool is deleted: the addresses of the node's endpoints and tunnels are
// free again, and blocks are given back. A cluster with another IPAM has no such kinds, and nothing to give back.
import { parseRange } from "../../base/lib/index.ts";
import { type IpamSteps, isResourceError } from "../resources/index.ts";
import type { Ipam } from "./ipam.ts";

/** `open` is called when first needed: most programs delete neither nodes nor pools. */
export function ipamSteps(open: () => Ipam | Promise<Ipam>): Required<IpamSteps> {
  let opened: Promise<Ipam> | undefined;
  const ipam = () => {
    opened ??= Promise.resolve(open());
    return opened;
  };
  return {
    async releaseAddresses(addresses, call) {
      const requests = addresses.flatMap((text) => {
        const address = parseRange(text);
        return address === undefined ? [] : [{ address }];
      });
      if (requests.length > 0) await whereThereIsIpam(async () => (await ipam()).releaseIPs(requests, call));
    },
    releasePool: (cidr, call) => whereThereIsIpam(async () => (await ipam()).releasePoolAffinities(cidr, call)),
    releaseNode: (node, call) => whereThereIsIpam(async () => (await ipam()).removeHost(node, call)),
  };
}

async function whereThereIsIpam(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isResourceError(error, "no-such-kind")) throw error;
  }
}
