// Blocks and affinities: an owned block has its owner's affinity, confirmed, and no other; an affinity has its block; the owner is a
// node that exists; what is marked as deleted is gone; a block is in a pool.
import { rangeText } from "../../../base/lib/index.ts";
import { type Affinity, type Owner, ownerText, parseOwner } from "../affinity.ts";
import { type Block, cidrOf, isEmpty } from "../block.ts";
import { poolOf } from "../pools.ts";
import type { Ref, Versioned } from "../steps/step.ts";
import { type Finding, fixCommand } from "./finding.ts";
import type { Audited } from "./stored.ts";

export function checkClaims({ blocks, affinities, handles, nodes, pools }: Audited): Finding[] {
  const live = affinities.filter(({ value }) => !value.isDeleted);
  const byCidr = Map.groupBy(live, ({ value }) => value.cidr);
  const existing = new Set(nodes);
  const ranges = new Map(blocks.map((block) => [cidrOf(block.value), block]));
  return [
    ...blocks.flatMap(({ value }) => marked(value.isDeleted, { kind: "block", cidr: cidrOf(value) })),
    ...affinities.flatMap(({ value: { isDeleted, owner, cidr } }) =>
      marked(isDeleted, { kind: "affinity", owner, cidr }),
    ),
    ...handles.flatMap(({ value }) => marked(value.isDeleted, { kind: "handle", id: value.id })),
    ...blocks
      .filter(({ value }) => !value.isDeleted)
      .flatMap((block) => {
        const owner = parseOwner(block.value.owner);
        const own = byCidr.get(cidrOf(block.value)) ?? [];
        if (owner?.type === "host" && !existing.has(owner.name)) return [nodeGone(block, owner)];
        const findings = owner === undefined ? [] : unfinished(block, owner, own);
        return poolOf(pools, block.value.range, "any") === undefined
          ? [...findings, outsidePools(block, owner)]
          : findings;
      }),
    ...live.flatMap((affinity) => affinityFindings(affinity, ranges.get(affinity.value.cidr), existing)),
  ];
}

function marked(isMarked: boolean, ref: Ref): Finding[] {
  if (!isMarked) return [];
  const name = ref.kind === "handle" ? ref.id : ref.kind === "block" ? ref.cidr : `${ownerText(ref.owner)} ${ref.cidr}`;
  return [
    {
      code: "DELETION_UNFINISHED",
      key: `DELETION_UNFINISHED ${ref.kind} ${name}`,
      says: `${ref.kind} ${name} is marked as deleted, and nobody has finished its deletion`,
      command: fixCommand,
      mend: { is: "deletion", ref },
    },
  ];
}

function nodeGone(block: Versioned<Block>, owner: Owner): Finding {
  const cidr = cidrOf(block.value);
  const held = isEmpty(block.value) ? "nothing is held in it" : "addresses are held in it";
  return {
    code: "NODE_GONE",
    key: `NODE_GONE ${owner.name} ${cidr}`,
    says: `block ${cidr} belongs to node ${owner.name}, which does not exist; ${held}`,
    command: fixCommand,
    mend: { is: "orphan", owner, cidr, because: "node gone" },
  };
}

function unfinished({ value }: Versioned<Block>, owner: Owner, affinities: readonly Versioned<Affinity>[]): Finding[] {
  const own = affinities.find((affinity) => ownerText(affinity.value.owner) === ownerText(owner));
  if (own?.value.state === "confirmed") return [];
  const cidr = cidrOf(value);
  const seen = own === undefined ? "which has no affinity to it" : `whose affinity is ${own.value.state}`;
  return [
    {
      code: "CLAIM_UNFINISHED",
      key: `CLAIM_UNFINISHED ${ownerText(owner)} ${cidr} ${own?.revision ?? ""}`,
      says: `block ${cidr} belongs to ${ownerText(owner)}, ${seen}`,
      command: fixCommand,
      mend: { is: "claim", owner, cidr },
    },
  ];
}

function outsidePools({ value, revision }: Versioned<Block>, owner: Owner | undefined): Finding {
  const cidr = cidrOf(value);
  const isFree = isEmpty(value);
  return {
    code: "BLOCK_OUTSIDE_POOLS",
    key: `BLOCK_OUTSIDE_POOLS ${cidr} ${revision}`,
    says: `block ${cidr} is in no pool; ${isFree ? "nothing is held in it" : "its addresses stay with their pods"}`,
    command: isFree ? fixCommand : `restart the pods that have addresses of ${cidr}, or make a pool around it`,
    mend: isFree ? { is: "orphan", owner, cidr, because: "no pool" } : undefined,
  };
}

function affinityFindings(
  { value: { owner, cidr, state }, revision }: Versioned<Affinity>,
  block: Versioned<Block> | undefined,
  nodes: ReadonlySet<string>,
): Finding[] {
  const claim = { owner, cidr, revision };
  if (block === undefined || block.value.isDeleted) {
    const why = owner.type === "host" && !nodes.has(owner.name) ? ", and the node does not exist" : "";
    return [
      {
        code: "AFFINITY_WITHOUT_BLOCK",
        key: `AFFINITY_WITHOUT_BLOCK ${ownerText(owner)} ${cidr} ${revision}`,
        says: `${ownerText(owner)} claims block ${cidr} (${state}), which does not exist${why}`,
        command: fixCommand,
        mend: { is: "affinity", ...claim },
      },
    ];
  }
  if (block.value.owner === ownerText(owner)) return [];
  return [
    {
      code: "AFFINITY_STALE",
      key: `AFFINITY_STALE ${ownerText(owner)} ${cidr} ${revision}`,
      says: `${ownerText(owner)} claims block ${rangeText(block.value.range)} (${state}), which belongs to ${block.value.owner ?? "nobody"}`,
      command: fixCommand,
      mend: { is: "affinity", ...claim },
    },
  ];
}
