// What BIRD says, as the status of a CalicoNodeStatus has it, and as the report of the node has it. Pure.

import type { CalicoNodeStatusStatus } from "../../../calico/kinds/index.ts";
import type { BgpDaemon } from "../../../calico/node-report/index.ts";
import { nameParts, type RouteReport, type SessionReport } from "./answers.ts";
import type { FamilyStatus, NodeBgpStatus } from "./gather.ts";

export type StatusClass = "Agent" | "BGP" | "Routes";

type Daemon = NonNullable<NonNullable<CalicoNodeStatusStatus["agent"]>["birdV4"]>;
type Peers = NonNullable<NonNullable<CalicoNodeStatusStatus["bgp"]>["peersV4"]>;
type Routes = NonNullable<NonNullable<CalicoNodeStatusStatus["routes"]>["routesV4"]>;

/** Without lastUpdated. Of classes that nobody asked for nothing is said, as of a new object. */
export function nodeStatusOf(
  seen: NodeBgpStatus,
  classes: readonly string[],
): Omit<CalicoNodeStatusStatus, "lastUpdated"> {
  const [four, six] = [seen[4], seen[6]];
  const [peersV4, peersV6] = [peersOf(four), peersOf(six)];
  const isUp = ({ state }: Peers[number]) => state === "Established";
  const wants = (name: StatusClass) => classes.includes(name);
  return {
    agent: wants("Agent") ? { birdV4: daemonOf(four), birdV6: daemonOf(six) } : { birdV4: {}, birdV6: {} },
    bgp: wants("BGP")
      ? {
          numberEstablishedV4: peersV4.filter(isUp).length,
          numberNotEstablishedV4: peersV4.filter((peer) => !isUp(peer)).length,
          numberEstablishedV6: peersV6.filter(isUp).length,
          numberNotEstablishedV6: peersV6.filter((peer) => !isUp(peer)).length,
          ...(peersV4.length > 0 ? { peersV4 } : {}),
          ...(peersV6.length > 0 ? { peersV6 } : {}),
        }
      : { numberEstablishedV4: 0, numberNotEstablishedV4: 0, numberEstablishedV6: 0, numberNotEstablishedV6: 0 },
    routes: wants("Routes") ? { ...filled("routesV4", routesOf(four)), ...filled("routesV6", routesOf(six)) } : {},
  };
}

function filled<Name extends string>(name: Name, routes: Routes): { readonly [name in Name]?: Routes } {
  return (routes.length > 0 ? { [name]: routes } : {}) as { readonly [name in Name]?: Routes }; // a computed name has the type string
}

function daemonOf(status: FamilyStatus): Daemon {
  if (status.is === "absent") return { state: "NotReady" };
  const { version, routerId, bootTime, reconfiguredTime } = status.daemon;
  return {
    state: "Ready",
    version,
    routerID: routerId,
    lastBootTime: bootTime,
    lastReconfigurationTime: reconfiguredTime,
  };
}

/** The API has no word for a workload that is a peer; it is one of this node alone. */
const peerTypes = { Mesh: "NodeMesh", Node: "NodePeer", Global: "GlobalPeer", Local_Workload: "NodePeer" } as const;

function peersOf(status: FamilyStatus): Peers {
  if (status.is === "absent") return [];
  return status.sessions.map(({ address, kind, bgpState, since }: SessionReport) => ({
    peerIP: address,
    type: peerTypes[kind],
    state: bgpState === "" || bgpState === "Down" ? "Idle" : bgpState,
    since,
  }));
}

function routesOf(status: FamilyStatus): Routes {
  if (status.is === "absent") return [];
  const addresses = new Map(status.sessions.map(({ name, address }) => [name, address]));
  return status.routes.map((route) => ({
    type: route.isBest ? "FIB" : "RIB",
    destination: route.destination,
    gateway: route.gateway,
    interface: route.interface,
    learnedFrom: sourceOf(route, status.kinds, addresses),
  }));
}

function sourceOf({ from }: RouteReport, kinds: ReadonlyMap<string, string>, addresses: ReadonlyMap<string, string>) {
  const kind = kinds.get(from) ?? "";
  if (kind === "Kernel" || kind === "Static" || kind === "Direct") return { sourceType: kind };
  const named = nameParts(from);
  const peerIP = addresses.get(from) ?? named?.address;
  return { sourceType: named?.kind === "Mesh" ? "NodeMesh" : "BGPPeer", ...(peerIP === undefined ? {} : { peerIP }) };
}

/** A family of which nobody speaks is left out, if the other one is spoken of. */
export function bgpReportOf(seen: NodeBgpStatus): BgpDaemon[] {
  const all = ([4, 6] as const).map((family) => daemonReport(family, seen[family]));
  const told = all.filter(({ family, silent, sessions }) => family === 4 || (silent === "" && sessions.length > 0));
  return told.every(({ silent }) => silent !== "") ? all.slice(0, 1) : told;
}

function daemonReport(family: 4 | 6, status: FamilyStatus): BgpDaemon {
  const empty = { version: "", routerId: "", bootTime: "", reconfiguredTime: "", sessions: [] };
  if (status.is === "absent") return { family, silent: status.why || "it does not answer", ...empty };
  const { version, routerId, bootTime, reconfiguredTime } = status.daemon;
  return {
    ...{ family, silent: "", version, routerId, bootTime, reconfiguredTime },
    sessions: status.sessions.map(({ address, kind, bgpState, state, since }) => ({
      ...{ address, kind, since },
      state: bgpState || state,
    })),
  };
}
