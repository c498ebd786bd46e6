// The door to the kernel: netlink, network namespaces, sysctls, pings. Its own door, because most programs need files only; node:ffi is loaded when a
// socket is opened or a namespace entered, not before.
//
//   openNetlink ────────▶ Netlink: links(), addresses(), routes(), neighbours(), rules(); change(), changeAll()
//   openNotifications ──▶ Notifications: for await (set | deleted | lost)
//        │ (both)
//        ▼
//   KernelSocket ◀── ffi/netlink-socket.ts (socket, bind, sendto, recv)      netlink/*.ts: values ⇄ bytes, pure
import { Conntrack } from "./conntrack/conntrack.ts";
import { type NftContext, openNftContext } from "./ffi/libnftables.ts";
import { openNetlinkSocket } from "./ffi/netlink-socket.ts";
import { hasBuiltin } from "./load-builtin.ts";
import { inNamespace } from "./namespaces/network-namespace.ts";
import { PacketLog } from "./netfilter/packet-log.ts";
import { RulesetChanges, rulesetGroup } from "./netfilter/ruleset-changes.ts";
import { SetElements } from "./netfilter/set-elements.ts";
import { type NftTable, readTables } from "./netfilter/tables.ts";
import { Netlink } from "./netlink/netlink.ts";
import { groupsOf, Notifications, type Subject } from "./netlink/notifications.ts";

export { Conntrack } from "./conntrack/conntrack.ts";
export type { Refusal } from "./echo/messages.ts";
export { type Pinged, type PingOptions, ping } from "./echo/ping.ts";
export { kernelErrno } from "./ffi/kernel-errno.ts";
export type { NftContext } from "./ffi/libnftables.ts";
export {
  createNamespace,
  deleteNamespace,
  inNamespace,
  namespaceNames,
  type OpenNamespace,
  openNamespace,
} from "./namespaces/network-namespace.ts";
export { readSysctl, type SysctlName, writeSysctl } from "./namespaces/sysctl.ts";
export { type LoggedPacket, PacketLog } from "./netfilter/packet-log.ts";
export { type RulesetChange, RulesetChanges } from "./netfilter/ruleset-changes.ts";
export type { SetChange, SetElements, SetKey } from "./netfilter/set-elements.ts";
export type { NftTable } from "./netfilter/tables.ts";
export type { KernelChange } from "./netlink/changes.ts";
export type { AddressFilter, LinkFilter, NeighbourFilter, RouteFilter, RuleFilter } from "./netlink/dumps.ts";
export type { KernelSocket, Received } from "./netlink/kernel-socket.ts";
export type * from "./netlink/messages/addresses.ts";
export type { Link, LinkEdit, LinkRef, LinkSettings, NewLink, Vxlan } from "./netlink/messages/links.ts";
export type { Neighbour, NeighbourFlag, NeighbourState, NewNeighbour } from "./netlink/messages/neighbours.ts";
export type { Family } from "./netlink/messages/numbers.ts";
export {
  type Hop,
  mainTable,
  type NewRoute,
  type Route,
  type RouteProtocol,
  type RouteType,
} from "./netlink/messages/routes.ts";
export type { NewRule, Rule, RuleAction } from "./netlink/messages/rules.ts";
export type { LinkSysctls } from "./netlink/messages/sysctls.ts";
export { Netlink, type Outcome } from "./netlink/netlink.ts";
export { type Notification, Notifications, type Subject } from "./netlink/notifications.ts";

/** Whether this Node can talk to the kernel (node:ffi); without it, what is opened here throws NODE_TOO_OLD. */
export function isKernelReachable(): boolean {
  return process.platform === "linux" && hasBuiltin("node:ffi");
}

const requestBufferBytes = 1 << 20;
const notificationBufferBytes = 8 << 20;

/** In the namespace of the path, or in the one that this thread is in. */
export function openNetlink(options: { readonly namespace?: string | undefined } = {}): Netlink {
  const open = () => openNetlinkSocket({ groups: 0, receiveBufferBytes: requestBufferBytes });
  return new Netlink(options.namespace === undefined ? open() : inNamespace(options.namespace, open));
}

/** From now on nothing is missed that is not told as lost: open this, then list, then read this. */
export function openNotifications(
  subjects: readonly Subject[],
  options: {
    readonly namespace?: string | undefined;
    readonly signal?: AbortSignal | undefined;
    readonly bufferBytes?: number;
  } = {},
): Notifications {
  const { namespace, signal, bufferBytes = notificationBufferBytes } = options;
  const open = () => openNetlinkSocket({ groups: groupsOf(subjects), receiveBufferBytes: bufferBytes });
  return new Notifications(namespace === undefined ? open() : inNamespace(namespace, open), signal);
}

/** What the kernel remembers of connections, in the namespace of the path or in the one that this thread is in. */
export function openConntrack(options: { readonly namespace?: string | undefined } = {}): Conntrack {
  const open = () =>
    openNetlinkSocket({ groups: 0, receiveBufferBytes: notificationBufferBytes, protocol: "netfilter" });
  return new Conntrack(options.namespace === undefined ? open() : inNamespace(options.namespace, open));
}

/** Every transaction on the kernel's packet rules from now on, whoever makes it. */
export function openRulesetChanges(
  options: { readonly namespace?: string | undefined; readonly signal?: AbortSignal | undefined } = {},
): RulesetChanges {
  const { namespace, signal } = options;
  const open = () =>
    openNetlinkSocket({ groups: rulesetGroup, receiveBufferBytes: notificationBufferBytes, protocol: "netfilter" });
  return new RulesetChanges(namespace === undefined ? open() : inNamespace(namespace, open), signal);
}

/**
 * Changes of packet rules without starting nft, where its library is installed; throws where it is not. Every call is synchronous: the
 * event loop waits for the kernel.
 */
export function openNftables(options: { readonly namespace?: string | undefined } = {}): NftContext {
  const { namespace } = options;
  const open = () => {
    // The library ends the process when it gets no socket: see first whether there is one.
    openNetlinkSocket({ groups: 0, receiveBufferBytes: requestBufferBytes, protocol: "netfilter" })[Symbol.dispose]();
    return openNftContext();
  };
  if (namespace === undefined) return open();
  const context = inNamespace(namespace, open);
  return {
    // Its socket is there already; what else it asks the kernel, it asks where this thread is.
    run: (text) => inNamespace(namespace, () => context.run(text)),
    list: (text, as) => inNamespace(namespace, () => context.list(text, as)),
    [Symbol.dispose]: () => context[Symbol.dispose](),
  };
}

/** Changes of sets' elements without nft, in the namespace of the path or in the one that this thread is in. Synchronous, too. */
export function openSetElements(options: { readonly namespace?: string | undefined } = {}): SetElements {
  const open = () => openNetlinkSocket({ groups: 0, receiveBufferBytes: requestBufferBytes, protocol: "netfilter" });
  return new SetElements(options.namespace === undefined ? open() : inNamespace(options.namespace, open));
}

export function nftTables(options: { readonly namespace?: string | undefined } = {}): readonly NftTable[] {
  const open = () => openNetlinkSocket({ groups: 0, receiveBufferBytes: requestBufferBytes, protocol: "netfilter" });
  using socket = options.namespace === undefined ? open() : inNamespace(options.namespace, open);
  return readTables(socket);
}

/** Packets that rules with this log group have picked out, from now on. */
export function openPacketLog(
  group: number,
  options: { readonly namespace?: string | undefined; readonly signal?: AbortSignal | undefined } = {},
): PacketLog {
  const { namespace, signal } = options;
  const open = () => openNetlinkSocket({ groups: 0, receiveBufferBytes: requestBufferBytes, protocol: "netfilter" });
  return new PacketLog(namespace === undefined ? open() : inNamespace(namespace, open), group, signal);
}
