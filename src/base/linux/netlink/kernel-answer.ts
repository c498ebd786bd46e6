// The kernel's yes or no to a request, and its own words for the no (extended acknowledgement): they say more than an errno.
//
//   NLMSG_ERROR: error i32 (0 or -errno), the request's nlmsghdr (its body, too, unless capped), then attributes: text, offset of the bad one
import { CattailError, plainLine } from "../../lib/index.ts";
import { errnoName, SystemCallError } from "../ffi/libc.ts";
import { type Message, Span } from "./messages/message-reader.ts";
import {
  addressAttributes,
  errorAttributes as at,
  flags,
  linkAttributes,
  messageTypes,
  neighbourAttributes,
  routeAttributes,
  ruleAttributes,
} from "./messages/numbers.ts";

export type KernelAnswer = {
  /** 0: done. */
  readonly errno: number;
  readonly text: string | undefined;
  /** Where in the request the attribute begins that the kernel does not like. */
  readonly offset: number | undefined;
  /** The attribute that the kernel misses. */
  readonly missing: number | undefined;
};

const longestText = 500;

export function readAnswer(message: Message): KernelAnswer {
  const { body } = message;
  const answer = { errno: -body.i32(), text: undefined, offset: undefined, missing: undefined };
  if ((message.flags & flags.NLM_F_ACK_TLVS) === 0) return answer;
  // The request's header is always there; its body only where the answer is not capped, and never with a success.
  const isBodyThere = (message.flags & flags.NLM_F_CAPPED) === 0 && answer.errno !== 0;
  const after = 4 + (isBodyThere ? (Math.min(body.u32(4), body.length) + 3) & ~3 : 16);
  return { ...answer, ...readAttributes(body.from(Math.min(after, body.length))) };
}

/** NLMSG_DONE ends a dump, with an errno where it failed. */
export function readDone(message: Message): KernelAnswer {
  const { body } = message;
  const errno = body.length >= 4 ? -body.i32() : 0;
  const attributes =
    (message.flags & flags.NLM_F_ACK_TLVS) !== 0 && body.length > 4
      ? readAttributes(body.from(4))
      : { text: undefined, offset: undefined, missing: undefined };
  return { errno, ...attributes };
}

function readAttributes(span: Span): Omit<KernelAnswer, "errno"> {
  const found: { -readonly [key in keyof KernelAnswer]?: KernelAnswer[key] } = {};
  span.attributes((type, value) => {
    if (type === at.NLMSGERR_ATTR_MSG) found.text = value.text().slice(0, longestText);
    else if (type === at.NLMSGERR_ATTR_OFFS) found.offset = value.u32();
    else if (type === at.NLMSGERR_ATTR_MISS_TYPE) found.missing = value.u32();
  });
  return { text: found.text, offset: found.offset, missing: found.missing };
}

/** `request`: the bytes of the message that was refused, for the name of the attribute. */
export function refused(what: string, answer: KernelAnswer, request: Uint8Array): CattailError {
  const name = errnoName(answer.errno);
  const words = [
    answer.text === undefined || answer.text === "" ? undefined : `"${plainLine(answer.text)}"`,
    blamed(answer, request),
  ].filter((word) => word !== undefined);
  return new CattailError("NETLINK_REFUSED", {
    problem: `the kernel refused to ${what}: ${name}${words.length === 0 ? "" : `, ${words.join(", ")}`}`,
    next: advice[name] ?? "Compare with what is there (ip addr, ip route, ip rule, ip neigh, bridge fdb)",
    cause: new SystemCallError("netlink", answer.errno),
  });
}

const advice: { readonly [errno: string]: string } = {
  EPERM: "Run this as root, or with the capability CAP_NET_ADMIN",
  EACCES: "Run this as root, or with the capability CAP_NET_ADMIN",
  EEXIST: "It is there already: replace it, or delete it first",
  ENODEV: "There is no such link (any more) in this network namespace: look with ip link",
  ENOENT: "There is nothing like it to change or delete: look at what is there",
  ESRCH: "There is nothing like it to change or delete: look at what is there",
  ENETUNREACH: "The gateway is not on a network of an interface that is up: add the address first, or say onlink",
  ENETDOWN: "The interface is down: set it up first",
  EOPNOTSUPP: "This kernel lacks what it takes, often a module (modprobe vxlan, veth, bridge, dummy)",
  EADDRNOTAVAIL: "No such address is on that link: look with ip addr",
  EBUSY: "Something else uses it: another link of the same kind may have the same settings",
  EINVAL: "Change what the kernel's words name; without words, compare with what is there (ip addr, ip route, ip rule)",
  ERANGE: "Change what the kernel's words name",
  ENOBUFS:
    "The kernel has no memory for it now, or a table is full (net.ipv4.neigh.default.gc_thresh3, net.ipv6.route.max_size)",
};

// The offset may be deep inside: what is named is the outermost attribute around it, whose numbers are its family's own.
function blamed({ offset, missing }: KernelAnswer, request: Uint8Array): string | undefined {
  if (request.length < 16) return undefined;
  const family = attributesOf(Span.of(request).u16(4));
  const nameOf = (type: number): string => family?.names.get(type & 0x3fff) ?? `attribute ${type & 0x3fff}`;
  if (missing !== undefined) return `${nameOf(missing)} is missing`;
  if (offset === undefined || family === undefined || request.length < 16 + family.headerBytes) return undefined;
  let found: string | undefined;
  Span.of(request)
    .from(16 + family.headerBytes)
    .attributes((type, value) => {
      if (offset === value.start - 4) found = `at ${nameOf(type)}`;
      else if (offset >= value.start && offset < value.end) found = `inside ${nameOf(type)}`;
    });
  return found;
}

function attributesOf(messageType: number): { headerBytes: number; names: Map<number, string> } | undefined {
  const families: { first: number; headerBytes: number; table: { readonly [name: string]: number } }[] = [
    { first: messageTypes.RTM_NEWLINK, headerBytes: 16, table: linkAttributes },
    { first: messageTypes.RTM_NEWADDR, headerBytes: 8, table: addressAttributes },
    { first: messageTypes.RTM_NEWROUTE, headerBytes: 12, table: routeAttributes },
    { first: messageTypes.RTM_NEWNEIGH, headerBytes: 12, table: neighbourAttributes },
    { first: messageTypes.RTM_NEWRULE, headerBytes: 12, table: ruleAttributes },
  ];
  const found = families.find(({ first }) => messageType >= first && messageType < first + 4);
  if (found === undefined) return undefined;
  const names = new Map(Object.entries(found.table).map(([name, type]) => [type, name]));
  return { headerBytes: found.headerBytes, names };
}
