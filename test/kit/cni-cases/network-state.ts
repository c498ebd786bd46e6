// What `ip` and /proc say of a network namespace, in the form of the recordings. Not by our own netlink: who judges must not be the judged.
import { runProgram } from "../../../src/base/linux/index.ts";
import type { NetworkState } from "./case.ts";

const ofHost4 = ["proxy_arp", "forwarding", "route_localnet"];
const ofHost6 = ["accept_dad", "disable_ipv6", "proxy_ndp", "forwarding", "accept_ra"];
const ofPod = [
  "ipv4/ip_forward",
  "ipv6/conf/all/forwarding",
  "ipv6/conf/all/disable_ipv6",
  "ipv6/conf/default/disable_ipv6",
  "ipv6/conf/lo/disable_ipv6",
];

export type LookAt = { readonly name: string; readonly isNode: boolean; readonly fixedMacs: readonly string[] };

type IpLink = {
  readonly ifname?: string;
  readonly address?: string;
  readonly mtu: number;
  readonly flags: readonly string[];
  readonly num_tx_queues?: number;
  readonly linkinfo?: { readonly info_kind?: string };
  readonly addr_info?: readonly { readonly local: string; readonly prefixlen: number; readonly scope: string }[];
};
type IpRoute = {
  readonly type?: string;
  readonly dst: string;
  readonly gateway?: string;
  readonly dev?: string;
  readonly scope?: string;
  readonly protocol?: string;
  readonly metric?: number;
  readonly flags?: readonly string[];
};
type IpNeighbour = { readonly dst: string; readonly dev?: string; readonly lladdr?: string };

export async function networkOf(at: LookAt): Promise<NetworkState> {
  const [found, routes4, routes6, neighbours] = await Promise.all([
    ip<IpLink>(at.name, "-d", "addr"),
    ip<IpRoute>(at.name, "-4", "route", "show", "table", "main"),
    ip<IpRoute>(at.name, "-6", "route", "show", "table", "main"),
    ip<IpNeighbour>(at.name, "neigh", "show", "nud", "permanent"),
  ]);
  const links = found.filter(({ ifname = "lo" }) => ifname !== "lo");
  const names = links.map(({ ifname = "" }) => ifname);
  const sysctls = await sysctlsOf(at, names);
  return {
    links: Object.fromEntries(links.map((link) => [link.ifname, linkState(link, at, sysctls)])),
    routes: [...routes4, ...routes6].flatMap(routeText).sort(),
    neigh: neighbours.map(({ dst, dev, lladdr }) => `${dst} dev ${dev} lladdr ${lladdr}`).sort(),
    sysctls,
  };
}

function linkState(link: IpLink, { isNode, fixedMacs }: LookAt, sysctls: NetworkState["sysctls"]) {
  const { ifname = "", address: mac = "", mtu, flags, addr_info = [] } = link;
  const isGiven = /^(ee:ee:ee:ee:ee:ee|0e:00:00)/.test(mac) || fixedMacs.includes(mac);
  // Link-local addresses come when the kernel is ready; they matter only on the node's side of an IPv6 pod.
  const wantsLocal = isNode && sysctls[`ipv6/conf/${ifname}/accept_dad`] === "0";
  const addresses = addr_info
    .filter(({ local }) => wantsLocal || !local.startsWith("fe80:"))
    .map(({ local, prefixlen, scope }) => `${local}/${prefixlen} ${scope}`)
    .sort();
  return {
    kind: link.linkinfo?.info_kind ?? null,
    mtu,
    mac: isGiven ? mac : "$MAC",
    up: flags.includes("UP"),
    queues: link.num_tx_queues ?? null,
    addresses,
  };
}

function routeText({ type = "", dst, gateway, dev = "-", scope, protocol = "boot", metric, flags = [] }: IpRoute) {
  if (dst === "fe80::/64") return [];
  const parts = [
    type,
    dst,
    gateway === undefined ? "" : `via ${gateway}`,
    `dev ${dev}`,
    scope === undefined ? "" : `scope ${scope}`,
    `proto ${protocol}`,
    metric === undefined ? "" : `metric ${metric}`,
    flags.filter((flag) => flag !== "linkdown").join(" "),
  ];
  return [parts.filter((part) => part !== "").join(" ")];
}

async function sysctlsOf({ name, isNode }: LookAt, links: readonly string[]): Promise<NetworkState["sysctls"]> {
  const wanted = isNode
    ? links.flatMap((link) => [
        ...ofHost4.map((each) => `ipv4/conf/${link}/${each}`),
        ...ofHost6.map((each) => `ipv6/conf/${link}/${each}`),
        `ipv4/neigh/${link}/proxy_delay`,
      ])
    : [...ofPod, ...links.map((link) => `ipv6/conf/${link}/accept_dad`)];
  if (wanted.length === 0) return {};
  const script = 'for f in "$@"; do echo "$f $(cat "/proc/sys/net/$f" 2>/dev/null)"; done';
  const { stdout } = await runProgram("ip", ["netns", "exec", name, "sh", "-c", script, "sh", ...wanted]);
  const lines = stdout.split("\n").map((line) => line.split(" "));
  return Object.fromEntries(lines.filter(([, value = ""]) => value !== "").map(([key, value]) => [key, value]));
}

async function ip<T>(namespace: string, ...words: string[]): Promise<T[]> {
  const { stdout } = await runProgram("ip", ["-n", namespace, "-j", ...words]);
  return stdout.trim() === ""
    ? []
    : (JSON.parse(stdout) as T[]).filter((each) => Object.keys(each as object).length > 0); // what ip prints
}
