// What the calculation says of a destination: the words between the cluster's data and the kernel's routes. No index, metric or protocol is in
// it: those are the kernel's side (tracking/kernel-route.ts).
import type { Family } from "../../../base/lib/index.ts";

export type RouteWay =
  /** By a workload's own interface. */
  | { readonly is: "workload"; readonly interfaceName: string }
  /** Nobody's address of an own block: without this a packet to it would leave by the default route. */
  | { readonly is: "blackhole" }
  /** By way of the other node, as it is. */
  | { readonly is: "direct"; readonly gateway: string }
  /** Through the tunnel to that node's tunnel address. */
  | { readonly is: "vxlan"; readonly gateway: string }
  /** In IP in IP to that node: the device takes the far end from the route. */
  | { readonly is: "ipip"; readonly gateway: string }
  /** It is the far end's tunnel address itself. */
  | { readonly is: "vxlan link" };

export type Resolved =
  | { readonly is: "route"; readonly family: Family; readonly way: RouteWay; readonly node: string }
  /** BIRD writes it; it is looked at, not touched. `address`: the owner's, where the route leads unless a router is in between. */
  | {
      readonly is: "left to BGP";
      readonly family: Family;
      readonly node: string;
      readonly address: string | undefined;
    }
  /**
   * There should be one, but something is not known. `ours`: this node lacks it, and can reach nobody in that way. `isPassing`: it is about to
   * be known, and the route from before serves until then.
   */
  | { readonly is: "unroutable"; readonly why: string; readonly lacks: "ours" | "theirs"; readonly isPassing: boolean };

export function sameResolved(a: Resolved | undefined, b: Resolved | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.is === "route" && b.is === "route") return a.node === b.node && sameWay(a.way, b.way);
  if (a.is === "left to BGP" && b.is === "left to BGP") return a.node === b.node && a.address === b.address;
  if (a.is === "unroutable" && b.is === "unroutable") return a.why === b.why && a.lacks === b.lacks;
  return false;
}

function sameWay(a: RouteWay, b: RouteWay): boolean {
  if (a.is === "workload") return b.is === "workload" && a.interfaceName === b.interfaceName;
  if ("gateway" in a) return b.is === a.is && a.gateway === b.gateway;
  return a.is === b.is;
}
