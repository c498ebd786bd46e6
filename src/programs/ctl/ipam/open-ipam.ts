// Address management on the connection of a command.
import { systemClock } from "../../../base/lib/index.ts";
import { type Ipam, openIpam, openIpamAccess } from "../../../calico/ipam-client/index.ts";
import type { Connection } from "../connection.ts";

export function ipamOf({ datastore }: Connection): Ipam {
  const edge = { clock: systemClock, random: Math.random };
  return openIpam(openIpamAccess(datastore, edge), edge);
}
