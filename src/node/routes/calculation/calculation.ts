// The felix data set, key by key, becomes what this node's routes should be. Incremental: what a key changes is found by who claims which
// destination, and only those destinations are asked for again. calculation.test.ts holds it equal to asking for all of them.
import { type AddressRange, type Family, parseRange, rangeText } from "../../../base/lib/index.ts";
import {
  type BlockFacts,
  blockOfPath,
  isEncapsulated,
  type NodeFacts,
  nodeOfPath,
  type PoolFacts,
  poolOf,
  poolOfPath,
  readBlock,
  readNode,
  readPool,
  sameNode,
} from "../../../calico/routing/index.ts";
import { type Resolved, sameResolved } from "./desired.ts";
import { type Claim, programmerOf, resolve, type Ways, type World } from "./resolve.ts";
import { type IpipWanted, type TunnelWanted, tunnelOf } from "./tunnel.ts";
import { readWorkload, type WorkloadFacts, workloadPrefix } from "./workloads.ts";

type Entry = {
  readonly range: AddressRange;
  /** By the block that makes them. */
  readonly claims: Map<string, Claim>;
  /** Interfaces, by the key of the endpoint. */
  readonly workloads: Map<string, string>;
};

export type CalculationChanges = {
  /** The destinations of which something else is said now, with what was said before. */
  readonly destinations: ReadonlyMap<string, Resolved | undefined>;
  /** Whether a tunnel or its far ends may be others. */
  readonly areTunnelsDirty: boolean;
  /** Whether an interface's endpoint came, went or changed. */
  readonly areWorkloadsDirty: boolean;
};

export class RouteCalculation {
  readonly #own: string;
  readonly #workloadPrefix: string;
  #ways: Ways;
  readonly #nodes = new Map<string, NodeFacts>();
  readonly #pools = new Map<string, PoolFacts>();
  readonly #blocks = new Map<string, BlockFacts>();
  readonly #workloads = new Map<string, WorkloadFacts>();
  #byInterface: ReadonlyMap<string, WorkloadFacts> | undefined;
  readonly #entries = new Map<string, Entry>();
  readonly #byNode = new Map<string, Set<string>>();
  readonly #resolved = new Map<string, Resolved>();
  #dirty = new Set<string>();
  #isAllDirty = false;
  #areTunnelsDirty = true;
  #areWorkloadsDirty = true;

  constructor(own: string, ways: Ways) {
    this.#own = own;
    this.#ways = ways;
    this.#workloadPrefix = workloadPrefix(own);
  }

  /** What holds now, by destination; after take(). */
  get resolved(): ReadonlyMap<string, Resolved> {
    return this.#resolved;
  }

  /** Whether take() may have something to say. */
  get isDirty(): boolean {
    return this.#isAllDirty || this.#areTunnelsDirty || this.#areWorkloadsDirty || this.#dirty.size > 0;
  }

  get ownNode(): NodeFacts | undefined {
    return this.#nodes.get(this.#own);
  }

  nodeNamed(name: string): NodeFacts | undefined {
    return this.#nodes.get(name);
  }

  /** The local endpoints, by their interface. */
  workloads(): ReadonlyMap<string, WorkloadFacts> {
    this.#byInterface ??= this.#findByInterface();
    return this.#byInterface;
  }

  /** `unknown`: some pool needs it, but this node has no address for it (now): what is there stays. */
  tunnel(family: Family): TunnelWanted | "unneeded" | "unknown" {
    const { vxlan, families } = this.#ways;
    if (!families.includes(family) || vxlan === false) return "unneeded";
    if (vxlan !== true && !isEncapsulated(this.#pools.values(), "vxlan", family)) return "unneeded";
    return tunnelOf(family, this.#own, this.#nodes) ?? "unknown";
  }

  /** The device is this node's to make, whoever writes the routes through it. */
  ipip(): IpipWanted | "unneeded" {
    const isWanted = this.#ways.ipip ?? this.hasPools("ipip", 4);
    if (!isWanted || !this.#ways.families.includes(4)) return "unneeded";
    return { address: this.ownNode?.[4]?.ipipTunnel };
  }

  /** Whether some pool has the address: it is nobody's else, then. */
  isInPool(address: string): boolean {
    const range = parseRange(address);
    return range !== undefined && poolOf(this.#pools.values(), range) !== undefined;
  }

  /** Whether the pool of that network is one whose routes this node's agent writes. */
  writesTo(destination: string): boolean {
    const range = parseRange(destination);
    if (range === undefined || !this.#ways.families.includes(range.family)) return false;
    const pool = poolOf(this.#pools.values(), range);
    return pool !== undefined && programmerOf(pool, this.#ways) === "us";
  }

  hasPools(way: "vxlan" | "ipip", family: Family): boolean {
    return isEncapsulated(this.#pools.values(), way, family);
  }

  configure(ways: Ways): void {
    if (JSON.stringify(ways) === JSON.stringify(this.#ways)) return;
    this.#ways = ways;
    this.#isAllDirty = true;
    this.#areTunnelsDirty = true;
  }

  set(path: string, value: string): void {
    this.#change(path, value);
  }

  delete(path: string): void {
    this.#change(path, undefined);
  }

  /** What has become different since the last time. */
  take(): CalculationChanges {
    const world: World = {
      own: this.#own,
      nodes: this.#nodes,
      pools: [...this.#pools.values()],
      ways: this.#ways,
    };
    const destinations = new Map<string, Resolved | undefined>();
    for (const destination of this.#isAllDirty ? this.#everything() : this.#dirty) {
      const entry = this.#entries.get(destination);
      const now = entry === undefined ? undefined : resolve(destinationOf(entry), world);
      const before = this.#resolved.get(destination);
      if (sameResolved(before, now)) continue;
      destinations.set(destination, before);
      if (now === undefined) this.#resolved.delete(destination);
      else this.#resolved.set(destination, now);
    }
    const changes = {
      destinations,
      areTunnelsDirty: this.#areTunnelsDirty,
      areWorkloadsDirty: this.#areWorkloadsDirty,
    };
    this.#dirty = new Set();
    this.#isAllDirty = false;
    this.#areTunnelsDirty = false;
    this.#areWorkloadsDirty = false;
    return changes;
  }

  /** Undefined: deleted. */
  #change(path: string, value: string | undefined): void {
    const given = () => (value === undefined ? undefined : read(value));
    if (path.startsWith(this.#workloadPrefix)) {
      this.#setWorkload(path, readWorkload(given()));
      return;
    }
    const node = nodeOfPath(path);
    const pool = node === undefined ? poolOfPath(path) : undefined;
    const block = node === undefined && pool === undefined ? blockOfPath(path) : undefined;
    if (node !== undefined) this.#setNode(node, readNode(node, given()));
    else if (pool !== undefined) this.#setPool(pool, readPool(given()));
    else if (block !== undefined) this.#setBlock(block, readBlock(given()));
  }

  #findByInterface(): ReadonlyMap<string, WorkloadFacts> {
    const found = new Map<string, WorkloadFacts>();
    for (const path of [...this.#workloads.keys()].sort()) {
      const workload = this.#workloads.get(path);
      if (workload !== undefined && !found.has(workload.interfaceName)) found.set(workload.interfaceName, workload);
    }
    return found;
  }

  #everything(): Set<string> {
    return new Set([...this.#entries.keys(), ...this.#dirty]);
  }

  #setNode(name: string, facts: NodeFacts | undefined): void {
    if (sameNode(this.#nodes.get(name), facts)) return;
    if (facts === undefined) this.#nodes.delete(name);
    else this.#nodes.set(name, facts);
    this.#areTunnelsDirty = true;
    if (name === this.#own) this.#isAllDirty = true;
    else for (const destination of this.#byNode.get(name) ?? []) this.#dirty.add(destination);
  }

  #setPool(name: string, facts: PoolFacts | undefined): void {
    if (facts === undefined) this.#pools.delete(name);
    else this.#pools.set(name, facts);
    this.#isAllDirty = true;
    this.#areTunnelsDirty = true;
  }

  #setBlock(name: string, facts: BlockFacts | undefined): void {
    const before = claimsOf(this.#blocks.get(name));
    const after = claimsOf(facts);
    if (facts === undefined) this.#blocks.delete(name);
    else this.#blocks.set(name, facts);
    for (const [destination, claim] of before) {
      const now = after.get(destination);
      if (now !== undefined && now.claim.node === claim.claim.node && now.claim.is === claim.claim.is) continue;
      this.#entries.get(destination)?.claims.delete(name);
      if (!this.#hasClaimOf(destination, claim.claim.node)) {
        const others = this.#byNode.get(claim.claim.node);
        others?.delete(destination);
        if (others?.size === 0) this.#byNode.delete(claim.claim.node);
      }
      this.#touch(destination);
    }
    for (const [destination, { range, claim }] of after) {
      const known = before.get(destination)?.claim;
      if (known !== undefined && known.node === claim.node && known.is === claim.is) continue;
      this.#entryOf(destination, range).claims.set(name, claim);
      const of = this.#byNode.get(claim.node) ?? new Set();
      this.#byNode.set(claim.node, of.add(destination));
      this.#touch(destination);
    }
  }

  #hasClaimOf(destination: string, node: string): boolean {
    for (const claim of this.#entries.get(destination)?.claims.values() ?? []) if (claim.node === node) return true;
    return false;
  }

  #setWorkload(path: string, facts: WorkloadFacts | undefined): void {
    const before = this.#workloads.get(path);
    if (before === undefined && facts === undefined) return;
    if (facts === undefined) this.#workloads.delete(path);
    else this.#workloads.set(path, facts);
    this.#areWorkloadsDirty = true;
    this.#byInterface = undefined;
    for (const range of before?.ranges ?? []) {
      const destination = rangeText(range);
      this.#entries.get(destination)?.workloads.delete(path);
      this.#touch(destination);
    }
    for (const range of facts?.ranges ?? []) {
      const destination = rangeText(range);
      this.#entryOf(destination, range).workloads.set(path, facts?.interfaceName ?? "");
      this.#touch(destination);
    }
  }

  #entryOf(destination: string, range: AddressRange): Entry {
    const known = this.#entries.get(destination);
    if (known !== undefined) return known;
    const entry: Entry = { range, claims: new Map(), workloads: new Map() };
    this.#entries.set(destination, entry);
    return entry;
  }

  #touch(destination: string): void {
    this.#dirty.add(destination);
    const entry = this.#entries.get(destination);
    if (entry?.claims.size === 0 && entry.workloads.size === 0) this.#entries.delete(destination);
  }
}

/** Of several that claim one address the first by name has it: it does not matter which, as long as it is the same one every time. */
function destinationOf({ range, claims, workloads }: Entry) {
  return { range, claim: firstByKey(claims), workload: firstByKey(workloads) };
}

function firstByKey<T>(map: ReadonlyMap<string, T>): T | undefined {
  if (map.size <= 1) return map.values().next().value;
  return map.get([...map.keys()].sort()[0] ?? "");
}

function claimsOf(block: BlockFacts | undefined): Map<string, { range: AddressRange; claim: Claim }> {
  const claims = new Map<string, { range: AddressRange; claim: Claim }>();
  if (block === undefined) return claims;
  for (const { address, node } of block.borrowed) {
    const range = parseRange(address);
    if (range !== undefined) claims.set(rangeText(range), { range, claim: { is: "borrowed", node } });
  }
  // After them: a block of one address is its owner's, whatever is said of the address.
  if (block.owner !== undefined) {
    claims.set(rangeText(block.range), { range: block.range, claim: { is: "block", node: block.owner } });
  }
  return claims;
}

function read(value: string): unknown {
  try {
    return JSON.parse(value); // sequence numbers beyond 2^53 lose their last digits here, and nobody looks at them
  } catch {
    return undefined; // what makes no sense is as if it were not there, as the original has it
  }
}
