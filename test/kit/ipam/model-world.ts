// The world around the model: which pods exist, which addresses are in use at this moment, and the rules that hold after every single
// write. A write is checked when it happens, with what it can have broken; `problem` throws with the rule.
import { type AddressRange, addressText } from "../../../src/base/lib/index.ts";
import {
  type AddressUse,
  type Audited,
  type Block,
  blockFaults,
  cidrOf,
  type Handle,
  type Pool,
  type Question,
  type Reply,
} from "../../../src/calico/ipam/index.ts";
import { ModelStore, type Written } from "./model-store.ts";

/** `addresses` undefined: it has not said them yet. */
type Pod = { readonly node: string; readonly addresses: readonly string[] | undefined };
type Live = { readonly handle: string; readonly ordinal: number };

export class BrokenRule extends Error {
  constructor(says: string) {
    super(says);
    this.name = "BrokenRule";
  }
}

export class ModelWorld {
  readonly store = new ModelStore((written) => this.#check(written));
  readonly pods = new Map<string, Pod>();
  readonly nodes: Set<string>;
  readonly pools: readonly Pool[];
  /** Block -> what containers have at this moment. */
  readonly #live = new Map<string, Live[]>();
  checks = 0;

  constructor(pools: readonly Pool[], nodes: readonly string[]) {
    this.pools = pools;
    this.nodes = new Set(nodes);
  }

  /** A container has these addresses from now on. */
  give(handle: string, addresses: readonly { readonly address: AddressRange; readonly block: AddressRange }[]): void {
    for (const { address, block } of addresses) {
      const cidr = `${addressText(block.family, block.first)}/${block.prefixLength}`;
      const ordinal = Number(address.first - block.first);
      const live = this.#live.get(cidr) ?? [];
      const other = live.find((each) => each.ordinal === ordinal);
      if (other !== undefined) this.#broken(`${textOf(address)} was given to ${handle}, and ${other.handle} has it`);
      live.push({ handle, ordinal });
      this.#live.set(cidr, live);
      this.#checkLive(cidr);
    }
  }

  /** The container is gone, or is being taken down by whoever gives its addresses back. */
  takeBack(handle: string): void {
    for (const [cidr, live] of this.#live) {
      const rest = live.filter((each) => each.handle !== handle);
      if (rest.length === 0) this.#live.delete(cidr);
      else this.#live.set(cidr, rest);
    }
  }

  join(node: string): void {
    this.nodes.add(node);
  }

  liveCount(): number {
    let count = 0;
    for (const live of this.#live.values()) count += live.length;
    return count;
  }

  uses(): AddressUse[] {
    return [...this.pods].flatMap(([pod, { node, addresses = [] }]) =>
      addresses.map((address) => ({ address, user: userOf(pod, node) })),
    );
  }

  /** What an audit reads, all at one moment; whoever reads it bit by bit puts his own together. */
  audited(): Audited {
    return {
      blocks: this.store.blocks(),
      affinities: this.store.affinities(),
      handles: this.store.handles(),
      unreadable: [],
      pools: this.pools,
      uses: this.uses(),
      starting: this.starting(),
      nodes: [...this.nodes],
      nowNs: this.store.nowNs,
    };
  }

  starting() {
    return [...this.pods].flatMap(([pod, { addresses }]) =>
      addresses === undefined ? [{ namespace: "default", pod }] : [],
    );
  }

  reply(question: Question): Reply {
    if (question.do === "ask for node") return { is: "existence", exists: this.nodes.has(question.node) };
    const { heldFor, address } = question;
    const pod = heldFor.is === "pod" ? this.pods.get(heldFor.pod) : undefined;
    const users = this.uses().filter((use) => use.address === address);
    return { is: "users", users, isStarting: pod !== undefined && pod.addresses === undefined };
  }

  #check({ ref, before, after }: Written): void {
    this.checks += 1;
    if (ref.kind === "block") {
      if (after?.kind === "block") this.#checkBlock(after.value, before?.kind === "block" ? before.value : undefined);
      this.#checkLive(ref.cidr);
    } else if (ref.kind === "handle") {
      const handle = after?.kind === "handle" ? after.value : undefined;
      for (const { object } of this.store.entries.values()) {
        if (object.kind === "block") this.#checkCount(object.value, ref.id, handle);
      }
    }
  }

  #checkBlock(block: Block, before: Block | undefined): void {
    const [fault] = blockFaults(block);
    if (fault !== undefined) this.#broken(`block ${cidrOf(block)}: ${fault}`);
    if (before !== undefined && block.sequenceNumber <= before.sequenceNumber) {
      this.#broken(`block ${cidrOf(block)}: its number went from ${before.sequenceNumber} to ${block.sequenceNumber}`);
    }
    for (const { handle_id: id } of block.attributes) {
      if (id === undefined) continue;
      const found = this.store.entries.get(`handle ${id}`)?.object;
      this.#checkCount(block, id, found?.kind === "handle" ? found.value : undefined);
    }
  }

  /** No address without a handle that counts it. */
  #checkCount(block: Block, id: string, handle: Handle | undefined): void {
    let held = 0;
    for (const index of block.allocations) if (index !== null && block.attributes[index]?.handle_id === id) held += 1;
    if (held === 0) return;
    const counted = handle?.blocks.get(cidrOf(block)) ?? 0;
    if (counted < held) this.#broken(`handle ${id} counts ${counted} in ${cidrOf(block)}, which holds ${held}`);
  }

  /** What containers have is held for them. */
  #checkLive(cidr: string): void {
    const live = this.#live.get(cidr);
    if (live === undefined) return;
    const found = this.store.entries.get(`block ${cidr}`)?.object;
    for (const { handle, ordinal } of live) {
      const index = found?.kind === "block" ? (found.value.allocations[ordinal] ?? null) : null;
      const holder = found?.kind === "block" && index !== null ? found.value.attributes[index]?.handle_id : undefined;
      if (holder !== handle)
        this.#broken(`${handle} uses ordinal ${ordinal} of ${cidr}, which ${holder ?? "nobody"} holds`);
    }
  }

  #broken(says: string): never {
    throw new BrokenRule(says);
  }
}

function userOf(pod: string, node: string) {
  return { is: "workload", namespace: "default", name: `${node}-k8s-${pod}-eth0`, node, pod } as const;
}

function textOf({ family, first }: AddressRange): string {
  return addressText(family, first);
}
