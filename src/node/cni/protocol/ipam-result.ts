// The answer of an IPAM plugin in each version of the protocol:
//
//   0.1, 0.2   {"ip4":{"ip","routes"},"ip6":…,"dns":{}}
//   0.3, 0.4   {"ips":[{"version":"4","address"}],"routes":[…],"dns":{}}
//   1.0, 1.1   {"ips":[{"address"}],"routes":[…]}
import type { JsonRecord } from "../../../base/lib/index.ts";
import type { CniVersion } from "./versions.ts";

/** As text, with a mask. */
export type ResultAddress = { readonly family: 4 | 6; readonly cidr: string };

/** Each address is also a route: the original's plugin passes them on, and so do those that expect it. */
export function ipamResult(cniVersion: CniVersion, addresses: readonly ResultAddress[]): JsonRecord {
  // As Go writes it: an empty list is not there.
  const routes = addresses.length === 0 ? {} : { routes: addresses.map(({ cidr }) => ({ dst: cidr })) };
  switch (cniVersion) {
    case "0.1.0":
    case "0.2.0":
      return { cniVersion, ...oldFamilies(addresses), dns: {} };
    case "0.3.0":
    case "0.3.1":
    case "0.4.0": {
      const ips = addresses.map(({ family, cidr }) => ({ version: String(family), address: cidr }));
      return { cniVersion, ...(ips.length === 0 ? {} : { ips }), ...routes, dns: {} };
    }
    case "1.0.0":
    case "1.1.0": {
      const ips = addresses.map(({ cidr }) => ({ address: cidr }));
      return { cniVersion, ...(ips.length === 0 ? {} : { ips }), ...routes };
    }
  }
}

function oldFamilies(addresses: readonly ResultAddress[]): JsonRecord {
  const families = addresses.map(({ family, cidr }) => [`ip${family}`, { ip: cidr, routes: [{ dst: cidr }] }] as const);
  return Object.fromEntries(families);
}
