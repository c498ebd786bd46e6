// A route as the calculation says it, in the kernel's terms; and whether one that the kernel has is that one.
import type { Family } from "../../../base/lib/index.ts";
import { mainTable, type NewRoute, type Route } from "../../../base/linux/kernel.ts";
import type { Resolved } from "../calculation/desired.ts";
import type { RouteSettings } from "../settings.ts";

/** The links that routes lead to, by index; undefined: not there, or down. */
export type RouteLinks = {
  /** The one that has our own address. */
  uplink(family: Family): number | undefined;
  tunnel(family: Family): { readonly index: number; readonly mtu: number } | undefined;
  ipip(): { readonly index: number; readonly mtu: number } | undefined;
  workload(interfaceName: string): number | undefined;
};

/** Why it cannot be written now stands beside those that can. */
export type KernelRoute =
  | { readonly is: "route"; readonly route: NewRoute }
  | { readonly is: "no link"; readonly why: string };

export function toKernel(
  destination: string,
  { way, family }: Resolved & { is: "route" },
  links: RouteLinks,
  settings: RouteSettings,
): KernelRoute {
  const source = settings.source[family];
  const common = { destination, table: mainTable, ...(source === undefined ? {} : { source }) };
  switch (way.is) {
    case "blackhole":
      return { is: "route", route: { destination, table: mainTable, type: "blackhole", protocol: settings.protocol } };
    case "workload": {
      const index = links.workload(way.interfaceName);
      if (index === undefined) return { is: "no link", why: `${way.interfaceName} is not there or not up` };
      const metric = settings.metric[family];
      return { is: "route", route: { ...common, index, metric, protocol: settings.deviceProtocol } };
    }
    case "direct": {
      const index = links.uplink(family);
      if (index === undefined)
        return { is: "no link", why: `no interface that is up has this node's IPv${family} address` };
      const route = { ...common, index, gateway: way.gateway, onlink: true, protocol: settings.protocol };
      return { is: "route", route };
    }
    case "ipip": {
      const device = links.ipip();
      if (device === undefined) return { is: "no link", why: "the IP in IP device is not there" };
      const via = { index: device.index, mtu: device.mtu, gateway: way.gateway, onlink: true };
      return { is: "route", route: { ...common, ...via, protocol: settings.protocol } };
    }
    case "vxlan":
    case "vxlan link": {
      const tunnel = links.tunnel(family);
      if (tunnel === undefined) return { is: "no link", why: "the VXLAN device is not there yet" };
      const { index, mtu } = tunnel;
      const via = way.is === "vxlan" ? { gateway: way.gateway, onlink: true } : {};
      return { is: "route", route: { ...common, ...via, index, mtu, protocol: settings.deviceProtocol } };
    }
  }
}

const defaultMetric6 = 1024; // what the kernel gives an IPv6 route that has none

export function metricOf(family: "inet" | "inet6", metric: number | undefined): number {
  return metric === undefined || metric === 0 ? (family === "inet6" ? defaultMetric6 : 0) : metric;
}

export function isAsWanted(route: Route, wanted: NewRoute): boolean {
  const type = wanted.type ?? "unicast";
  return (
    route.destination === wanted.destination &&
    route.type === type &&
    numberOf(route.protocol) === numberOf(wanted.protocol) &&
    metricOf(route.family, route.metric) === metricOf(route.family, wanted.metric) &&
    route.gateway === wanted.gateway &&
    // The kernel gives an IPv6 blackhole the loopback.
    (type === "blackhole" || route.index === wanted.index) &&
    route.source === wanted.source &&
    (route.mtu ?? 0) === (wanted.mtu ?? 0) &&
    (route.onlink ?? false) === (wanted.onlink ?? false) &&
    route.hops === undefined
  );
}

const names: { readonly [name: string]: number } = {
  unspec: 0,
  redirect: 1,
  kernel: 2,
  boot: 3,
  static: 4,
  ra: 9,
  bird: 12,
};

export function numberOf(protocol: Route["protocol"] | undefined): number {
  return typeof protocol === "number" ? protocol : (names[protocol ?? "static"] ?? 0);
}
