// What can be changed, as values: a list of them is one batch. Each says what is done and to what, and can be put into words for an error.
import { type NewAddress, writeAddress } from "./messages/addresses.ts";
import {
  type LinkEdit,
  type LinkRef,
  type NewLink,
  writeLinkEdit,
  writeLinkGroup,
  writeLinkRef,
  writeNewLink,
} from "./messages/links.ts";
import type { MessageWriter } from "./messages/message-writer.ts";
import { type NewNeighbour, writeNeighbour } from "./messages/neighbours.ts";
import { flags, messageTypes as type } from "./messages/numbers.ts";
import { mainTable, type NewRoute, writeRoute } from "./messages/routes.ts";
import { type NewRule, writeRule } from "./messages/rules.ts";

/**
 * `create` fails when it is there, `replace` takes its place (or makes it), `append` adds one more beside it (a route with the same
 * destination, another VTEP of the same forwarding entry), `delete` fails when it is not there.
 */
export type KernelChange =
  | { readonly do: "create"; readonly link: NewLink }
  | { readonly do: "edit"; readonly link: LinkEdit }
  | { readonly do: "delete"; readonly link: LinkRef }
  /** Every link of the group, in about the time of one: the kernel waits for the last of a link's users once for all of them. */
  | { readonly do: "delete"; readonly linkGroup: number }
  | { readonly do: "create" | "replace" | "delete"; readonly address: NewAddress }
  | { readonly do: "create" | "replace" | "append" | "delete"; readonly route: NewRoute }
  | { readonly do: "create" | "replace" | "append" | "delete"; readonly neighbour: NewNeighbour }
  | { readonly do: "create" | "delete"; readonly rule: NewRule };

const how = {
  create: flags.NLM_F_CREATE | flags.NLM_F_EXCL,
  replace: flags.NLM_F_CREATE | flags.NLM_F_REPLACE,
  append: flags.NLM_F_CREATE | flags.NLM_F_APPEND,
  edit: 0,
  delete: 0,
} as const;

export function writeChange(out: MessageWriter, change: KernelChange, sequence: number): void {
  const isDelete = change.do === "delete";
  const begin = (newType: number): void => {
    // Each kind has its "new", "delete" and "get" in a row.
    out.begin(newType + (isDelete ? 1 : 0), flags.NLM_F_REQUEST | how[change.do], sequence);
  };
  if ("link" in change) {
    begin(type.RTM_NEWLINK);
    if (change.do === "create") writeNewLink(out, change.link);
    else if (change.do === "edit") writeLinkEdit(out, change.link);
    else writeLinkRef(out, change.link);
  } else if ("linkGroup" in change) {
    begin(type.RTM_NEWLINK);
    writeLinkGroup(out, change.linkGroup);
  } else if ("address" in change) {
    begin(type.RTM_NEWADDR);
    writeAddress(out, change.address);
  } else if ("route" in change) {
    begin(type.RTM_NEWROUTE);
    writeRoute(out, change.route, isDelete);
  } else if ("neighbour" in change) {
    begin(type.RTM_NEWNEIGH);
    writeNeighbour(out, change.neighbour);
  } else {
    begin(type.RTM_NEWRULE);
    writeRule(out, change.rule);
  }
  out.end();
}

/** `create route 10.0.0.0/24 via 10.0.0.1 in table 254`. */
export function describeChange(change: KernelChange): string {
  return `${change.do} ${describeSubject(change)}`;
}

function describeSubject(change: KernelChange): string {
  if ("link" in change) {
    if (change.do === "create") return `${change.link.kind} link ${change.link.name}`;
    return `link ${change.do === "edit" ? change.link.link : change.link}`;
  }
  if ("linkGroup" in change) return `links of group ${change.linkGroup}`;
  if ("address" in change) return `address ${change.address.address} of link ${change.address.index}`;
  if ("route" in change) {
    const { destination, gateway, index, table = mainTable } = change.route;
    const via = gateway === undefined ? "" : ` via ${gateway}`;
    return `route ${destination}${via}${index === undefined ? "" : ` by link ${index}`} in table ${table}`;
  }
  if ("neighbour" in change) {
    const { family, address, mac, index } = change.neighbour;
    const words = [address, mac].filter((word) => word !== undefined).join(" at ");
    return `${family === "bridge" ? "forwarding entry" : "neighbour"} ${words} of link ${index}`;
  }
  const { family, priority, table } = change.rule;
  return `${family} rule${priority === undefined ? "" : ` ${priority}`}${table === undefined ? "" : ` for table ${table}`}`;
}
