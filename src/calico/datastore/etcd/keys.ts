// Which etcd key holds which object. A key's tail below its kind's prefix is the object's name; a key that does not fit
// its kind's pattern is somebody else's, and is passed over as Calico's own tools do.
import { isRecord, parseCidr } from "../../../base/lib/index.ts";
import { type Kind, kindInfo } from "../../kinds/index.ts";
import type { ObjectId, Within } from "../datastore.ts";
import { DatastoreError } from "../errors.ts";
import { neverHeld } from "../no-such-kind.ts";

export type KeyRange = { readonly key: Buffer; readonly rangeEnd: Buffer };

const block = /^ipv([46])\/block\/([^/]+)$/;
const affinity = /^[^/]+\/ipv([46])\/block\/([^/]+)$/;
// What old versions of Calico wrote above a node's affinities. It is no object: it is not listed, but whoever removes a node deletes it.
const nodeMark = /^[^/:]+$/;

// Affinities of services lie beside those of nodes, below another prefix. No node's name has a colon, so their ids begin with this word.
const virtualPrefix = "/calico/ipam/v2/virtual/";
const virtualWord = "virtual:";

function isVirtual(kind: Kind, name: string): boolean {
  return kind === "BlockAffinity" && name.startsWith(virtualWord);
}

const onlyId: ObjectId = { namespace: "", name: "default" };

/** Throws "no-such-kind" for a kind that is never in etcd. */
export function prefixOf(kind: Kind): string {
  const prefix = kindInfo(kind).etcdPrefix;
  if (prefix === undefined) throw neverHeld(kind, "etcdv3");
  return prefix;
}

/**
 * Every key below the kind's prefix that can be within, and where keys do not say it (labels; a name without its
 * namespace) some that are not: from the prefix up to the first text after all that start with it.
 */
export function keyRange(kind: Kind, { namespace, name = "", namePrefix = name }: Within = {}): KeyRange {
  const { etcdKey } = kindInfo(kind);
  if (etcdKey !== undefined) return { key: Buffer.from(etcdKey), rangeEnd: Buffer.from(`${etcdKey}\u0000`) };
  if (isVirtual(kind, namePrefix)) {
    const start = Buffer.from(virtualPrefix + namePrefix.slice(virtualWord.length));
    return { key: start, rangeEnd: afterAllWith(start) };
  }
  const prefix = prefixOf(kind);
  const { namespaced } = kindInfo(kind);
  const isNamed = namespace !== undefined && namespace !== "" && namespaced;
  const start = Buffer.from(`${prefix}${isNamed ? `${namespace}/` : ""}${isNamed || !namespaced ? namePrefix : ""}`);
  return { key: start, rangeEnd: afterAllWith(start) };
}

/** UTF-8 has no byte 255, so the last byte can always be counted up. */
function afterAllWith(prefix: Buffer): Buffer {
  const end = Buffer.from(prefix);
  end.writeUInt8(end.readUInt8(end.length - 1) + 1, end.length - 1);
  return end;
}

/** The id of the object that a key holds; undefined where the key is not one of the kind's. */
export function keyToId(kind: Kind, key: string): ObjectId | undefined {
  const { etcdKey } = kindInfo(kind);
  if (etcdKey !== undefined) return key === etcdKey ? onlyId : undefined;
  const isOfServices = kind === "BlockAffinity" && key.startsWith(virtualPrefix);
  const prefix = isOfServices ? virtualPrefix : prefixOf(kind);
  if (!key.startsWith(prefix)) return undefined;
  const tail = (isOfServices ? virtualWord : "") + key.slice(prefix.length);
  if (kind === "IPAMBlock" || kind === "BlockAffinity") {
    const [, version, cidr] = (kind === "IPAMBlock" ? block : affinity).exec(tail) ?? [];
    return cidr !== undefined && isCidrPart(cidr, version) ? { namespace: "", name: tail } : undefined;
  }
  const parts = tail.split("/");
  if (parts.includes("")) return undefined;
  const [first, second] = parts;
  if (kindInfo(kind).namespaced) {
    return parts.length === 2 && first !== undefined && second !== undefined
      ? { namespace: first, name: second }
      : undefined;
  }
  return parts.length === 1 && first !== undefined ? { namespace: "", name: first } : undefined;
}

export function idToKey(kind: Kind, id: ObjectId): string {
  const tail = kindInfo(kind).namespaced ? `${id.namespace}/${id.name}` : id.name;
  const { etcdKey } = kindInfo(kind);
  if (etcdKey !== undefined) {
    if (id.name === onlyId.name) return etcdKey;
    throw new DatastoreError("invalid", `${kind}: the only object there can be is called ${onlyId.name}`);
  }
  const key = isVirtual(kind, tail) ? virtualPrefix + tail.slice(virtualWord.length) : `${prefixOf(kind)}${tail}`;
  const isNodeMark = kind === "BlockAffinity" && nodeMark.test(tail);
  if (keyToId(kind, key) === undefined && !isNodeMark) {
    throw new DatastoreError("invalid", `${kind}: "${tail.slice(0, 80)}" cannot be part of an etcd key`);
  }
  return key;
}

/** A block's value says its CIDR, which is its name; undefined for a value that does not. */
export function blockId(value: unknown): ObjectId | undefined {
  const cidr = isRecord(value) && typeof value.cidr === "string" ? value.cidr : "";
  if (parseCidr(cidr) === undefined) return undefined;
  return { namespace: "", name: `ipv${cidr.includes(":") ? 6 : 4}/block/${cidr.replace("/", "-")}` };
}

function isCidrPart(text: string, version: string | undefined): boolean {
  const dash = text.lastIndexOf("-");
  const cidr = `${text.slice(0, Math.max(dash, 0))}/${text.slice(dash + 1)}`;
  return parseCidr(cidr) !== undefined && cidr.includes(":") === (version === "6");
}
