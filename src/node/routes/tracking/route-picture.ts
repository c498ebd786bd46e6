// The routes of the main table that matter here: our own and BIRD's, by destination, as a list said and as notifications go on telling.
import { mainTable, type Route } from "../../../base/linux/kernel.ts";
import { metricOf, numberOf } from "./kernel-route.ts";

export class RoutePicture {
  readonly #matters: (route: Route) => boolean;
  readonly #routes = new Map<string, Route[]>();
  readonly #byIndex = new Map<number, Set<string>>();

  /** `matters`: whether a route is worth remembering. */
  constructor(matters: (route: Route) => boolean) {
    this.#matters = matters;
  }

  to(destination: string): readonly Route[] {
    return this.#routes.get(destination) ?? [];
  }

  destinations(): Iterable<string> {
    return this.#routes.keys();
  }

  get size(): number {
    return this.#routes.size;
  }

  /** How many of them they go by. */
  get interfaces(): number {
    return this.#byIndex.size;
  }

  /** Whether a route by that link has the gateway, or is to that very address. */
  leadsTo(index: number, gateway: string): boolean {
    const single = `${gateway}/${gateway.includes(":") ? 128 : 32}`;
    for (const destination of this.#byIndex.get(index) ?? []) {
      const isThere = (one: Route) => one.index === index && (one.gateway === gateway || destination === single);
      if (this.to(destination).some(isThere)) return true;
    }
    return false;
  }

  /** Everything anew. Returns the destinations that look different from what was thought. */
  load(routes: readonly Route[]): Set<string> {
    const before = new Map(this.#routes);
    this.#routes.clear();
    this.#byIndex.clear();
    for (const route of routes) if (route.table === mainTable && this.#matters(route)) this.#add(route);
    const changed = new Set<string>();
    for (const [destination, now] of this.#routes) {
      if (!sameList(before.get(destination) ?? [], now)) changed.add(destination);
      before.delete(destination);
    }
    for (const destination of before.keys()) changed.add(destination);
    return changed;
  }

  /** Returns whether anything that matters is different. */
  set(route: Route, replaces: boolean): boolean {
    if (route.table !== mainTable) return false;
    const known = this.#routes.get(route.destination) ?? [];
    const metric = metricOf(route.family, route.metric);
    // One that does not matter may still have replaced one that does.
    const replaced = known.filter(
      (one) => sameRoute(one, route) || (replaces && metricOf(one.family, one.metric) === metric),
    );
    for (const one of replaced) this.#remove(one);
    const matters = this.#matters(route);
    if (matters) this.#add(route);
    return matters || replaced.length > 0;
  }

  deleted(route: Route): boolean {
    const known = this.#routes.get(route.destination)?.find((one) => sameRoute(one, route));
    if (known === undefined) return false;
    this.#remove(known);
    return true;
  }

  /** The kernel tells of no IPv4 route that goes with its link. Returns the destinations. */
  forgetLink(index: number): string[] {
    const destinations = [...(this.#byIndex.get(index) ?? [])];
    for (const destination of destinations) {
      for (const route of this.to(destination).filter((one) => one.index === index)) this.#remove(route);
    }
    return destinations;
  }

  #add(route: Route): void {
    const list = this.#routes.get(route.destination);
    if (list === undefined) this.#routes.set(route.destination, [route]);
    else list.push(route);
    if (route.index === undefined) return;
    const of = this.#byIndex.get(route.index);
    if (of === undefined) this.#byIndex.set(route.index, new Set([route.destination]));
    else of.add(route.destination);
  }

  #remove(route: Route): void {
    const left = (this.#routes.get(route.destination) ?? []).filter((one) => one !== route);
    if (left.length === 0) this.#routes.delete(route.destination);
    else this.#routes.set(route.destination, left);
    if (route.index === undefined || left.some((one) => one.index === route.index)) return;
    const of = this.#byIndex.get(route.index);
    of?.delete(route.destination);
    if (of?.size === 0) this.#byIndex.delete(route.index);
  }
}

function sameList(a: readonly Route[], b: readonly Route[]): boolean {
  return a.length === b.length && a.every((one) => b.some((other) => sameRoute(one, other)));
}

function sameRoute(a: Route, b: Route): boolean {
  return (
    a.type === b.type &&
    numberOf(a.protocol) === numberOf(b.protocol) &&
    metricOf(a.family, a.metric) === metricOf(b.family, b.metric) &&
    a.gateway === b.gateway &&
    (a.type === "blackhole" || a.index === b.index) &&
    a.source === b.source &&
    (a.mtu ?? 0) === (b.mtu ?? 0) &&
    (a.onlink ?? false) === (b.onlink ?? false) &&
    JSON.stringify(a.hops) === JSON.stringify(b.hops)
  );
}
