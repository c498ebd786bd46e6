// What the kernel is told of a pod's interface, on either side: whose questions the node answers, and what the pod may forward.
import { messageOf } from "../../../base/lib/index.ts";
import { writeSysctl } from "../../../base/linux/kernel.ts";
import { EndpointError } from "../endpoint-error.ts";
import type { NetworkEdge, PodLink } from "./pod-link.ts";

const leastMtu6 = 1_280;

export function has({ addresses }: Pick<PodLink, "addresses">, wanted: 4 | 6): boolean {
  return addresses.some(({ family }) => family === wanted);
}

/** For others who have its addresses, which costs a second: nobody can. It is the first thing that the pod's IPv6 is asked for, and may not be there. */
export function skipLooking({ ifname, mtu, netns }: PodLink): void {
  try {
    writeSysctl(["net", "ipv6", "conf", ifname, "accept_dad"], 0, { namespace: netns });
  } catch (error) {
    const path = `/proc/sys/net/ipv6/conf/${ifname}/accept_dad`;
    const isSmall = mtu > 0 && mtu < leastMtu6;
    throw new EndpointError(`failed to disable DAD for ${ifname}: open ${path}: no such file or directory`, {
      next: isSmall ? `IPv6 needs an MTU of ${leastMtu6}, and the pod's is ${mtu}` : messageOf(error),
      cause: error,
    });
  }
}

export function setNodeSysctls(link: PodLink, { warn, nodeNamespace }: NetworkEdge): void {
  const there = { namespace: nodeNamespace };
  const { hostSide } = link;
  const set = (family: "ipv4" | "ipv6", values: { readonly [name: string]: number }) => {
    for (const [name, value] of Object.entries(values))
      writeSysctl(["net", family, "conf", hostSide, name], value, there);
  };
  const tryTo = (name: readonly string[], value: number) => {
    try {
      writeSysctl(name, value, there);
    } catch (error) {
      warn(messageOf(error));
    }
  };
  tryTo(["net", "ipv6", "conf", hostSide, "accept_ra"], 0);
  if (has(link, 4)) {
    set("ipv4", { route_localnet: 1, proxy_arp: 1, forwarding: 1 });
    tryTo(["net", "ipv4", "neigh", hostSide, "proxy_delay"], 0);
  }
  if (has(link, 6)) set("ipv6", { accept_dad: 0, disable_ipv6: 0, proxy_ndp: 1, forwarding: 1 });
}

export function setPodSysctls(link: PodLink): void {
  const inside = { namespace: link.netns };
  const forwarding = link.allowIpForwarding ? 1 : 0;
  if (has(link, 4)) writeSysctl("net.ipv4.ip_forward", forwarding, inside);
  if (!has(link, 6)) return;
  for (const each of ["all", "default", "lo"]) writeSysctl(["net", "ipv6", "conf", each, "disable_ipv6"], 0, inside);
  writeSysctl("net.ipv6.conf.all.forwarding", forwarding, inside);
}
