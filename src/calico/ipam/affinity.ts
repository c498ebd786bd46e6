// An affinity is the claim of an owner on a block, in an object of its own. It says `pending` before the block is made and
// `confirmed` after, and `pendingDeletion` before the block goes: whoever crashes in between leaves a claim that the next one can
// finish. steps/claim.ts has the order of writes.

/** A node, or the one virtual owner that services have. */
export type Owner = { readonly type: "host" | "virtual"; readonly name: string };
export type AffinityState = "pending" | "confirmed" | "pendingDeletion";
export type Affinity = {
  readonly owner: Owner;
  readonly cidr: string;
  readonly state: AffinityState;
  readonly isDeleted: boolean;
};

/** What is stored of it, as the kind's schema has it. */
export type AffinitySpec = {
  readonly state?: string | undefined;
  readonly node?: string | undefined;
  readonly type?: string | undefined;
  readonly cidr?: string | undefined;
  readonly deleted?: boolean | undefined;
};

/** Old data has no state and no type: it is a node's, and confirmed. A state that nobody knows is not relied on. */
export function readAffinity({ state = "", node = "", type = "", cidr = "", deleted = false }: AffinitySpec): Affinity {
  const known = state === "" ? "confirmed" : state;
  return {
    owner: { type: type === "virtual" ? "virtual" : "host", name: node },
    cidr,
    state: known === "confirmed" || known === "pendingDeletion" ? known : "pending",
    isDeleted: deleted,
  };
}

export function affinitySpec({ state, owner, cidr, isDeleted }: Affinity) {
  return { state, node: owner.name, type: owner.type, cidr, deleted: isDeleted };
}

/** As blocks name it. */
export function ownerText({ type, name }: Owner): string {
  return `${type}:${name}`;
}

/** Undefined: a block says something else, or nothing. */
export function parseOwner(text: string | undefined): Owner | undefined {
  const [, type, name = ""] = /^(host|virtual):(.+)$/s.exec(text ?? "") ?? [];
  return type === "host" || type === "virtual" ? { type, name } : undefined;
}
