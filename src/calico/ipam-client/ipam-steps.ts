// What calico/resources asks of address management when a node is deleted: the addresses of its endpoints and tunnels are free again.
import { parseRange } from "../../base/lib/index.ts";
import type { IpamSteps } from "../resources/index.ts";
import type { Ipam } from "./ipam.ts";

export function ipamSteps(ipam: Ipam): IpamSteps {
  return {
    async releaseAddresses(addresses, call) {
      const requests = addresses.flatMap((text) => {
        const address = parseRange(text);
        return address === undefined ? [] : [{ address }];
      });
      if (requests.length > 0) await ipam.releaseIPs(requests, call);
    },
  };
}
