// What an audit looks at: everything that was read, at one time, of blocks, affinities, handles and pools, and who uses which
// address. Blocks are read without the checks that every other reader makes: a broken one is what the audit is for.
import { parseRange, sizeOf } from "../../../base/lib/index.ts";
import type { IpamBlockSpec } from "../../kinds/index.ts";
import type { Affinity } from "../affinity.ts";
import { type Block, blockAsStored, mostAddresses } from "../block.ts";
import type { Handle } from "../handle.ts";
import type { Pool } from "../pools.ts";
import type { Versioned } from "../steps/step.ts";
import type { AddressUse, StartingPod } from "./uses.ts";

export type Audited = {
  readonly blocks: readonly Versioned<Block>[];
  /** What cannot even be read loosely; the name is the object's. */
  readonly unreadable: readonly Unreadable[];
  readonly affinities: readonly Versioned<Affinity>[];
  readonly handles: readonly Versioned<Handle>[];
  readonly pools: readonly Pool[];
  /** All of them: an address whose user is left out counts as leaked. */
  readonly uses: readonly AddressUse[];
  /** Pods that exist and do not say yet which addresses they have. */
  readonly starting: readonly StartingPod[];
  /** The names of all nodes that exist. */
  readonly nodes: readonly string[];
  readonly nowNs: bigint;
};

export type Unreadable = { readonly kind: string; readonly name: string; readonly why: string };

export type LooseBlock =
  | { readonly is: "block"; readonly block: Block }
  | { readonly is: "unreadable"; readonly why: string };

/** Whatever is wrong inside stays as it is. A block that is no range of a possible size cannot be looked into: nothing large is built from a broken one. */
export function readLoosely(spec: IpamBlockSpec): LooseBlock {
  const range = parseRange(spec.cidr ?? "");
  if (range === undefined) return { is: "unreadable", why: `spec.cidr ${JSON.stringify(spec.cidr ?? "")} is no CIDR` };
  if (sizeOf(range) > mostAddresses) {
    return { is: "unreadable", why: `spec.cidr ${spec.cidr} has more than ${mostAddresses} addresses` };
  }
  return { is: "block", block: blockAsStored(range, spec) };
}
