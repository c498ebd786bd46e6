// IPAM's records in what export prints and import reads: each with its key in etcd, and its value as etcd holds it.
//
//   { "block_affinities": [{"Key": "/calico/ipam/v2/host/n1/ipv4/block/10.0.0.0-26", "Value": {"state": "confirmed"}, "TTL": 0}],
//     "blocks": […], "handles": […], "config": {…} }                                              what is empty is left out
import { isRecord, type JsonRecord } from "../../../base/lib/index.ts";
import type { Datastore } from "../../../calico/datastore/index.ts";
import {
  type AllocationBlock,
  allocationBlock,
  type Kind,
  kindInfo,
  v1BlockAffinity,
  v1IpamConfig,
  v1IpamHandle,
} from "../../../calico/kinds/index.ts";
import { cleanJson, FieldError, readSchema, type Schema, writeGoString } from "../../../calico/model/index.ts";
import { CtlError } from "../console.ts";
import type { NodeNames } from "./renamed-nodes.ts";

const ipamRecordKinds = ["BlockAffinity", "IPAMBlock", "IPAMHandle", "IPAMConfig"] as const satisfies Kind[];
export type IpamRecordKind = (typeof ipamRecordKinds)[number];

export const memberOf = {
  BlockAffinity: "block_affinities",
  IPAMBlock: "blocks",
  IPAMHandle: "handles",
  IPAMConfig: "config",
} as const;

const schemas = {
  BlockAffinity: v1BlockAffinity,
  IPAMBlock: allocationBlock,
  IPAMHandle: v1IpamHandle,
  IPAMConfig: v1IpamConfig,
} as const;

/** An object's name below its kind's prefix, and its value as JSON in Go's order. */
export type IpamRecord = { readonly kind: IpamRecordKind; readonly name: string; readonly value: string };

/** The key in etcd, by which the original finds a record again. */
export function keyOf({ kind, name }: Pick<IpamRecord, "kind" | "name">): string {
  const { etcdKey, etcdPrefix = "" } = kindInfo(kind);
  return etcdKey ?? `${etcdPrefix}${name}`;
}

/** Of an etcd. Throws CtlError for what cannot be read: an export that lacks something is none. */
export async function readIpamRecords(
  datastore: Datastore,
  names: NodeNames,
  signal: AbortSignal,
): Promise<readonly IpamRecord[]> {
  const records: IpamRecord[] = [];
  for (const kind of ipamRecordKinds) {
    for await (const { items } of datastore.list(kind, { signal })) {
      for (const { id, value, problem } of items) {
        if (problem !== undefined) throw unreadable(kind, id.name, problem);
        records.push(renamed(kind, id.name, value, names));
      }
    }
  }
  return records;
}

function renamed(kind: IpamRecordKind, name: string, value: unknown, names: NodeNames): IpamRecord {
  try {
    switch (kind) {
      case "BlockAffinity": {
        const [node = "", ...rest] = name.split("/");
        // A value of no bytes is an affinity without a state.
        const said = value === undefined || value === null || value === "" ? {} : value;
        return { kind, name: [names.get(node) ?? node, ...rest].join("/"), value: written(schemas[kind], said) };
      }
      case "IPAMBlock": {
        const block = readSchema(allocationBlock, cleanJson(value), "");
        return { kind, name, value: allocationBlock.go.write(renamedBlock(block, names)) };
      }
      case "IPAMHandle":
        return { kind, name: renamedHandle(name, names), value: written(schemas[kind], value) };
      case "IPAMConfig":
        return { kind, name, value: written(schemas[kind], value) };
    }
  } catch (error) {
    if (error instanceof FieldError) throw unreadable(kind, name, error.message);
    throw error;
  }
}

function written<T>(schema: Schema<T>, value: unknown): string {
  return schema.go.write(readSchema(schema, cleanJson(value), ""));
}

function unreadable(kind: Kind, name: string, problem: string): CtlError {
  return new CtlError(`${kind} ${name} cannot be read, so that nothing can be exported: ${problem}`);
}

/** Addresses of tunnels are held under the name of their node. */
const tunnelHandle = /^(ipip|vxlan|wireguard)-tunnel-addr-(.+)$/;

function renamedHandle(handle: string, names: NodeNames): string {
  const [, tunnel, node = ""] = tunnelHandle.exec(handle) ?? [];
  const name = names.get(node);
  return tunnel === undefined || name === undefined ? handle : `${tunnel}-tunnel-addr-${name}`;
}

function renamedBlock(block: AllocationBlock, names: NodeNames): AllocationBlock {
  const owner = (attributes: { readonly [name: string]: string } | undefined) => {
    const node = attributes?.node === undefined ? undefined : names.get(attributes.node);
    return node === undefined ? attributes : { ...attributes, node };
  };
  const host = block.affinity?.startsWith("host:") ? names.get(block.affinity.slice("host:".length)) : undefined;
  return {
    ...block,
    affinity: host === undefined ? block.affinity : `host:${host}`,
    attributes: block.attributes?.map((attribute) => ({
      ...attribute,
      handle_id: attribute.handle_id === undefined ? undefined : renamedHandle(attribute.handle_id, names),
      secondary: owner(attribute.secondary),
      alternateOwnerAttrs: owner(attribute.alternateOwnerAttrs),
    })),
  };
}

/** One line of JSON. */
export function writeIpamRecords(records: readonly IpamRecord[]): string {
  const pair = (record: IpamRecord) => `{"Key":${writeGoString(keyOf(record))},"Value":${record.value},"TTL":0}`;
  const members = ipamRecordKinds.flatMap((kind) => {
    const pairs = records.filter((record) => record.kind === kind).map(pair);
    if (pairs.length === 0) return [];
    return [`"${memberOf[kind]}":${kind === "IPAMConfig" ? pairs[0] : `[${pairs.join(",")}]`}`];
  });
  return `{${members.join(",")}}`;
}

/** What an export has of IPAM. Throws FieldError for what is no such thing. */
export function parseIpamRecords(
  json: unknown,
): { readonly kind: IpamRecordKind; readonly name: string; readonly value: JsonRecord }[] {
  if (!isRecord(json)) throw new FieldError("", "must be an object");
  return ipamRecordKinds.flatMap((kind) => {
    const member = json[memberOf[kind]];
    if (member === undefined || member === null) return [];
    const pairs: unknown[] = kind === "IPAMConfig" ? [member] : Array.isArray(member) ? member : [undefined];
    return pairs.map((pair, at) => {
      const field = `${memberOf[kind]}[${at}]`;
      if (!isRecord(pair)) throw new FieldError(field, "must be an object with Key and Value");
      const { Key: key, Value: value } = pair;
      const { etcdPrefix = "", etcdKey } = kindInfo(kind);
      if (typeof key !== "string" || !key.startsWith(etcdKey ?? etcdPrefix)) {
        throw new FieldError(`${field}.Key`, `must begin with ${etcdKey ?? etcdPrefix}`);
      }
      if (!isRecord(value)) throw new FieldError(`${field}.Value`, "must be an object");
      return { kind, name: etcdKey === undefined ? key.slice(etcdPrefix.length) : "default", value };
    });
  });
}
