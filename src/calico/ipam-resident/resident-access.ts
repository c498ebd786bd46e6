// One request's access to address management in a program that lives on the node: it answers from what the program knows, and asks the
// datastore for the rest. What it knows may be old, and need not be true: whatever is decided is written at the revision that it
// was decided by. Only "there is none" is never answered from memory.
import type { Family } from "../../base/lib/index.ts";
import type { WatchedFact } from "../datastore/index.ts";
import {
  type Answer,
  addressOf,
  type Block,
  cidrOf,
  type Handle,
  isReserved,
  type Owner,
  type Pool,
  type Reservations,
  type Step,
  type Stored,
  type Versioned,
} from "../ipam/index.ts";
import type { Call, IpamAccess, IpamConfig } from "../ipam-client/index.ts";
import type { Labels } from "../model/index.ts";
import type { BlockCache } from "./block-cache.ts";

export type Known = {
  readonly access: IpamAccess;
  readonly node: string;
  readonly config: WatchedFact<IpamConfig>;
  readonly pools: WatchedFact<readonly Pool[]>;
  readonly reservations: WatchedFact<Reservations>;
  readonly nodeLabels: WatchedFact<Labels>;
  readonly affinities: { readonly 4: WatchedFact<Answer>; readonly 6: WatchedFact<Answer> };
  readonly blocks: BlockCache;
  readonly handles: HandleCache;
};

export class ResidentAccess implements IpamAccess {
  readonly #known: Known;
  /** How many addresses it wants to take; 0: it only gives back. */
  readonly #count: number;
  /** What a block was when it was shown, by the revision that was told instead of the datastore's. */
  readonly #shown = new Map<string, Block>();

  constructor(known: Known, { count }: { readonly count: number }) {
    this.#known = known;
    this.#count = count;
  }

  config({ signal }: Call): Promise<IpamConfig> {
    return this.#known.config.value(signal);
  }

  pools({ signal }: Call): Promise<readonly Pool[]> {
    return this.#known.pools.value(signal);
  }

  reservations({ signal }: Call): Promise<Reservations> {
    return this.#known.reservations.value(signal);
  }

  nodeLabels(node: string, call: Call): Promise<Labels> {
    const { access, nodeLabels } = this.#known;
    return node === this.#known.node ? nodeLabels.value(call.signal) : access.nodeLabels(node, call);
  }

  async writeConfig(config: IpamConfig, call: Call): Promise<void> {
    await this.#known.access.writeConfig(config, call);
    this.#known.config.changed();
  }

  labelAffinities(node: string, call: Call): Promise<number> {
    return this.#known.access.labelAffinities(node, call);
  }

  forgetNode(node: string, call: Call): Promise<void> {
    return this.#known.access.forgetNode(node, call);
  }

  /** Nothing is promised to it any more. */
  end(): void {
    this.#known.blocks.leave(this);
  }

  async answer(step: Step, call: Call): Promise<Answer> {
    switch (step.do) {
      case "get":
        if (step.ref.kind === "block") return await this.#getBlock(step.ref.cidr, call);
        if (step.ref.kind === "handle") return await this.#getHandle(step, step.ref.id, call);
        return await this.#ask(step, call);
      case "list affinities":
        return this.#isOwn(step.owner) ? await this.#listOwn(step.family, call) : await this.#ask(step, call);
      case "create":
        return await this.#wrote(step.object, await this.#ask(step, call));
      case "update":
        if (step.object.kind === "block") return await this.#updateBlock(step.object.value, step.revision, call);
        return await this.#wrote(step.object, await this.#ask(step, call));
      case "delete":
        return await this.#delete(step, call);
      case "read the node":
        return await this.#readNode(step, call);
      default:
        return await this.#ask(step, call);
    }
  }

  #ask(step: Step, call: Call): Promise<Answer> {
    return this.#known.access.answer(step, call);
  }

  #isOwn(owner: Owner | undefined): boolean {
    return owner?.type === "host" && owner.name === this.#known.node;
  }

  async #listOwn(family: Family, { signal }: Call): Promise<Answer> {
    try {
      return await this.#known.affinities[family].value(signal);
    } catch (error) {
      return { is: "failed", error, wasWritten: "no" };
    }
  }

  async #getBlock(cidr: string, call: Call): Promise<Answer> {
    const { blocks } = this.#known;
    const reservations = this.#count === 0 ? [] : await this.reservations(call);
    const taking = (block: Block) => freeIn(block, reservations).slice(0, this.#count);
    const view = () => blocks.view(cidr, this, this.#count === 0 ? undefined : taking);
    const known = view();
    if (known !== undefined) return this.#show(known);
    const answer = await blocks.read(cidr);
    const found = answer.is === "found" ? view() : undefined;
    return found === undefined ? answer : this.#show(found);
  }

  #show(value: Block): Answer {
    const revision = `resident ${this.#shown.size}`;
    this.#shown.set(revision, value);
    return { is: "found", object: { kind: "block", value }, revision };
  }

  async #updateBlock(value: Block, revision: string, call: Call): Promise<Answer> {
    const { blocks } = this.#known;
    const object: Stored = { kind: "block", value };
    const base = this.#shown.get(revision);
    if (base === undefined) {
      const answer = await this.#ask({ do: "update", object, revision }, call);
      if (answer.is === "written") blocks.know(value, answer.revision);
      else blocks.forget(cidrOf(value));
      return answer;
    }
    const answer = await blocks.update(base, value, this);
    if (answer.is !== "written") return answer;
    // Who goes on from here goes on from his own block: what others added is not his.
    const shown = this.#show(value);
    return { is: "written", revision: shown.is === "found" ? shown.revision : answer.revision };
  }

  async #getHandle(step: Step, id: string, call: Call): Promise<Answer> {
    const { handles } = this.#known;
    const known = handles.get(id);
    if (known !== undefined)
      return { is: "found", object: { kind: "handle", value: known.value }, revision: known.revision };
    return await this.#ask(step, call);
  }

  async #wrote(object: Stored, answer: Answer): Promise<Answer> {
    const { blocks, handles, affinities } = this.#known;
    const revision = answer.is === "written" ? answer.revision : undefined;
    if (object.kind === "handle") handles.set(object.value, revision);
    else if (object.kind === "affinity") {
      affinities[4].changed();
      affinities[6].changed();
    } else if (revision !== undefined) blocks.know(object.value, revision);
    return answer;
  }

  async #delete(step: Step & { do: "delete" }, call: Call): Promise<Answer> {
    const { blocks, handles, affinities } = this.#known;
    const { ref } = step;
    if (ref.kind === "handle") handles.forget(ref.id);
    if (ref.kind === "affinity") {
      const answer = await this.#ask(step, call);
      affinities[4].changed();
      affinities[6].changed();
      return answer;
    }
    if (ref.kind !== "block" || !this.#shown.has(step.revision)) return await this.#ask(step, call);
    // It was shown as it is now, or somebody has changed it since.
    const revision =
      blocks.view(ref.cidr, this, undefined) === this.#shown.get(step.revision)
        ? blocks.revisionFor(ref.cidr)
        : undefined;
    blocks.forget(ref.cidr);
    return revision === undefined ? { is: "conflict" } : await this.#ask({ ...step, revision }, call);
  }

  async #readNode(step: Step & { do: "read the node" }, call: Call): Promise<Answer> {
    if (step.name !== this.#known.node || !this.#known.nodeLabels.isWatched) return await this.#ask(step, call);
    try {
      return { is: "node", labels: await this.nodeLabels(step.name, call) };
    } catch {
      return await this.#ask(step, call); // which says why
    }
  }
}

/** As assigning does: reserved ones are passed over. */
function freeIn(block: Block, reservations: Reservations): number[] {
  return block.unallocated.filter((ordinal) => !isReserved(reservations, addressOf(block, ordinal)));
}

/** The handles that this node has written: those of the containers that run on it. The oldest go first. */
export class HandleCache {
  readonly #most: number;
  readonly #handles = new Map<string, Versioned<Handle>>();

  constructor(most: number) {
    this.#most = most;
  }

  get(id: string): Versioned<Handle> | undefined {
    return this.#handles.get(id);
  }

  /** Without a revision nobody knows what is stored. */
  set(value: Handle, revision: string | undefined): void {
    this.#handles.delete(value.id);
    if (revision === undefined) return;
    this.#handles.set(value.id, { value, revision });
    for (const oldest of this.#handles.keys()) {
      if (this.#handles.size <= this.#most) return;
      this.#handles.delete(oldest);
    }
  }

  forget(id: string): void {
    this.#handles.delete(id);
  }
}
