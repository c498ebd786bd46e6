// The few settings of a link (net.ipv4.conf.LINK.*) that the kernel tells of when they change, whoever changed them.
import type { Span } from "./message-reader.ts";
import { settingAttributes as at, type Family, familyName } from "./numbers.ts";

export type LinkSysctls = {
  readonly family: Family;
  /** `all` and `default` stand for what has no link of its own. */
  readonly link: number | "all" | "default";
  readonly forwarding?: number;
  readonly rpFilter?: number;
  readonly proxyNeighbours?: number;
};

/** `netconfmsg`: family u8, padded. Undefined: of a family that has no place here, or of no link. */
export function readLinkSysctls(body: Span): LinkSysctls | undefined {
  const family = familyName(body.u8());
  if (family === undefined || family === "bridge") return undefined;
  let link: LinkSysctls["link"] | undefined;
  const found: { -readonly [key in "forwarding" | "rpFilter" | "proxyNeighbours"]?: number } = {};
  body.from(Math.min(4, body.length)).attributes((type, value) => {
    if (type === at.NETCONFA_IFINDEX) link = linkOf(value.i32());
    else if (type === at.NETCONFA_FORWARDING) found.forwarding = value.i32();
    else if (type === at.NETCONFA_RP_FILTER) found.rpFilter = value.i32();
    else if (type === at.NETCONFA_PROXY_NEIGH) found.proxyNeighbours = value.i32();
  });
  return link === undefined ? undefined : { family, link, ...found };
}

function linkOf(index: number): LinkSysctls["link"] {
  return index === -1 ? "all" : index === -2 ? "default" : index;
}
