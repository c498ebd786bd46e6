// What an audit can find: a row for each code, with what it means and how long it must have been seen before it is mended. A finding
// names the very thing, says it in words, and has the command that mends it.
import type { AddressRange } from "../../../base/lib/index.ts";
import type { Owner } from "../affinity.ts";
import type { Block } from "../block.ts";
import type { Ref, Versioned } from "../steps/step.ts";
import type { HeldFor } from "./allocations.ts";

/**
 * How sure one must be before a write, since others work at the same time:
 *   none        every program does the same when it meets it
 *   unfinished  it may be somebody's work in progress: seen unchanged for longer than any request may take
 *   leak        an address that may yet turn out to be used: for as long as the original's controllers wait
 */
export type Patience = "none" | "unfinished" | "leak";

export const findingCodes = {
  BLOCK_UNREADABLE: { patience: "none", means: "an object cannot be read, so nobody knows what it holds" },
  BLOCK_BROKEN: {
    patience: "none",
    means: "allocations, free addresses and attributes of a block do not fit together",
  },
  BLOCKS_OVERLAP: { patience: "none", means: "two blocks have an address in common, so it may be given twice" },
  BLOCK_OUTSIDE_POOLS: { patience: "unfinished", means: "a block is in no pool: its pool was deleted or changed" },
  DELETION_UNFINISHED: { patience: "none", means: "an object is marked as deleted and still there" },
  HANDLE_MISSING: {
    patience: "unfinished",
    means: "addresses are held that no handle counts: nobody's release finds them",
  },
  HANDLE_COUNTS_TOO_MUCH: { patience: "unfinished", means: "a handle counts more addresses than blocks hold for it" },
  CLAIM_UNFINISHED: { patience: "unfinished", means: "a block has an owner without a confirmed affinity" },
  AFFINITY_WITHOUT_BLOCK: { patience: "unfinished", means: "a node claims a block that does not exist" },
  AFFINITY_STALE: { patience: "unfinished", means: "a node claims a block that belongs to another, or to nobody" },
  NODE_GONE: { patience: "unfinished", means: "a block belongs to a node that does not exist" },
  ADDRESS_LEAKED: { patience: "leak", means: "an address is held and nobody uses it" },
  ADDRESS_UNKNOWN_HOLDER: {
    patience: "leak",
    means: "nobody is known to use an address, and its attributes do not say whose it is",
  },
  ADDRESS_TWICE: { patience: "none", means: "two pods, nodes or services use one address" },
  ADDRESS_OF_ANOTHER: { patience: "none", means: "an address is used by somebody other than its holder" },
  ADDRESS_NOT_ALLOCATED: {
    patience: "none",
    means: "an address of a pool is used that is not allocated, so it may be given twice",
  },
  ADDRESS_OUTSIDE_POOLS: { patience: "none", means: "an address is used that is in no pool" },
} as const satisfies { readonly [code: string]: { readonly patience: Patience; readonly means: string } };

export type FindingCode = keyof typeof findingCodes;

export type Finding = {
  readonly code: FindingCode;
  /** The same in every audit, as long as it is the same thing and nobody has changed it. */
  readonly key: string;
  readonly says: string;
  /** What a person types to mend it. */
  readonly command: string;
  /** What `--fix` does. Undefined: nothing can be done safely. */
  readonly mend: Mend | undefined;
  /** Since when it is so, where the data says it; undefined: since it was first seen. */
  readonly sinceNs?: bigint;
};

export type Mend =
  /** The block as it was read; only that very revision is written over. */
  | { readonly is: "block"; readonly block: Versioned<Block> }
  | { readonly is: "deletion"; readonly ref: Ref }
  | {
      readonly is: "address";
      readonly address: AddressRange;
      readonly block: string;
      readonly handle: string | undefined;
      readonly sequenceNumber: bigint;
      readonly heldFor: HeldFor;
    }
  /** Undefined: there was none. */
  | {
      readonly is: "handle";
      readonly id: string;
      readonly revision: string | undefined;
      readonly blocks: readonly string[];
    }
  | { readonly is: "claim"; readonly owner: Owner; readonly cidr: string }
  | { readonly is: "affinity"; readonly owner: Owner; readonly cidr: string; readonly revision: string }
  | {
      readonly is: "orphan";
      readonly owner: Owner | undefined;
      readonly cidr: string;
      readonly because: "node gone" | "no pool";
    };

export const fixCommand = "cattail ctl ipam check --fix";

export function releaseCommand(address: string): string {
  return `cattail ctl ipam release --ip=${address}`;
}
