// One destination, and what becomes of it. Pure: everything it depends on is an argument, so that the incremental calculation and whoever
// checks it ask the same question.
//
//   a local workload has it ─▶ its interface
//   block or borrowed address ─▶ the smallest pool around it: none ─▶ no route
//        our own block ─▶ blackhole       another node's ─▶ plain: by its address    VXLAN, IP in IP: same subnet, tunnel
import { type AddressRange, addressText, bitsOf, type Family } from "../../../base/lib/index.ts";
import {
  type FamilyFacts,
  type NodeFacts,
  type PoolFacts,
  poolOf,
  sameSubnet,
  tunnelEndOf,
} from "../../../calico/routing/index.ts";
import type { Resolved } from "./desired.ts";

/** `others`: neither we nor BIRD, and nobody waits for it. */
export type Programmer = "us" | "bird" | "others";

export type Ways = {
  /** Who writes the routes of pools without encapsulation. */
  readonly plain: Programmer;
  /** Undefined: as the pools say. */
  readonly vxlan: boolean | undefined;
  readonly ipip: boolean | undefined;
  /** Who writes the routes of pools with IP in IP. */
  readonly ipipBy: Programmer;
  readonly families: readonly Family[];
};

/** Where an address comes from: a block, or a single address that another node has of it. */
export type Claim = { readonly is: "block" | "borrowed"; readonly node: string };

export type World = {
  readonly own: string;
  readonly nodes: ReadonlyMap<string, NodeFacts>;
  readonly pools: readonly PoolFacts[];
  readonly ways: Ways;
};

export type Destination = {
  readonly range: AddressRange;
  readonly claim: Claim | undefined;
  /** The interface of the local workload that has it. */
  readonly workload: string | undefined;
};

export function resolve(destination: Destination, world: World): Resolved | undefined {
  const { range, claim, workload } = destination;
  const { family } = range;
  if (!world.ways.families.includes(family)) return undefined;
  if (workload !== undefined) {
    return { is: "route", family, way: { is: "workload", interfaceName: workload }, node: world.own };
  }
  if (claim === undefined) return undefined;
  const pool = poolOf(world.pools, range);
  const by = pool === undefined ? "others" : programmerOf(pool, world.ways);
  if (pool === undefined || by === "others") return undefined;
  if (claim.node === world.own) return by === "us" ? ownBlock(destination, claim, world.own) : undefined;
  if (by === "bird") {
    if (pool.isKeptFromBgp || claim.is === "borrowed") return undefined;
    return { is: "left to BGP", family, node: claim.node, address: world.nodes.get(claim.node)?.[family]?.address };
  }
  return toOtherNode(range, claim, pool, world);
}

export function programmerOf({ way }: PoolFacts, ways: Ways): Programmer {
  switch (way) {
    case "plain":
      return ways.plain;
    case "vxlan":
      return ways.vxlan === false ? "others" : "us";
    case "ipip":
      return ways.ipip === false ? "others" : ways.ipipBy;
    case "none":
      return "others";
  }
}

// A block of one address is none for a blackhole: the workload's own route would have to compete with it. A borrowed one that is ours and
// has no workload yet is being set up.
function ownBlock({ range }: Destination, claim: Claim, node: string): Resolved | undefined {
  if (claim.is === "borrowed" || isSingle(range)) return undefined;
  return { is: "route", family: range.family, way: { is: "blackhole" }, node };
}

function toOtherNode(range: AddressRange, claim: Claim, pool: PoolFacts, world: World): Resolved | undefined {
  const { family } = range;
  const { node } = claim;
  const ends = endsOf(family, node, world);
  if ("is" in ends) return ends;
  if (isAddress(range, ends.theirs.address)) return undefined; // a node's own address is reached as it is
  const gateway = ends.theirs.address;
  const isStraight = pool.way === "plain" || (pool.isCrossSubnet && sameSubnet(ends.ours, ends.theirs));
  if (isStraight) return { is: "route", family, way: { is: "direct", gateway }, node };
  // Nothing but the node's address is needed at the other end, and here not even an address in the tunnel.
  if (pool.way === "ipip") return { is: "route", family, way: { is: "ipip", gateway }, node };
  const theirs = tunnelEndOf(world.nodes.get(node), family);
  if (theirs === undefined) return lacking(`node ${node} has no VXLAN tunnel address`, "theirs", true);
  if (ends.ours.tunnel === undefined) return lacking("this node has no VXLAN tunnel address", "ours", true);
  const way = isAddress(range, theirs.tunnel)
    ? ({ is: "vxlan link" } as const)
    : ({ is: "vxlan", gateway: theirs.tunnel } as const);
  return { is: "route", family, way, node };
}

function endsOf(family: Family, node: string, world: World): { ours: FamilyFacts; theirs: FamilyFacts } | Resolved {
  const theirs = world.nodes.get(node)?.[family];
  if (theirs === undefined) return lacking(`node ${node} has no IPv${family} address`, "theirs");
  const ours = world.nodes.get(world.own)?.[family];
  if (ours === undefined) return lacking(`this node has no IPv${family} address`, "ours");
  return { ours, theirs };
}

/** A node gets its tunnel address a moment after a pool asks for one; an address of its own it has or has not. */
function lacking(why: string, lacks: "ours" | "theirs", isPassing = false): Resolved {
  return { is: "unroutable", why, lacks, isPassing };
}

function isSingle({ family, prefixLength }: AddressRange): boolean {
  return prefixLength === bitsOf(family);
}

function isAddress(range: AddressRange, address: string): boolean {
  return isSingle(range) && addressText(range.family, range.first) === address;
}
