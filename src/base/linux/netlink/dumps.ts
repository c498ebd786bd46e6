// What can be asked for: everything of one kind, or the part that a filter names. The kernel filters where it can; what an older
// one lets through is filtered here again.
import { type Address, readAddress, writeAddressHeader } from "./messages/addresses.ts";
import { ipBytes } from "./messages/ip-bytes.ts";
import { type Link, type LinkRef, readLink, writeLinkHeader, writeLinkRef } from "./messages/links.ts";
import type { Span } from "./messages/message-reader.ts";
import type { MessageWriter } from "./messages/message-writer.ts";
import { type Neighbour, readNeighbour, writeNeighbourHeader } from "./messages/neighbours.ts";
import {
  type Family,
  linkAttributes,
  linkInfoAttributes,
  messageTypes,
  namespaceAttributes,
  neighbourAttributes,
  routeAttributes,
} from "./messages/numbers.ts";
import { type Route, readRoute, writeRouteHeader } from "./messages/routes.ts";
import { type Rule, readRule, writeRuleDumpHeader } from "./messages/rules.ts";

export type LinkFilter = { readonly master?: number; readonly kind?: string };
export type AddressFilter = { readonly family?: Family; readonly index?: number };
export type RouteFilter = {
  readonly family?: Family;
  readonly table?: number;
  readonly protocol?: number;
  readonly index?: number;
};
export type NeighbourFilter = {
  /** `bridge`: forwarding entries. */
  readonly family: Family | "bridge";
  readonly index?: number;
  readonly master?: number;
};
export type RuleFilter = { readonly family?: Family };

export type Dump<T> = {
  readonly what: string;
  /** Whether it is about one table or link: where that is not there (any more), the list is empty, and the kernel's refusal says so. */
  readonly isOfOne: boolean;
  /** Of the request. */
  readonly type: number;
  /** Of what comes back. */
  readonly answerType: number;
  write(out: MessageWriter): void;
  /** Undefined: not asked for. */
  read(body: Span): T | undefined;
};

export function dumpLinks(filter: LinkFilter): Dump<Link> {
  const { master, kind } = filter;
  return {
    what: "links",
    isOfOne: master !== undefined,
    type: messageTypes.RTM_GETLINK,
    answerType: messageTypes.RTM_NEWLINK,
    write(out) {
      writeLinkHeader(out, 0);
      if (master !== undefined) out.attributeU32(linkAttributes.IFLA_MASTER, master);
      if (kind !== undefined) {
        out.nest(linkAttributes.IFLA_LINKINFO, () => out.attributeText(linkInfoAttributes.IFLA_INFO_KIND, kind));
      }
      out.attributeU32(linkAttributes.IFLA_EXT_MASK, skipStatistics);
    },
    read: (body) => only(readLink(body), (link) => is(master, link.master) && is(kind, link.kind)),
  };
}

/** One link, not all of them: a node has a thousand. */
export function oneLink(link: LinkRef): Dump<Link> {
  return {
    what: `link ${link}`,
    isOfOne: true,
    type: messageTypes.RTM_GETLINK,
    answerType: messageTypes.RTM_NEWLINK,
    write(out) {
      writeLinkRef(out, link);
      out.attributeU32(linkAttributes.IFLA_EXT_MASK, skipStatistics);
    },
    read: readLink,
  };
}

/** The number by which links of ours name an open namespace that their peers are in; -1: none has its peer there. */
export function namespaceId(fd: number): Dump<number> {
  return {
    what: "the number of a namespace",
    isOfOne: true,
    type: messageTypes.RTM_GETNSID,
    answerType: messageTypes.RTM_NEWNSID,
    write(out) {
      out.u32(0); // of no family
      out.attributeU32(namespaceAttributes.NETNSA_FD, fd);
    },
    read(body) {
      let id: number | undefined;
      body.from(4).attributes((type, value) => {
        if (type === namespaceAttributes.NETNSA_NSID) id = value.i32();
      });
      return id;
    },
  };
}

/** A packet that is not this host's own: whose, and the index of the interface that it arrives on. Rules of routing may ask for both. */
export type Arriving = { readonly from: string; readonly index: number };

/** The route that a packet to the address takes, as it stands in its table. */
export function routeTo(address: string, arriving?: Arriving): Dump<Route> {
  const { family, bytes } = ipBytes(address);
  const from = arriving === undefined ? undefined : ipBytes(arriving.from).bytes;
  return {
    what: `the route to ${address}`,
    isOfOne: false,
    type: messageTypes.RTM_GETROUTE,
    answerType: messageTypes.RTM_NEWROUTE,
    write(out) {
      const length = bytes.length * 8;
      const start = out.mark();
      writeRouteHeader(out, { family, length, table: 0, protocol: 0, scope: 0, type: 0, flags: matchEntry });
      out.attribute(routeAttributes.RTA_DST, bytes);
      if (arriving === undefined || from === undefined) return;
      out.patchU8(start + 2, from.length * 8); // the length of the source is the header's third byte
      out.attribute(routeAttributes.RTA_SRC, from);
      out.attributeU32(routeAttributes.RTA_IIF, arriving.index);
    },
    read: readRoute,
  };
}

const matchEntry = 0x2000; // RTM_F_FIB_MATCH: the entry itself, not what the kernel would make of it for one packet

const skipStatistics = 1 << 3; // RTEXT_FILTER_SKIP_STATS: they are most of a link's bytes

export function dumpAddresses({ family, index }: AddressFilter): Dump<Address> {
  return {
    what: "addresses",
    isOfOne: index !== undefined,
    type: messageTypes.RTM_GETADDR,
    answerType: messageTypes.RTM_NEWADDR,
    write: (out) => writeAddressHeader(out, { family, length: 0, flags: 0, scope: 0, index: index ?? 0 }),
    read: (body) => only(readAddress(body), (address) => is(family, address.family) && is(index, address.index)),
  };
}

export function dumpRoutes(filter: RouteFilter): Dump<Route> {
  const { family, table, protocol, index } = filter;
  return {
    what: "routes",
    isOfOne: table !== undefined || index !== undefined,
    type: messageTypes.RTM_GETROUTE,
    answerType: messageTypes.RTM_NEWROUTE,
    write(out) {
      writeRouteHeader(out, { family, length: 0, table: 0, protocol: protocol ?? 0, scope: 0, type: 0, flags: 0 });
      if (table !== undefined) out.attributeU32(routeAttributes.RTA_TABLE, table);
      if (index !== undefined) out.attributeU32(routeAttributes.RTA_OIF, index);
    },
    read(body) {
      // Before anything is decoded, as most may be others'.
      if (protocol !== undefined && body.u8(5) !== protocol) return undefined;
      return only(
        readRoute(body),
        (route) =>
          is(family, route.family) &&
          is(table, route.table) &&
          (index === undefined || route.index === index || route.hops?.some((hop) => hop.index === index) === true),
      );
    },
  };
}

export function dumpNeighbours({ family, index, master }: NeighbourFilter): Dump<Neighbour> {
  return {
    what: family === "bridge" ? "forwarding entries" : "neighbours",
    isOfOne: index !== undefined || master !== undefined,
    type: messageTypes.RTM_GETNEIGH,
    answerType: messageTypes.RTM_NEWNEIGH,
    write(out) {
      // Forwarding entries are filtered by the header's index, neighbours by an attribute.
      const headerIndex = family === "bridge" ? (index ?? 0) : 0;
      writeNeighbourHeader(out, { family, index: headerIndex, states: 0, flags: 0 });
      if (index !== undefined && family !== "bridge") out.attributeU32(neighbourAttributes.NDA_IFINDEX, index);
      if (master !== undefined) out.attributeU32(neighbourAttributes.NDA_MASTER, master);
    },
    read: (body) => only(readNeighbour(body), (entry) => family === entry.family && is(index, entry.index)),
  };
}

export function dumpRules({ family }: RuleFilter): Dump<Rule> {
  return {
    what: "rules",
    isOfOne: false,
    type: messageTypes.RTM_GETRULE,
    answerType: messageTypes.RTM_NEWRULE,
    write: (out) => writeRuleDumpHeader(out, family),
    read: (body) => only(readRule(body), (rule) => is(family, rule.family)),
  };
}

function is<T>(wanted: T | undefined, seen: T | undefined): boolean {
  return wanted === undefined || wanted === seen;
}

function only<T>(value: T | undefined, isWanted: (value: T) => boolean): T | undefined {
  return value !== undefined && isWanted(value) ? value : undefined;
}
