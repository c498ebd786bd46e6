// Routes, of all tables.
import { CattailError } from "../../../lib/index.ts";
import { ipBytes, ipText, prefixBytes } from "./ip-bytes.ts";
import { malformed } from "./malformed.ts";
import { AttributeCursor, type Span } from "./message-reader.ts";
import type { MessageWriter } from "./message-writer.ts";
import { type Named, namesOf, numberOf, type Scope, scopeName, scopes } from "./names.ts";
import { routeAttributes as at, type Family, families, familyName, routeMetricMtu } from "./numbers.ts";

const routeTypes = {
  unicast: 1,
  local: 2,
  broadcast: 3,
  anycast: 4,
  multicast: 5,
  blackhole: 6,
  unreachable: 7,
  prohibit: 8,
  throw: 9,
} as const;
export type RouteType = Named<typeof routeTypes>;
/** Who made a route: any number of one byte; these have names in /etc/iproute2/rt_protos. */
const routeProtocols = { unspec: 0, redirect: 1, kernel: 2, boot: 3, static: 4, ra: 9, bird: 12 } as const;
export type RouteProtocol = Named<typeof routeProtocols>;

const typeName = namesOf(routeTypes);
const protocolName = namesOf(routeProtocols);

export const mainTable = 254;
const flagOnlink = 0x4;
const flagCloned = 0x200;

export type Hop = {
  readonly gateway?: string;
  readonly index?: number;
  /** 1 to 256; of several hops each gets its share. */
  readonly weight?: number;
  /** The gateway is on the link, whatever addresses the link has. */
  readonly onlink?: boolean;
};

export type Route = {
  readonly family: Family;
  /** `10.0.0.0/24`; `0.0.0.0/0` and `::/0` are the default routes. */
  readonly destination: string;
  readonly type: RouteType;
  readonly table: number;
  readonly protocol: RouteProtocol;
  readonly scope: Scope;
  readonly metric?: number;
  /** The address that our own packets have as their source. */
  readonly source?: string;
  readonly mtu?: number;
  readonly gateway?: string;
  readonly index?: number;
  readonly onlink?: boolean;
  /** Of a route with several ways; then it has no gateway and index of its own. */
  readonly hops?: readonly Hop[];
};
export type NewRoute = Pick<
  Route,
  "destination" | "metric" | "source" | "mtu" | "gateway" | "index" | "onlink" | "hops"
> & {
  readonly type?: RouteType;
  /** Main unless told. */
  readonly table?: number;
  /** Static unless told; for one that is to be deleted, any. */
  readonly protocol?: RouteProtocol;
  readonly scope?: Scope;
};

export function writeRoute(out: MessageWriter, route: NewRoute, isDelete: boolean): void {
  const { family, bytes, length } = prefixBytes(route.destination);
  if (isBeyond(bytes, length)) throw hostBits(route.destination);
  const table = route.table ?? mainTable;
  writeRouteHeader(out, {
    family,
    length,
    table,
    protocol: numberOf(routeProtocols, route.protocol ?? (isDelete ? "unspec" : "static")),
    scope: numberOf(scopes, route.scope ?? (isDelete ? "nowhere" : usualScope(route, family))),
    type: numberOf(routeTypes, route.type ?? (isDelete ? 0 : "unicast")),
    flags: route.onlink === true ? flagOnlink : 0,
  });
  if (length > 0) out.attribute(at.RTA_DST, bytes);
  out.attributeU32(at.RTA_TABLE, table);
  if (route.metric !== undefined) out.attributeU32(at.RTA_PRIORITY, route.metric);
  if (route.source !== undefined) out.attribute(at.RTA_PREFSRC, ipBytes(route.source).bytes);
  if (route.mtu !== undefined) {
    const { mtu } = route;
    out.nestWithoutFlag(at.RTA_METRICS, () => out.attributeU32(routeMetricMtu, mtu));
  }
  writeGateway(out, family, route.gateway);
  if (route.index !== undefined) out.attributeU32(at.RTA_OIF, route.index);
  if (route.hops !== undefined) writeHops(out, family, route.hops);
}

// As `ip` chooses: what is reached without a gateway is on the link, what is our own is on this host.
function usualScope(route: NewRoute, family: Family): Scope {
  if (family === "inet6") return "global";
  if (route.type === "local") return "host";
  const isUnicast = route.type === undefined || route.type === "unicast";
  return isUnicast && route.gateway === undefined && route.hops === undefined ? "link" : "global";
}

/** `rtnexthop`: length u16, flags u8, weight - 1 u8, index u32, then attributes. */
function writeHops(out: MessageWriter, family: Family, hops: readonly Hop[]): void {
  out.nestWithoutFlag(at.RTA_MULTIPATH, () => {
    for (const hop of hops) {
      const start = out.mark();
      out.u16(0);
      out.u8(hop.onlink === true ? flagOnlink : 0);
      out.u8((hop.weight ?? 1) - 1);
      out.u32(hop.index ?? 0);
      writeGateway(out, family, hop.gateway);
      out.patchU16(start, out.mark() - start);
    }
  });
}

function writeGateway(out: MessageWriter, family: Family, gateway: string | undefined): void {
  if (gateway === undefined) return;
  const via = ipBytes(gateway);
  if (via.family === family) {
    out.attribute(at.RTA_GATEWAY, via.bytes);
    return;
  }
  // IPv4 by way of an IPv6 neighbour: family u16, address.
  const value = new Uint8Array(2 + via.bytes.length);
  new Uint16Array(value.buffer, 0, 1)[0] = families[via.family];
  value.set(via.bytes, 2);
  out.attribute(at.RTA_VIA, value);
}

/** `rtmsg`: family, destination length, source length, tos, table, protocol, scope, type (all u8), flags u32. */
export function writeRouteHeader(
  out: MessageWriter,
  header: {
    family: Family | undefined;
    length: number;
    table: number;
    protocol: number;
    scope: number;
    type: number;
    flags: number;
  },
): void {
  out.u8(header.family === undefined ? 0 : families[header.family]);
  out.u8(header.length);
  out.u8(0);
  out.u8(0);
  out.u8(header.table < 256 ? header.table : 0); // the attribute has larger ones
  out.u8(header.protocol);
  out.u8(header.scope);
  out.u8(header.type);
  out.u32(header.flags);
}

/** Undefined: of a family that has no place here, or an entry of the kernel's cache. */
export function readRoute(body: Span): Route | undefined {
  const family = familyName(body.u8());
  const length = body.u8(1);
  const flags = body.u32(8);
  if (family === undefined || family === "bridge" || (flags & flagCloned) !== 0) return undefined;
  const most = family === "inet" ? 32 : 128;
  if (length > most) throw malformed(`a route to ${length} bits of an address of ${most}`);
  let destination = family === "inet" ? "0.0.0.0" : "::";
  const route: { -readonly [key in keyof Route]: Route[key] } = {
    family,
    destination,
    type: typeName(body.u8(7)),
    table: body.u8(4),
    protocol: protocolName(body.u8(5)),
    scope: scopeName(body.u8(6)),
  };
  const attribute = new AttributeCursor(body, 12);
  while (attribute.step()) {
    switch (attribute.type) {
      case at.RTA_DST:
        destination = attribute.address();
        break;
      case at.RTA_TABLE:
        route.table = attribute.u32();
        break;
      case at.RTA_PRIORITY:
        route.metric = attribute.u32();
        break;
      case at.RTA_PREFSRC:
        route.source = attribute.address();
        break;
      case at.RTA_GATEWAY:
        route.gateway = attribute.address();
        break;
      case at.RTA_VIA:
        route.gateway = ipText(attribute.span().from(2).borrow());
        break;
      case at.RTA_OIF:
        route.index = attribute.u32();
        break;
      case at.RTA_MULTIPATH:
        route.hops = readHops(attribute.span());
        break;
      case at.RTA_METRICS:
        attribute.span().attributes((metric, amount) => {
          if (metric === routeMetricMtu) route.mtu = amount.u32();
        });
        break;
    }
  }
  if ((flags & flagOnlink) !== 0) route.onlink = true;
  route.destination = `${destination}/${length}`;
  return route;
}

function readHops(body: Span): Hop[] {
  const hops: Hop[] = [];
  let rest = body;
  while (rest.length >= 8) {
    const length = rest.u16();
    if (length < 8 || length > rest.length) throw malformed(`a hop of ${length} bytes in ${rest.length}`);
    const hop: { -readonly [key in keyof Hop]: Hop[key] } = { index: rest.u32(4), weight: rest.u8(3) + 1 };
    if ((rest.u8(2) & flagOnlink) !== 0) hop.onlink = true;
    rest
      .until(length)
      .from(8)
      .attributes((type, value) => {
        if (type === at.RTA_GATEWAY) hop.gateway = ipText(value.borrow());
        else if (type === at.RTA_VIA) hop.gateway = ipText(value.from(2).borrow());
      });
    hops.push(hop);
    rest = rest.from(Math.min((length + 3) & ~3, rest.length));
  }
  return hops;
}

function isBeyond(bytes: Uint8Array, length: number): boolean {
  return bytes.some((byte, i) => (byte & (0xff >> Math.min(8, Math.max(0, length - 8 * i)))) !== 0);
}

function hostBits(destination: string): CattailError {
  return new CattailError("NETLINK_VALUE", {
    problem: `${destination} is an address within a network, and a route leads to a network`,
    next: "Set the bits beyond the length to zero (10.0.0.0/24, not 10.0.0.1/24)",
  });
}
