// What the keeper knows of this node's routes, for the report of the node: each block of the cluster, where packets to it should go and where they go.
import type { Route } from "../../base/linux/kernel.ts";
import type { RouteRow } from "../../calico/node-report/index.ts";
import type { Resolved } from "./calculation/desired.ts";
import type { Keeper } from "./keeper.ts";
import type { Trouble } from "./tracking/troubles.ts";

/** Given to the part that has the keeper and to whoever asks; a part that is not running has nothing to say. */
export class RouteReporter {
  #keeper: Keeper | undefined;

  attach(keeper: Keeper): Disposable {
    this.#keeper = keeper;
    return {
      [Symbol.dispose]: () => {
        if (this.#keeper === keeper) this.#keeper = undefined;
      },
    };
  }

  rows(): RouteRow[] {
    const keeper = this.#keeper;
    if (keeper === undefined) return [];
    return [...keeper.calculation.resolved].flatMap(([destination, resolved]) => rowOf(destination, resolved, keeper));
  }
}

function rowOf(destination: string, resolved: Resolved, keeper: Keeper): RouteRow[] {
  const trouble = keeper.routes.troubles.of(destination);
  const routes = keeper.routes.picture.to(destination);
  const actual = routes.map((route) => routeText(route, keeper)).join(", ") || "none";
  const row = { destination, actual, why: trouble?.why ?? "" };
  switch (resolved.is) {
    case "unroutable":
      return [{ ...row, node: "", expected: "not known", state: resolved.lacks === "ours" ? "missing" : "waiting" }];
    case "left to BGP":
      return [bgpRow(row, resolved, routes, keeper)];
    case "route": {
      const { way, node } = resolved;
      // Each pod's own route, and the far ends of tunnels, are named where something is wrong with them.
      if ((way.is === "workload" || way.is === "vxlan link") && trouble === undefined) return [];
      const gateway = "gateway" in way ? way.gateway : undefined;
      return [{ ...row, node, expected: expectedText(way), state: stateOf(routes, { way, gateway, trouble }) }];
    }
  }
}

/** BIRD may know a better way than the straight one, and behind a router it does: another next hop is told, and is not wrong. */
function bgpRow(
  row: Pick<RouteRow, "destination" | "actual" | "why">,
  { node, family }: Resolved & { is: "left to BGP" },
  routes: readonly Route[],
  keeper: Keeper,
): RouteRow {
  const address = keeper.calculation.nodeNamed(node)?.[family]?.address;
  const expected = address === undefined ? "by BGP" : `via ${address}, by BGP`;
  const ways = routes.filter(({ type }) => type === "unicast");
  const isStraight = ways.some((route) => hopsOf(route).includes(address));
  return { ...row, node, expected, state: ways.length === 0 ? "missing" : isStraight ? "right" : "other" };
}

type Wanted = {
  readonly way: (Resolved & { is: "route" })["way"];
  readonly gateway: string | undefined;
  readonly trouble: Trouble | undefined;
};

function stateOf(routes: readonly Route[], { way, gateway, trouble }: Wanted): RouteRow["state"] {
  if (trouble?.is === "told") return "waiting";
  if (routes.length === 0) return trouble?.is === "failed" ? "wrong" : "missing";
  if (trouble !== undefined) return "wrong";
  const type = way.is === "blackhole" ? "blackhole" : "unicast";
  return routes.some((route) => route.type === type && route.gateway === gateway) ? "right" : "wrong";
}

function expectedText(way: (Resolved & { is: "route" })["way"]): string {
  switch (way.is) {
    case "workload":
      return `dev ${way.interfaceName}`;
    case "blackhole":
      return "blackhole: a block of this node";
    case "direct":
      return `via ${way.gateway}`;
    case "vxlan":
      return `via ${way.gateway}, in VXLAN`;
    case "ipip":
      return `via ${way.gateway}, in IP in IP`;
    case "vxlan link":
      return "the VXLAN device";
  }
}

function routeText(route: Route, { links }: Keeper): string {
  if (route.type !== "unicast") return String(route.type);
  const via = hopsOf(route).filter((hop) => hop !== undefined);
  const link = route.index === undefined ? undefined : (links.at(route.index)?.name ?? `link ${route.index}`);
  return [
    ...via.map((hop) => `via ${hop}`),
    ...(link === undefined ? [] : [`dev ${link}`]),
    `proto ${route.protocol}`,
  ].join(" ");
}

function hopsOf({ gateway, hops }: Route): readonly (string | undefined)[] {
  return hops === undefined ? [gateway] : hops.map((hop) => hop.gateway);
}
