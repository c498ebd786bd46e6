// Links: network interfaces, real and made.
import { CattailError } from "../../../lib/index.ts";
import { ipBytes, ipText, macBytes, macText } from "./ip-bytes.ts";
import type { Span } from "./message-reader.ts";
import type { MessageWriter } from "./message-writer.ts";
import { type Named, namesOf } from "./names.ts";
import {
  linkAttributes as at,
  linkInfoAttributes as info,
  netkitModeL2,
  netkitAttributes as nk,
  vethInfoPeer,
  vxlanAttributes as vx,
} from "./numbers.ts";

const operStates = {
  unknown: 0,
  notpresent: 1,
  down: 2,
  lowerlayerdown: 3,
  testing: 4,
  dormant: 5,
  up: 6,
} as const;

const operStateName = namesOf(operStates);

export type Vxlan = {
  readonly id: number;
  /** UDP; 4789 is the registered one, which the kernel does not take by itself. */
  readonly port?: number;
  readonly local?: string;
  /** The link below, by index. */
  readonly parent?: number;
  /** Whom to flood to: a group or a single peer. */
  readonly remote?: string;
  readonly learning?: boolean;
  readonly ttl?: number;
  readonly udpChecksum?: boolean;
  readonly zeroChecksum6Tx?: boolean;
  readonly zeroChecksum6Rx?: boolean;
};

/** A link as the kernel has it. */
export type Link = {
  readonly index: number;
  readonly name: string;
  /** `veth`, `vxlan`, `bridge`, ...; undefined: a device or loopback. */
  readonly kind: string | undefined;
  readonly isUp: boolean;
  readonly isLoopback: boolean;
  readonly operState: Named<typeof operStates>;
  readonly mtu: number;
  readonly mac: string | undefined;
  /** The index of the bridge (or other) that it is a port of. */
  readonly master: number | undefined;
  /** The link below, or a veth's peer, by its index; in another namespace where `peerNamespaceId` is there. */
  readonly parent: number | undefined;
  readonly peerNamespaceId: number | undefined;
  readonly alias: string | undefined;
  readonly vxlan: Vxlan | undefined;
};

/** What can be said about a link that is made and about one that is there. */
export type LinkSettings = {
  readonly up?: boolean;
  readonly mtu?: number;
  readonly mac?: string;
  /** The index of the bridge that it becomes a port of; 0: of none. */
  readonly master?: number;
  /** An open descriptor of the network namespace that it is made in or moved to. */
  readonly namespaceFd?: number;
};

/** How many queues a link has is said once, when it is made: of each direction. */
export type Queues = { readonly queues?: number };

export type NewLink = LinkSettings &
  Queues & { readonly name: string } & (
    | { readonly kind: "dummy" | "bridge" }
    /** It has no far end of its own: each route by it names the one that it leads to. */
    | { readonly kind: "ipip" }
    /** The peer is made first, and the kernel sets it up only when there are two of them: edit it later. */
    | { readonly kind: "veth"; readonly peer: NewPeer }
    /** Also a pair, with addresses of its own (L2). Kernels before 6.7, and those built without it, do not know it (EOPNOTSUPP). It has one queue. */
    | { readonly kind: "netkit"; readonly peer: NewPeer }
    | { readonly kind: "vxlan"; readonly vxlan: Vxlan }
  );

type NewPeer = Omit<LinkSettings, "up"> & Queues & { readonly name: string };

/** A link by its index, which stays, or by its name. */
export type LinkRef = number | string;
export type LinkEdit = LinkSettings & {
  readonly link: LinkRef;
  readonly newName?: string;
  /** The kernel takes none when a link is made. */
  readonly alias?: string;
  /** A number that several links of a namespace share, so that they can be deleted at once. */
  readonly group?: number;
  /** Of a tunnel: where it begins. Its id, which is told to be the same, and its port stay what they were when it was made. */
  readonly vxlan?: Pick<Vxlan, "id" | "local" | "parent">;
};

export function writeNewLink(out: MessageWriter, link: NewLink): void {
  writeLinkHeader(out, 0, link.up);
  out.attributeText(at.IFLA_IFNAME, checkedLinkName(link.name));
  writeSettings(out, link);
  writeQueues(out, link);
  out.nest(at.IFLA_LINKINFO, () => {
    out.attributeText(info.IFLA_INFO_KIND, link.kind);
    if (link.kind === "veth") {
      out.nest(info.IFLA_INFO_DATA, () => writePeer(out, vethInfoPeer, link.peer));
    } else if (link.kind === "netkit") {
      out.nest(info.IFLA_INFO_DATA, () => {
        out.attributeU32(nk.IFLA_NETKIT_MODE, netkitModeL2);
        writePeer(out, nk.IFLA_NETKIT_PEER_INFO, link.peer);
      });
    } else if (link.kind === "vxlan") {
      out.nest(info.IFLA_INFO_DATA, () => writeVxlan(out, link.vxlan));
    }
  });
}

function writePeer(out: MessageWriter, attribute: number, peer: NewPeer): void {
  out.nest(attribute, () => {
    writeLinkHeader(out, 0);
    out.attributeText(at.IFLA_IFNAME, checkedLinkName(peer.name));
    writeSettings(out, peer);
    writeQueues(out, peer);
  });
}

export function writeLinkEdit(out: MessageWriter, edit: LinkEdit): void {
  writeLinkRef(out, edit.link, edit.up);
  if (edit.newName !== undefined) {
    // With an index the name is what it gets; one that is found by name has no place for a new one.
    if (typeof edit.link === "string")
      throw badLink("a link is renamed by its index, not by its name", "Look its index up first");
    out.attributeText(at.IFLA_IFNAME, checkedLinkName(edit.newName));
  }
  if (edit.alias !== undefined) out.attributeText(at.IFLA_IFALIAS, edit.alias);
  if (edit.group !== undefined) out.attributeU32(at.IFLA_GROUP, edit.group);
  const { vxlan } = edit;
  if (vxlan !== undefined)
    out.nest(at.IFLA_LINKINFO, () => {
      out.attributeText(info.IFLA_INFO_KIND, "vxlan");
      out.nest(info.IFLA_INFO_DATA, () => writeVxlan(out, vxlan));
    });
  writeSettings(out, edit);
}

export function writeLinkRef(out: MessageWriter, link: LinkRef, up?: boolean): void {
  writeLinkHeader(out, typeof link === "number" ? link : 0, up);
  if (typeof link === "string") out.attributeText(at.IFLA_IFNAME, checkedLinkName(link));
}

/** 0 is the group of every link that nobody has put into another. */
export function writeLinkGroup(out: MessageWriter, group: number): void {
  if (group === 0) throw badLink("links of group 0 are not deleted together", "Put those that are to go into a group");
  writeLinkHeader(out, 0);
  out.attributeU32(at.IFLA_GROUP, group);
}

/** `ifinfomsg`: family u8, pad u8, type u16, index i32, flags u32, change u32. */
export function writeLinkHeader(out: MessageWriter, index: number, up?: boolean): void {
  out.u8(0);
  out.u8(0);
  out.u16(0);
  out.u32(index);
  out.u32(up === true ? flagUp : 0);
  out.u32(up === undefined ? 0 : flagUp);
}

const flagUp = 0x1;
const flagLoopback = 0x8;

function writeQueues(out: MessageWriter, { queues }: Queues): void {
  if (queues === undefined) return;
  out.attributeU32(at.IFLA_NUM_TX_QUEUES, queues);
  out.attributeU32(at.IFLA_NUM_RX_QUEUES, queues);
}

function writeSettings(out: MessageWriter, { mtu, mac, master, namespaceFd }: LinkSettings): void {
  if (mtu !== undefined) out.attributeU32(at.IFLA_MTU, mtu);
  if (mac !== undefined) out.attribute(at.IFLA_ADDRESS, macBytes(mac));
  if (master !== undefined) out.attributeU32(at.IFLA_MASTER, master);
  if (namespaceFd !== undefined) out.attributeU32(at.IFLA_NET_NS_FD, namespaceFd);
}

function writeVxlan(out: MessageWriter, vxlan: Vxlan): void {
  out.attributeU32(vx.IFLA_VXLAN_ID, vxlan.id);
  if (vxlan.parent !== undefined) out.attributeU32(vx.IFLA_VXLAN_LINK, vxlan.parent);
  if (vxlan.local !== undefined) {
    const { family, bytes } = ipBytes(vxlan.local);
    out.attribute(family === "inet" ? vx.IFLA_VXLAN_LOCAL : vx.IFLA_VXLAN_LOCAL6, bytes);
  }
  if (vxlan.remote !== undefined) {
    const { family, bytes } = ipBytes(vxlan.remote);
    out.attribute(family === "inet" ? vx.IFLA_VXLAN_GROUP : vx.IFLA_VXLAN_GROUP6, bytes);
  }
  if (vxlan.ttl !== undefined) out.attributeU8(vx.IFLA_VXLAN_TTL, vxlan.ttl);
  if (vxlan.port !== undefined) out.attributeU16Network(vx.IFLA_VXLAN_PORT, vxlan.port);
  const flag = (type: number, value: boolean | undefined): void => {
    if (value !== undefined) out.attributeU8(type, value ? 1 : 0);
  };
  flag(vx.IFLA_VXLAN_LEARNING, vxlan.learning);
  flag(vx.IFLA_VXLAN_UDP_CSUM, vxlan.udpChecksum);
  flag(vx.IFLA_VXLAN_UDP_ZERO_CSUM6_TX, vxlan.zeroChecksum6Tx);
  flag(vx.IFLA_VXLAN_UDP_ZERO_CSUM6_RX, vxlan.zeroChecksum6Rx);
}

export function readLink(body: Span): Link {
  const flags = body.u32(8);
  const link: { -readonly [key in keyof Link]: Link[key] } = {
    index: body.i32(4),
    name: "",
    kind: undefined,
    isUp: (flags & flagUp) !== 0,
    isLoopback: (flags & flagLoopback) !== 0,
    operState: "unknown",
    mtu: 0,
    mac: undefined,
    master: undefined,
    parent: undefined,
    peerNamespaceId: undefined,
    alias: undefined,
    vxlan: undefined,
  };
  body.from(16).attributes((type, value) => {
    if (type === at.IFLA_IFNAME) link.name = value.text();
    else if (type === at.IFLA_MTU) link.mtu = value.u32();
    else if (type === at.IFLA_ADDRESS && value.length > 0) link.mac = macText(value.borrow());
    else if (type === at.IFLA_MASTER) link.master = value.u32();
    else if (type === at.IFLA_LINK) link.parent = value.u32();
    else if (type === at.IFLA_LINK_NETNSID) link.peerNamespaceId = value.i32();
    else if (type === at.IFLA_OPERSTATE) link.operState = operStateName(value.u8());
    else if (type === at.IFLA_IFALIAS) link.alias = value.text();
    else if (type === at.IFLA_LINKINFO) readInfo(value, link);
  });
  return link;
}

function readInfo(body: Span, link: { kind: Link["kind"]; vxlan: Link["vxlan"] }): void {
  let data: Span | undefined;
  body.attributes((type, value) => {
    if (type === info.IFLA_INFO_KIND) link.kind = value.text();
    else if (type === info.IFLA_INFO_DATA) data = value;
  });
  if (link.kind === "vxlan" && data !== undefined) link.vxlan = readVxlan(data);
}

function readVxlan(body: Span): Vxlan {
  const vxlan: { -readonly [key in keyof Vxlan]: Vxlan[key] } = { id: 0 };
  body.attributes((type, value) => {
    if (type === vx.IFLA_VXLAN_ID) vxlan.id = value.u32();
    else if (type === vx.IFLA_VXLAN_LINK) vxlan.parent = value.u32();
    else if (type === vx.IFLA_VXLAN_LOCAL || type === vx.IFLA_VXLAN_LOCAL6) vxlan.local = ipText(value.borrow());
    else if (type === vx.IFLA_VXLAN_GROUP || type === vx.IFLA_VXLAN_GROUP6) vxlan.remote = ipText(value.borrow());
    else if (type === vx.IFLA_VXLAN_PORT) vxlan.port = value.u16Network();
    else if (type === vx.IFLA_VXLAN_TTL) vxlan.ttl = value.u8();
    else if (type === vx.IFLA_VXLAN_LEARNING) vxlan.learning = value.u8() !== 0;
    else if (type === vx.IFLA_VXLAN_UDP_CSUM) vxlan.udpChecksum = value.u8() !== 0;
    else if (type === vx.IFLA_VXLAN_UDP_ZERO_CSUM6_TX) vxlan.zeroChecksum6Tx = value.u8() !== 0;
    else if (type === vx.IFLA_VXLAN_UDP_ZERO_CSUM6_RX) vxlan.zeroChecksum6Rx = value.u8() !== 0;
  });
  return vxlan;
}

/** The kernel's own rule: at most 15 bytes, no slash, colon or white space, not a dot or two. */
function checkedLinkName(name: string): string {
  const bytes = new TextEncoder().encode(name).length;
  if (bytes >= 1 && bytes <= 15 && !/[/:\s\0]/.test(name) && name !== "." && name !== "..") return name;
  throw badLink(
    `${JSON.stringify(name)} is not a name for a network interface`,
    "Use 1 to 15 characters without slash, colon or white space",
  );
}

function badLink(problem: string, next: string): CattailError {
  return new CattailError("NETLINK_VALUE", { problem, next });
}
