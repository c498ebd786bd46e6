// The blocks of this node as it knows them from its own reads and writes, and the writes that several requests share. Nobody has to be
// told of others' writes: a block is written only at the revision that is known, so whoever was faster is met as a conflict,
// and then the block is forgotten and read again.
//
//   stored ──▶ writing ──▶ gathering       each is the one before with what requests did to it since
//   (known)    (on its way)  (the next write)
import { type Answer, type Block, cidrOf, type Step, type Versioned } from "../ipam/index.ts";
import type { IpamAccess } from "../ipam-client/index.ts";
import { rebaseBlock } from "./rebase-block.ts";

type Written = Exclude<Answer, { is: "found" | "listed" | "exists" | "node" | "time" }>;
type Share = { readonly settle: (answer: Written) => void };

class CachedBlock {
  stored: Versioned<Block>;
  gathering: { block: Block; readonly shares: Share[] } | undefined;
  writing: Block | undefined;
  /** Somebody sends what is gathered, one write after another. */
  isSending = false;
  /** Addresses that a request is about to take, so that the next one looks further. */
  readonly promised = new Map<object, readonly number[]>();

  constructor(stored: Versioned<Block>) {
    this.stored = stored;
  }

  get latest(): Block {
    return this.gathering?.block ?? this.writing ?? this.stored.value;
  }
}

export type BlockCacheOptions = {
  readonly access: Pick<IpamAccess, "answer">;
  /** As blocks name the node. */
  readonly owner: string;
  /** What is shared is nobody's to end. */
  readonly timeoutMs: number;
};

export class BlockCache {
  readonly #options: BlockCacheOptions;
  readonly #blocks = new Map<string, CachedBlock>();
  readonly #reading = new Map<string, Promise<Answer>>();

  constructor(options: BlockCacheOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#blocks.size;
  }

  /** As the request may see it; undefined: not known. Without what is promised to others, where it wants to take something. */
  view(cidr: string, request: object, taking: ((block: Block) => readonly number[]) | undefined): Block | undefined {
    const cached = this.#blocks.get(cidr);
    if (cached === undefined) return undefined;
    if (taking === undefined) return cached.latest;
    cached.promised.delete(request);
    const isPromised = new Set([...cached.promised.values()].flat());
    const { latest } = cached;
    const seen = { ...latest, unallocated: latest.unallocated.filter((ordinal) => !isPromised.has(ordinal)) };
    const wanted = taking(seen);
    // A block that seems full may have been emptied by others.
    if (wanted.length === 0) return this.#isIdle(cached) ? undefined : seen;
    cached.promised.set(request, wanted);
    return seen;
  }

  /** Who asks while another reads gets the same answer. */
  async read(cidr: string): Promise<Answer> {
    const known = this.#reading.get(cidr);
    if (known !== undefined) return await known;
    const signal = AbortSignal.timeout(this.#options.timeoutMs);
    const reading = this.#options.access.answer({ do: "get", ref: { kind: "block", cidr } }, { signal });
    this.#reading.set(cidr, reading);
    try {
      const answer = await reading;
      if (answer.is === "found" && answer.object.kind === "block") this.know(answer.object.value, answer.revision);
      else this.forget(cidr);
      return answer;
    } finally {
      this.#reading.delete(cidr);
    }
  }

  /** Only this node's blocks are kept, and none that somebody has begun to delete. */
  know(block: Block, revision: string): void {
    const cidr = cidrOf(block);
    const cached = this.#blocks.get(cidr);
    if (block.owner !== this.#options.owner || block.isDeleted) {
      if (cached !== undefined && this.#isIdle(cached)) this.#blocks.delete(cidr);
    } else if (cached === undefined) this.#blocks.set(cidr, new CachedBlock({ value: block, revision }));
    else if (this.#isIdle(cached)) cached.stored = { value: block, revision };
  }

  forget(cidr: string): void {
    const cached = this.#blocks.get(cidr);
    this.#blocks.delete(cidr);
    // What was never sent is surely not written.
    for (const { settle } of cached?.gathering?.shares ?? []) settle({ is: "conflict" });
    if (cached !== undefined) cached.gathering = undefined;
  }

  /** What the request made of `base`, written together with what others did meanwhile. */
  update(base: Block, changed: Block, request: object): Promise<Written> {
    const cidr = cidrOf(changed);
    const cached = this.#blocks.get(cidr);
    cached?.promised.delete(request);
    const block = cached === undefined ? undefined : rebaseBlock(base, changed, cached.latest);
    if (cached === undefined || block === undefined) return Promise.resolve({ is: "conflict" });
    return new Promise((settle) => {
      if (cached.gathering === undefined) cached.gathering = { block, shares: [{ settle }] };
      else {
        cached.gathering.block = block;
        cached.gathering.shares.push({ settle });
      }
      if (!cached.isSending) void this.#write(cidr, cached);
    });
  }

  /** At what the datastore has; undefined: writes are under way. */
  revisionFor(cidr: string): string | undefined {
    const cached = this.#blocks.get(cidr);
    return cached !== undefined && this.#isIdle(cached) ? cached.stored.revision : undefined;
  }

  leave(request: object): void {
    for (const { promised } of this.#blocks.values()) promised.delete(request);
  }

  async #write(cidr: string, cached: CachedBlock): Promise<void> {
    cached.isSending = true;
    await undefined; // what comes in the same turn goes along
    for (let group = cached.gathering; group !== undefined; group = cached.gathering) {
      cached.gathering = undefined;
      cached.writing = group.block;
      const answer = await this.#send(group.block, cached.stored.revision);
      cached.writing = undefined;
      if (answer.is === "written") cached.stored = { value: group.block, revision: answer.revision };
      else if (this.#blocks.get(cidr) === cached) this.forget(cidr);
      for (const { settle } of group.shares) settle(answer);
    }
    cached.isSending = false;
  }

  async #send(value: Block, revision: string): Promise<Written> {
    const step: Step = { do: "update", object: { kind: "block", value }, revision };
    const signal = AbortSignal.timeout(this.#options.timeoutMs);
    const answer = await this.#options.access.answer(step, { signal });
    switch (answer.is) {
      case "written":
      case "conflict":
      case "absent":
      case "failed":
        return answer;
      default:
        return { is: "failed", error: new Error(`an update was answered with ${answer.is}`), wasWritten: "perhaps" };
    }
  }

  #isIdle({ gathering, writing }: CachedBlock): boolean {
    return gathering === undefined && writing === undefined;
  }
}
