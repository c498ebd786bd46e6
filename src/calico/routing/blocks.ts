// Whose a block is, and which of its addresses other nodes have borrowed.
import { type AddressRange, addressText, isRecord, type JsonRecord, parseRange } from "../../base/lib/index.ts";

export type BlockFacts = {
  readonly range: AddressRange;
  /** Undefined: no node's (any more); what is assigned in it still is somebody's. */
  readonly owner: string | undefined;
  /** Single addresses that are assigned on another node than the owner. */
  readonly borrowed: readonly { readonly address: string; readonly node: string }[];
};

const prefix = "/calico/ipam/v2/assignment/ipv";

/** The block's network as it stands in the key; undefined: the key is of something else. */
export function blockOfPath(path: string): string | undefined {
  if (!path.startsWith(prefix)) return undefined;
  const [, name] = /^[46]\/block\/([^/]+)$/.exec(path.slice(prefix.length)) ?? [];
  return name?.replace("-", "/");
}

/** Undefined: makes no sense. */
export function readBlock(value: unknown): BlockFacts | undefined {
  if (!isRecord(value) || typeof value.cidr !== "string") return undefined;
  const range = parseRange(value.cidr);
  if (range === undefined) return undefined;
  const owner = ownerOf(value);
  return { range, owner, borrowed: borrowedOf(value, range, owner) };
}

function ownerOf(block: JsonRecord): string | undefined {
  const { affinity, hostAffinity } = block;
  const [, owner] = /^(?:host|virtual):(.+)$/s.exec(typeof affinity === "string" ? affinity : "") ?? [];
  return owner ?? (typeof hostAffinity === "string" && hostAffinity !== "" ? hostAffinity : undefined);
}

function borrowedOf(block: JsonRecord, range: AddressRange, owner: string | undefined): BlockFacts["borrowed"] {
  const { allocations, attributes } = block;
  if (!Array.isArray(allocations) || !Array.isArray(attributes)) return [];
  const nodes = attributes.map(nodeOf);
  if (nodes.every((node) => node === undefined || node === owner)) return [];
  const found: { address: string; node: string }[] = [];
  for (const [i, at] of allocations.entries()) {
    const node = typeof at === "number" ? nodes[at] : undefined;
    if (node === undefined || node === owner) continue;
    found.push({ address: addressText(range.family, range.first + BigInt(i)), node });
  }
  return found;
}

function nodeOf(attributes: unknown): string | undefined {
  const secondary = isRecord(attributes) ? attributes.secondary : undefined;
  const node = isRecord(secondary) ? secondary.node : undefined;
  return typeof node === "string" && node !== "" ? node : undefined;
}
