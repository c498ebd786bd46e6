// The kernel's numbers, under the kernel's names, so that one can look them up: linux/netlink.h, rtnetlink.h, if_link.h, if_addr.h, neighbour.h, fib_rules.h.
// Tables, because an error that names an attribute reads them backwards.

export const messageTypes = {
  NLMSG_NOOP: 1,
  NLMSG_ERROR: 2,
  NLMSG_DONE: 3,
  NLMSG_OVERRUN: 4,
  RTM_NEWLINK: 16,
  RTM_DELLINK: 17,
  RTM_GETLINK: 18,
  RTM_NEWADDR: 20,
  RTM_DELADDR: 21,
  RTM_GETADDR: 22,
  RTM_NEWROUTE: 24,
  RTM_DELROUTE: 25,
  RTM_GETROUTE: 26,
  RTM_NEWNEIGH: 28,
  RTM_DELNEIGH: 29,
  RTM_GETNEIGH: 30,
  RTM_NEWRULE: 32,
  RTM_DELRULE: 33,
  RTM_GETRULE: 34,
  RTM_NEWNETCONF: 80,
  RTM_DELNETCONF: 81,
  RTM_NEWNSID: 88,
  RTM_GETNSID: 90,
} as const;

export const flags = {
  NLM_F_REQUEST: 0x1,
  NLM_F_ACK: 0x4,
  NLM_F_DUMP_INTR: 0x10,
  NLM_F_REPLACE: 0x100,
  NLM_F_DUMP: 0x300,
  NLM_F_EXCL: 0x200,
  NLM_F_CREATE: 0x400,
  NLM_F_APPEND: 0x800,
  NLM_F_CAPPED: 0x100, // in an answer
  NLM_F_ACK_TLVS: 0x200, // in an answer
} as const;

export const errorAttributes = { NLMSGERR_ATTR_MSG: 1, NLMSGERR_ATTR_OFFS: 2, NLMSGERR_ATTR_MISS_TYPE: 5 } as const;

export const namespaceAttributes = { NETNSA_NSID: 1, NETNSA_FD: 3 } as const;

export const linkAttributes = {
  IFLA_ADDRESS: 1,
  IFLA_BROADCAST: 2,
  IFLA_IFNAME: 3,
  IFLA_MTU: 4,
  IFLA_LINK: 5,
  IFLA_MASTER: 10,
  IFLA_TXQLEN: 13,
  IFLA_OPERSTATE: 16,
  IFLA_LINKINFO: 18,
  IFLA_NET_NS_PID: 19,
  IFLA_IFALIAS: 20,
  IFLA_GROUP: 27,
  IFLA_NET_NS_FD: 28,
  IFLA_EXT_MASK: 29,
  IFLA_NUM_TX_QUEUES: 31,
  IFLA_NUM_RX_QUEUES: 32,
  IFLA_LINK_NETNSID: 37,
} as const;

export const linkInfoAttributes = { IFLA_INFO_KIND: 1, IFLA_INFO_DATA: 2 } as const;
export const vethInfoPeer = 1;
export const netkitAttributes = { IFLA_NETKIT_PEER_INFO: 1, IFLA_NETKIT_MODE: 5 } as const;
/** Frames with addresses, as a veth has them; the kernel's own default is packets without. */
export const netkitModeL2 = 0;

export const vxlanAttributes = {
  IFLA_VXLAN_ID: 1,
  IFLA_VXLAN_GROUP: 2,
  IFLA_VXLAN_LINK: 3,
  IFLA_VXLAN_LOCAL: 4,
  IFLA_VXLAN_TTL: 5,
  IFLA_VXLAN_LEARNING: 7,
  IFLA_VXLAN_AGEING: 8,
  IFLA_VXLAN_PORT: 15,
  IFLA_VXLAN_GROUP6: 16,
  IFLA_VXLAN_LOCAL6: 17,
  IFLA_VXLAN_UDP_CSUM: 18,
  IFLA_VXLAN_UDP_ZERO_CSUM6_TX: 19,
  IFLA_VXLAN_UDP_ZERO_CSUM6_RX: 20,
} as const;

export const addressAttributes = {
  IFA_ADDRESS: 1,
  IFA_LOCAL: 2,
  IFA_LABEL: 3,
  IFA_BROADCAST: 4,
  IFA_CACHEINFO: 6,
  IFA_FLAGS: 8,
} as const;

export const routeAttributes = {
  RTA_DST: 1,
  RTA_SRC: 2,
  RTA_IIF: 3,
  RTA_OIF: 4,
  RTA_GATEWAY: 5,
  RTA_PRIORITY: 6,
  RTA_PREFSRC: 7,
  RTA_METRICS: 8,
  RTA_MULTIPATH: 9,
  RTA_TABLE: 15,
  RTA_VIA: 18,
} as const;
export const routeMetricMtu = 2; // RTAX_MTU

export const neighbourAttributes = {
  NDA_DST: 1,
  NDA_LLADDR: 2,
  NDA_VLAN: 5,
  NDA_PORT: 6,
  NDA_VNI: 7,
  NDA_IFINDEX: 8,
  NDA_MASTER: 9,
} as const;

export const ruleAttributes = {
  FRA_DST: 1,
  FRA_SRC: 2,
  FRA_IIFNAME: 3,
  FRA_GOTO: 4,
  FRA_PRIORITY: 6,
  FRA_FWMARK: 10,
  FRA_SUPPRESS_PREFIXLEN: 14,
  FRA_TABLE: 15,
  FRA_FWMASK: 16,
  FRA_OIFNAME: 17,
} as const;

export const settingAttributes = {
  NETCONFA_IFINDEX: 1,
  NETCONFA_FORWARDING: 2,
  NETCONFA_RP_FILTER: 3,
  NETCONFA_PROXY_NEIGH: 5,
} as const;

/** Of a multicast group, as the bit that bind() takes. */
const group = (number: number): number => (1 << (number - 1)) >>> 0;
export const groups = {
  link: group(1),
  neighbour: group(3),
  address4: group(5),
  route4: group(7),
  rule4: group(8),
  address6: group(9),
  route6: group(11),
  rule6: group(19),
  settings4: group(24),
  settings6: group(25),
} as const;

export const families = { inet: 2, bridge: 7, inet6: 10 } as const;
export type Family = "inet" | "inet6";

export function familyName(number: number): Family | "bridge" | undefined {
  return number === 2 ? "inet" : number === 10 ? "inet6" : number === 7 ? "bridge" : undefined;
}
