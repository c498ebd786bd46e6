// The settings that are about packets: interfaces, rules, routes, tunnels.
import { bool, choice, integer, oneOf, path, seconds, string } from "../../base/config/index.ts";
import { group, row } from "./row.ts";
import {
  address,
  failsafePorts,
  interfaceName,
  interfacePatterns,
  interfacePrefixes,
  logRate,
  macAddress,
  markMask,
  milliseconds,
  networks,
  optionalBool,
  portRange,
  portRanges,
  regularExpression,
  tableRanges,
} from "./value-types.ts";

const port = integer({ min: 1, max: 65_535 });
const mtu = integer({ min: 0, max: 65_535 });
const priority = integer({ min: 1, max: 2_147_483_646 });
const enabled = choice("Disabled", "Enabled", "Disabled");
const fatal = { nonZero: true, isFatal: true } as const;

const failsafeInbound = "tcp:22,udp:68,tcp:179,tcp:2379,tcp:2380,tcp:5473,tcp:6443,tcp:6666,tcp:6667";
const failsafeOutbound = "udp:53,udp:67,tcp:179,tcp:2379,tcp:2380,tcp:5473,tcp:6443,tcp:6666,tcp:6667";

function portsOf(text: string) {
  const parsed = failsafePorts.parse(text, { exists: () => true });
  return parsed.ok ? parsed.value : [];
}

export const interfaceSettings = group("Interfaces", {
  InterfacePrefix: row({
    ...fatal,
    type: interfacePrefixes,
    default: ["cali"],
    says: "How the names of pods' interfaces start. The CNI plugin makes them with cali.",
  }),
  InterfaceExclude: row({
    type: interfacePatterns,
    default: [/^kube-ipvs0$/],
    says: "Interfaces that are left alone.",
  }),
  InterfaceRefreshInterval: row({
    type: seconds,
    default: 90_000,
    says: "How often all interfaces are looked at, beside what the kernel tells; 0 for never.",
  }),
  Ipv6Support: row({ type: bool, default: true, says: "Whether IPv6 is looked after." }),
  MTUIfacePattern: row({
    type: regularExpression,
    default: /^((en|wl|ww|sl|ib)[Pcopsvx].*|(eth|wlan|wwan).*)/,
    says: "Interfaces whose smallest MTU is the host's.",
  }),
  RequireMTUFile: row({
    type: bool,
    default: false,
    says: "Whether an MTU file that cannot be written makes the agent not ready.",
  }),
  NetlinkTimeoutSecs: row({ type: seconds, default: 10_000, says: "How long the kernel may take to answer." }),
  AllowVXLANPacketsFromWorkloads: row({ type: bool, default: false, says: "Whether pods may send VXLAN packets." }),
  AllowIPIPPacketsFromWorkloads: row({ type: bool, default: false, says: "Whether pods may send IPIP packets." }),
  WorkloadSourceSpoofing: row({
    type: choice("Disabled", "Disabled", "Any"),
    default: "Disabled",
    says: "Whether pods may ask, by annotation, for source addresses that are not their own.",
  }),
});

export const policySettings = group("Policies and packet rules", {
  NFTablesMode: row({
    type: choice("Auto", "Enabled", "Disabled", "Auto"),
    default: "Auto",
    says: "Whether packet rules are nftables or iptables.",
  }),
  DefaultEndpointToHostAction: row({
    ...fatal,
    type: oneOf("DROP", "RETURN", "ACCEPT"),
    default: "DROP",
    says: "What becomes of packets from a pod to its node that its policies allow.",
  }),
  FailsafeInboundHostPorts: row({
    type: failsafePorts,
    default: portsOf(failsafeInbound),
    isFatal: true,
    says: "Ports of the node that no policy closes, so that nobody locks himself out; `none` for none.",
  }),
  FailsafeOutboundHostPorts: row({
    type: failsafePorts,
    default: portsOf(failsafeOutbound),
    isFatal: true,
    says: "Ports that the node can always reach; `none` for none.",
  }),
  NftablesRefreshInterval: row({
    type: seconds,
    default: 180_000,
    says: "How often all packet rules are compared; 0 for never.",
  }),
  IpsetsRefreshInterval: row({ type: seconds, default: 90_000, says: "How often all sets are compared; 0 for never." }),
  MaxIpsetSize: row({ type: integer({ min: 1 }), default: 1_048_576, nonZero: true, says: "Most members of a set." }),
  NftablesFilterAllowAction: row({
    ...fatal,
    type: oneOf("ACCEPT", "RETURN"),
    default: "ACCEPT",
    says: "What becomes of an allowed packet: accepted, or left to the rules after ours.",
  }),
  NftablesMangleAllowAction: row({
    ...fatal,
    type: oneOf("ACCEPT", "RETURN"),
    default: "ACCEPT",
    says: "The same for policies that apply before connection tracking and NAT.",
  }),
  NftablesFilterDenyAction: row({
    ...fatal,
    type: oneOf("DROP", "REJECT"),
    default: "DROP",
    says: "What becomes of a denied packet.",
  }),
  NftablesMarkMask: row({
    ...fatal,
    type: markMask,
    default: 0xffff_0000,
    says: "Bits of a packet's mark that are ours.",
  }),
  LogPrefix: row({
    type: string,
    default: "calico-packet",
    says: "Stands before the lines that rules of action Log write.",
  }),
  LogActionRateLimit: row({ type: logRate, default: "", says: "Most lines of such a rule; unset means no limit." }),
  LogActionRateLimitBurst: row({
    type: integer({ min: 0, max: 9999 }),
    default: 5,
    says: "Lines that may come at once.",
  }),
  DisableConntrackInvalidCheck: row({
    type: bool,
    default: false,
    says: "Do not drop packets that connection tracking calls invalid.",
  }),
  ServiceLoopPrevention: row({
    type: choice("Disabled", "Drop", "Reject", "Disabled"),
    default: "Drop",
    says: "What becomes of packets to advertised service addresses that no service takes.",
  }),
  NATOutgoingAddress: row({
    type: address(4),
    default: "",
    says: "Source address for pods' traffic that leaves the cluster; unset means the interface's.",
  }),
  NATPortRange: row({ type: portRange, default: undefined, says: "Source ports for that traffic." }),
  NATOutgoingExclusions: row({
    type: choice("IPPoolsOnly", "IPPoolsOnly", "IPPoolsAndHostIPs"),
    default: "IPPoolsOnly",
    says: "Destinations for which the source address stays.",
  }),
  IptablesNATOutgoingInterfaceFilter: row({
    type: interfaceName,
    default: "",
    says: "Interfaces on which that traffic leaves; unset means all but pods'.",
  }),
  KubeNodePortRanges: row({
    type: portRanges,
    default: [{ first: 30_000, last: 32_767 }],
    says: "Ports of Kubernetes' services of type NodePort.",
  }),
  ExternalNodesCIDRList: row({
    type: networks,
    default: [],
    isFatal: true,
    says: "Networks of nodes outside of the cluster from which tunnelled packets are accepted.",
  }),
  FloatingIPs: row({
    type: enabled,
    default: "Disabled",
    says: "Whether pods may have floating addresses, by annotation.",
  }),
});

export const routeSettings = group("Routes", {
  RouteRefreshInterval: row({
    type: seconds,
    default: 90_000,
    says: "How often all routes are listed, beside what the kernel tells; 0 for never.",
  }),
  RouteSyncDisabled: row({
    type: bool,
    default: false,
    says: "Leave all routes alone; tunnels and interfaces are kept all the same.",
  }),
  RemoveExternalRoutes: row({
    type: bool,
    default: true,
    says: "Whether routes of others on pods' interfaces are removed.",
  }),
  DeviceRouteProtocol: row({
    type: integer({ min: 0, max: 255 }),
    default: 3,
    says: "Protocol of the routes to pods and through tunnels.",
  }),
  DeviceRouteSourceAddress: row({
    type: address(4),
    default: "",
    says: "Source address of these routes; unset means that the kernel chooses.",
  }),
  DeviceRouteSourceAddressIPv6: row({ type: address(6), default: "", says: "The same for IPv6." }),
  IPv4NormalRoutePriority: row({ type: priority, default: 1024, says: "Metric of routes to pods." }),
  IPv4ElevatedRoutePriority: row({
    type: priority,
    default: 512,
    says: "Metric of such a route during a live migration.",
  }),
  IPv6NormalRoutePriority: row({ type: priority, default: 1024, says: "The same for IPv6." }),
  IPv6ElevatedRoutePriority: row({ type: priority, default: 512, says: "The same for IPv6." }),
  LiveMigrationRouteConvergenceTime: row({
    type: seconds,
    default: 30_000,
    says: "How long after a live migration routes keep the elevated priority.",
  }),
  ProgramClusterRoutes: row({
    type: choice("Disabled", "Enabled", "Disabled", "EnabledIPIPOnly", "EnabledNoEncapOnly"),
    default: "EnabledIPIPOnly",
    says: "Which routes to other nodes' pods the agent writes beside those of VXLAN, and leaves not to BIRD.",
  }),
  RouteSource: row({
    type: choice("CalicoIPAM", "WorkloadIPs", "CalicoIPAM"),
    default: "CalicoIPAM",
    says: "Where routes come from: blocks of addresses, or each endpoint by itself.",
  }),
  RouteTableRange: row({
    type: tableRanges,
    default: [],
    isFatal: true,
    says: "See RouteTableRanges.",
  }),
  RouteTableRanges: row({ type: tableRanges, default: [], isFatal: true, says: "Routing tables that may be used." }),
  IPForwarding: row({
    type: enabled,
    default: "Enabled",
    says: "Whether forwarding is switched on in the kernel, and kept on.",
  }),
  CgroupV2Path: row({ type: path, default: "", says: "No effect." }),
});

export const tunnelSettings = group("Tunnels", {
  VXLANEnabled: row({
    type: optionalBool,
    default: undefined,
    says: "Whether VXLAN is used; unset means where a pool asks for it.",
  }),
  VXLANPort: row({ type: port, default: 4789, says: "UDP port of VXLAN." }),
  VXLANVNI: row({ type: integer({ min: 0, max: 16_777_215 }), default: 4096, says: "Network identifier of VXLAN." }),
  VXLANMTU: row({ type: mtu, default: 0, says: "MTU of the IPv4 tunnel; 0 means the host's less 50." }),
  VXLANMTUV6: row({ type: mtu, default: 0, says: "MTU of the IPv6 tunnel; 0 means the host's less 70." }),
  IPv4VXLANTunnelAddr: row({
    type: address(4),
    default: "",
    says: "This node's address in the tunnel; comes from the Node.",
  }),
  IPv6VXLANTunnelAddr: row({ type: address(6), default: "", says: "The same for IPv6." }),
  VXLANTunnelMACAddr: row({
    type: macAddress,
    default: "",
    says: "MAC of the tunnel's device; unset means one that follows from the node's name.",
  }),
  VXLANTunnelMACAddrV6: row({ type: macAddress, default: "", says: "The same for IPv6." }),
  IpInIpEnabled: row({
    type: optionalBool,
    default: undefined,
    says: "Whether IPIP is used; unset means where a pool asks for it.",
  }),
  IpInIpMtu: row({ type: mtu, default: 0, says: "MTU of that tunnel; 0 means the host's less 20." }),
  IpInIpTunnelAddr: row({
    type: address(4),
    default: "",
    says: "This node's address in that tunnel; comes from the Node.",
  }),
});

/** For rules in iptables, which we do not write: read, so that a bad value is told, and used for nothing. */
export const iptablesSettings = group("For packet rules in iptables", {
  IptablesBackend: row({ type: oneOf("legacy", "nft", "auto"), default: "auto", says: "No effect." }),
  IptablesRefreshInterval: row({ type: seconds, default: 180_000, says: "No effect." }),
  IptablesPostWriteCheckIntervalSecs: row({ type: seconds, default: 5000, says: "No effect." }),
  IptablesLockProbeIntervalMillis: row({ type: milliseconds, default: 50, says: "No effect." }),
  IptablesFilterAllowAction: row({
    ...fatal,
    type: oneOf("ACCEPT", "RETURN"),
    default: "ACCEPT",
    says: "No effect.",
  }),
  IptablesMangleAllowAction: row({
    ...fatal,
    type: oneOf("ACCEPT", "RETURN"),
    default: "ACCEPT",
    says: "No effect.",
  }),
  IptablesFilterDenyAction: row({
    ...fatal,
    type: oneOf("DROP", "REJECT"),
    default: "DROP",
    says: "No effect.",
  }),
  IptablesMarkMask: row({ ...fatal, type: markMask, default: 0xffff_0000, says: "No effect." }),
  ChainInsertMode: row({ ...fatal, type: oneOf("insert", "append"), default: "insert", says: "No effect." }),
});
