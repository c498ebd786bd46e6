// Settings that are read and checked, and that nothing here uses: each with why. Who sets one to something else than its default is told,
// once. test/house/node-settings.test.ts holds the list to the code, both ways: a part that begins to read one takes it out here.
import type { SettingName } from "./table.ts";

const nftables = "packet rules are nftables";
const notWatched = "the kernel tells of each change";
/** An accept of nftables ends one chain of a hook, and the next chains are asked all the same: both values mean the same. */
const othersDecideToo = "what policy allows still meets the rules of other tables, with either value";
const notBuilt = "not built";

export const withoutEffect: { readonly [N in SettingName]?: string } = {
  NFTablesMode: `${nftables}, whatever it says`,
  IptablesBackend: nftables,
  IptablesRefreshInterval: `${nftables}; see NftablesRefreshInterval`,
  IptablesPostWriteCheckIntervalSecs: nftables,
  IptablesLockProbeIntervalMillis: nftables,
  IptablesFilterAllowAction: `${nftables}; see NftablesFilterAllowAction`,
  IptablesMangleAllowAction: `${nftables}; see NftablesMangleAllowAction`,
  IptablesFilterDenyAction: `${nftables}; see NftablesFilterDenyAction`,
  IptablesMarkMask: `${nftables}; see NftablesMarkMask`,
  ChainInsertMode: `${nftables}, whose order is a priority`,
  NftablesFilterAllowAction: othersDecideToo,
  NftablesMangleAllowAction: othersDecideToo,
  MaxIpsetSize: "sets of nftables have no size",
  ServiceLoopPrevention: notBuilt,
  KubeNodePortRanges: "policy applies to node ports as to others",
  FloatingIPs: notBuilt,
  InterfaceRefreshInterval: notWatched,
  NetlinkTimeoutSecs: "calls of the kernel have a limit of their own",
  RouteSource: `${notBuilt}: routes come from blocks of addresses`,
  RouteTableRange: "only the main table is used",
  RouteTableRanges: "only the main table is used",
  IPv4ElevatedRoutePriority: `${notBuilt}: live migration`,
  IPv6ElevatedRoutePriority: `${notBuilt}: live migration`,
  LiveMigrationRouteConvergenceTime: `${notBuilt}: live migration`,
  VXLANTunnelMACAddr: "the address of each node's tunnel comes from its Node",
  VXLANTunnelMACAddrV6: "the address of each node's tunnel comes from its Node",
  IPv4VXLANTunnelAddr: "it comes from the Node",
  IPv6VXLANTunnelAddr: "it comes from the Node",
  CgroupV2Path: "there is no eBPF",
  ReportingIntervalSecs: "whether the agent lives is in its health and metrics, not in the datastore",
  ClusterGUID: "the cluster's own",
  ClusterType: "the cluster's own",
  CalicoVersion: "the cluster's own",
  Variant: "the cluster's own",
};

/** Written by the datastore itself, or by the original's client, for everybody. */
const writtenByOthers: ReadonlySet<string> = new Set<SettingName>([
  "ClusterGUID",
  "ClusterType",
  "CalicoVersion",
  "Variant",
  "ReportingIntervalSecs",
  "NFTablesMode",
  "IPv4VXLANTunnelAddr",
  "IPv6VXLANTunnelAddr",
  "VXLANTunnelMACAddr",
  "VXLANTunnelMACAddrV6",
]);

/** Why somebody waits in vain for what he has set; undefined: nobody does. */
export function whyInVain(name: SettingName): string | undefined {
  return writtenByOthers.has(name) ? undefined : withoutEffect[name];
}
