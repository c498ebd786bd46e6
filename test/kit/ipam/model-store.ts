// A datastore of blocks, affinities and handles for millions of schedules: it answers a step in about a microsecond, counts how its
// writes went, and tells a watcher what was written, so that only that is checked. A write can be late: it was sent, its sender was
// told that it failed, and it happens some turns later, if it still fits.
import {
  type Affinity,
  type Answer,
  type Block,
  cidrOf,
  forWrite,
  type Handle,
  type Ref,
  type Step,
  type Stored,
  type Versioned,
} from "../../../src/calico/ipam/index.ts";

type Entry = { readonly object: Stored; readonly revision: string; readonly family: 4 | 6; readonly name: string };
export type Write = Extract<Step, { do: "create" | "update" | "delete" }>;

export type Written = { readonly ref: Ref; readonly before: Stored | undefined; readonly after: Stored | undefined };

export class ModelStore {
  nowNs = 1_794_824_392_000_000_000n;
  readonly entries = new Map<string, Entry>();
  readonly #watch: (written: Written) => void;
  #late: { readonly step: Write; turns: number }[] = [];
  #writes = 0;
  writesDone = 0;
  lost = 0;

  constructor(watch: (written: Written) => void) {
    this.#watch = watch;
  }

  answer(step: Step): Answer {
    switch (step.do) {
      case "get": {
        const found = this.entries.get(keyOf(step.ref));
        return found === undefined ? { is: "absent" } : { is: "found", object: found.object, revision: found.revision };
      }
      case "list affinities": {
        const { owner, family } = step;
        return this.#listed(
          ({ object, family: own }) =>
            object.kind === "affinity" &&
            own === family &&
            (owner === undefined || (object.value.owner.name === owner.name && object.value.owner.type === owner.type)),
        );
      }
      case "list blocks":
        return this.#listed(({ object, family }) => object.kind === "block" && family === step.family);
      case "read the node":
        return { is: "node", labels: {} };
      case "read the clock":
        this.nowNs += 1_000_000n;
        return { is: "time", nowNs: this.nowNs };
      default:
        return this.write(step);
    }
  }

  write(step: Write): Answer {
    const ref = step.do === "delete" ? step.ref : refOf(step.object);
    const key = keyOf(ref);
    const found = this.entries.get(key);
    if (step.do === "create") {
      if (found !== undefined) return { is: "exists" };
      return this.#put(key, ref, step.object);
    }
    if (found === undefined) return { is: "absent" };
    if (found.revision !== step.revision) {
      this.lost += 1;
      return { is: "conflict" };
    }
    if (step.do === "update") return this.#put(key, ref, step.object);
    this.entries.delete(key);
    this.writesDone += 1;
    this.#watch({ ref, before: found.object, after: undefined });
    return { is: "written", revision: "" };
  }

  /** Another writes what this write is about, as it is. */
  touch(step: Write): void {
    const ref = step.do === "delete" ? step.ref : refOf(step.object);
    const found = this.entries.get(keyOf(ref))?.object;
    if (found === undefined) return;
    this.#put(keyOf(ref), ref, found.kind === "block" ? { kind: "block", value: forWrite(found.value) } : found);
  }

  /** It happens after so many turns, if it fits then. */
  writeLate(step: Write, turns: number): void {
    this.#late.push({ step, turns });
  }

  turn(): void {
    if (this.#late.length === 0) return;
    for (const late of this.#late) late.turns -= 1;
    const due = this.#late.filter(({ turns }) => turns <= 0);
    if (due.length === 0) return;
    this.#late = this.#late.filter(({ turns }) => turns > 0);
    for (const { step } of due) this.write(step);
  }

  /** No request is under way for minutes. */
  forgetLate(): void {
    this.#late = [];
  }

  blocks(): Versioned<Block>[] {
    return this.#all().flatMap(({ object, revision }) =>
      object.kind === "block" ? [{ value: object.value, revision }] : [],
    );
  }

  affinities(): Versioned<Affinity>[] {
    return this.#all().flatMap(({ object, revision }) =>
      object.kind === "affinity" ? [{ value: object.value, revision }] : [],
    );
  }

  handles(): Versioned<Handle>[] {
    return this.#all().flatMap(({ object, revision }) =>
      object.kind === "handle" ? [{ value: object.value, revision }] : [],
    );
  }

  #all(): Entry[] {
    return [...this.entries.values()];
  }

  #put(key: string, ref: Ref, object: Stored): Answer {
    this.#writes += 1;
    this.writesDone += 1;
    const revision = String(this.#writes);
    const before = this.entries.get(key);
    const cidr = ref.kind === "handle" ? "" : ref.cidr;
    const name = before?.name ?? key.replace(/[.:/]/g, "-");
    this.entries.set(key, { object, revision, family: cidr.includes(":") ? 6 : 4, name });
    this.#watch({ ref, before: before?.object, after: object });
    return { is: "written", revision };
  }

  #listed(isWanted: (entry: Entry) => boolean): Answer {
    const found: Entry[] = [];
    for (const entry of this.entries.values()) if (isWanted(entry)) found.push(entry);
    found.sort((a, b) => (a.name < b.name ? -1 : 1));
    return { is: "listed", objects: found };
  }
}

export function isWrite(step: { readonly do: string }): step is Write {
  return step.do === "create" || step.do === "update" || step.do === "delete";
}

function refOf(object: Stored): Ref {
  switch (object.kind) {
    case "block":
      return { kind: "block", cidr: cidrOf(object.value) };
    case "affinity":
      return { kind: "affinity", owner: object.value.owner, cidr: object.value.cidr };
    case "handle":
      return { kind: "handle", id: object.value.id };
  }
}

function keyOf(ref: Ref): string {
  if (ref.kind === "handle") return `handle ${ref.id}`;
  return ref.kind === "block" ? `block ${ref.cidr}` : `affinity ${ref.owner.type} ${ref.owner.name} ${ref.cidr}`;
}
