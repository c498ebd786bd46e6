// The FELIX_* settings that routes, tunnels and interfaces depend on, from raw text to what the room works with.
import type { Family } from "../../base/lib/index.ts";
import { routeProtocol } from "../../calico/routing/index.ts";
import type { LiveSettings } from "../part/index.ts";
import { felixSettings } from "../settings/index.ts";
import type { MtuSettings } from "./calculation/mtu.ts";
import type { Programmer, Ways } from "./calculation/resolve.ts";

/** Who speaks BGP on this node. `foreign`: nobody of ours, and plain pools are somebody else's business (backend "none"). */
export type Bgp = "bird" | "none" | "foreign";

export type RouteSettings = {
  readonly ways: Ways;
  /** Why plain pools are programmed by whom they are: for the log. */
  readonly plainBecause: string;
  readonly workloadInterfacePrefixes: readonly string[];
  /** Of routes by Calico's own interfaces. */
  readonly deviceProtocol: number;
  /** Of all others. */
  readonly protocol: number;
  readonly source: { readonly [family in Family]: string | undefined };
  readonly metric: { readonly [family in Family]: number };
  readonly removesExternalRoutes: boolean;
  /** Routes are somebody else's: none is written, none removed, and none is missed. */
  readonly leavesRoutesAlone: boolean;
  readonly refreshIntervalMs: number;
  readonly vxlan: { readonly id: number; readonly port: number };
  readonly mtu: MtuSettings;
  readonly uplinkPattern: RegExp;
  readonly setsForwarding: boolean;
  readonly requiresMtuFile: boolean;
};

export function readRouteSettings(live: LiveSettings, bgp: Bgp): RouteSettings {
  const { value } = felixSettings(live);
  const deviceProtocol = value("DeviceRouteProtocol");
  // Only what somebody said counts here: the default is for a node that has a BGP daemon.
  const said = live.raw("ProgramClusterRoutes") && value("ProgramClusterRoutes");
  const plain = whoProgramsPlain(said, bgp);
  const refreshMs = value("RouteRefreshInterval");
  const ipip = value("IpInIpMtu");
  return {
    ways: {
      plain: plain.who,
      vxlan: value("VXLANEnabled"),
      ipip: value("IpInIpEnabled"),
      ipipBy: whoProgramsIpip(said, bgp),
      families: value("Ipv6Support") ? [4, 6] : [4],
    },
    plainBecause: plain.because,
    workloadInterfacePrefixes: value("InterfacePrefix"),
    deviceProtocol,
    protocol: routeProtocol(deviceProtocol),
    source: {
      4: value("DeviceRouteSourceAddress") || undefined,
      6: value("DeviceRouteSourceAddressIPv6") || undefined,
    },
    metric: { 4: value("IPv4NormalRoutePriority"), 6: value("IPv6NormalRoutePriority") },
    removesExternalRoutes: value("RemoveExternalRoutes"),
    leavesRoutesAlone: value("RouteSyncDisabled"),
    refreshIntervalMs: refreshMs > 0 ? refreshMs : Number.POSITIVE_INFINITY,
    vxlan: { id: value("VXLANVNI"), port: value("VXLANPort") },
    mtu: {
      set: {
        vxlan: { 4: value("VXLANMTU"), 6: value("VXLANMTUV6") },
        ipip: { 4: ipip, 6: ipip },
      },
    },
    uplinkPattern: value("MTUIfacePattern") ?? /^eth/,
    setsForwarding: value("IPForwarding") === "Enabled",
    requiresMtuFile: value("RequireMTUFile"),
  };
}

/** Ours unless somebody says otherwise: of all BIRDs only Calico's own 1.6 can write them. */
export function whoProgramsIpip(said: string | undefined, bgp: Bgp): Programmer {
  const isLeft = ["disabled", "enablednoencaponly"].includes(said?.toLowerCase() ?? "");
  if (!isLeft) return "us";
  return bgp === "bird" ? "bird" : "others";
}

/** What the user says decides; where nothing is said, whoever is there. */
export function whoProgramsPlain(said: string | undefined, bgp: Bgp): { who: Programmer; because: string } {
  const others: Programmer = bgp === "bird" ? "bird" : "others";
  switch (said?.toLowerCase()) {
    case "enabled":
    case "enablednoencaponly":
      return { who: "us", because: `ProgramClusterRoutes is ${said}` };
    case "disabled":
    case "enabledipiponly":
      return { who: others, because: `ProgramClusterRoutes is ${said}` };
    default:
      if (bgp === "none") return { who: "us", because: "no BGP daemon is configured" };
      return { who: others, because: bgp === "bird" ? "BIRD does it" : "the networking backend is none" };
  }
}
