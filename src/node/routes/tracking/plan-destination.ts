// What is to be done about one destination: at most one route written, then those of ours that are in excess deleted. In this order a
// packet always finds a route. Pure.
import type { KernelChange, NewRoute, Route } from "../../../base/linux/kernel.ts";
import { isAsWanted, metricOf } from "./kernel-route.ts";

export type DestinationPlan = {
  readonly write: (KernelChange & { readonly route: NewRoute }) | undefined;
  readonly deletes: readonly { readonly change: KernelChange; readonly route: Route }[];
};

export type PlanInput = {
  readonly wanted: NewRoute | undefined;
  readonly actual: readonly Route[];
  readonly isOurs: (route: Route) => boolean;
  /** Not ours, but ours may take its place. */
  readonly isReplaceable: (route: Route) => boolean;
  /** Whether a route that is not the wanted one may go already. */
  readonly mayGo: (route: Route) => boolean;
};

export function planDestination({ wanted, actual, isOurs, isReplaceable, mayGo }: PlanInput): DestinationPlan {
  const right = wanted === undefined ? undefined : actual.find((route) => isAsWanted(route, wanted));
  const isSameKey = (route: Route): boolean =>
    wanted !== undefined && metricOf(route.family, route.metric) === metricOf(route.family, wanted.metric);
  const replaced =
    right === undefined
      ? actual.find((route) => isSameKey(route) && (isOurs(route) || isReplaceable(route)))
      : undefined;
  const deletes = actual.filter((route) => route !== right && route !== replaced && isOurs(route) && mayGo(route));
  const write =
    wanted === undefined || right !== undefined
      ? undefined
      : ({ do: replaced === undefined ? "create" : "replace", route: wanted } as const);
  return { write, deletes: deletes.map((route) => ({ route, change: deletionOf(route) })) };
}

/** Named by everything it has: what has come in its place meanwhile stays. */
export function deletionOf(route: Route): KernelChange {
  const { destination, metric, protocol, gateway, index, type, table, hops } = route;
  const by = type === "blackhole" ? {} : { ...(gateway && { gateway }), ...(index !== undefined && { index }) };
  return {
    do: "delete",
    route: {
      ...{ destination, table, protocol, type },
      ...(hops === undefined ? by : { hops }),
      ...(metric !== undefined && { metric }),
    },
  };
}
