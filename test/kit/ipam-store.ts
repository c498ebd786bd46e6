// A datastore of blocks, affinities and handles that answers the steps of calico/ipam at once: with revisions, so that whoever comes
// late loses, and with a clock that the test moves.
import { parseRange } from "../../src/base/lib/index.ts";
import { type Answer, cidrOf, type Ref, type Step, type Steps, type Stored } from "../../src/calico/ipam/index.ts";

type Entry = { readonly object: Stored; readonly revision: string; readonly made?: string | undefined };

export class IpamStore {
  /** Whether it tells objects of one name from each other, as an API server does and etcd does not. */
  readonly #tells: boolean;

  constructor({ tellsWhenMade = true }: { readonly tellsWhenMade?: boolean } = {}) {
    this.#tells = tellsWhenMade;
  }

  nowNs = 1_794_824_392_000_000_000n;
  readonly entries = new Map<string, Entry>();
  #writes = 0;

  answer(step: Step): Answer {
    switch (step.do) {
      case "get": {
        const found = this.entries.get(keyOf(step.ref));
        return found === undefined ? { is: "absent" } : { is: "found", ...found };
      }
      case "list affinities": {
        const prefix = step.owner === undefined ? "affinity " : `affinity ${step.owner.type} ${step.owner.name} `;
        return { is: "listed", objects: this.#listed(prefix, step.family) };
      }
      case "list blocks":
        return { is: "listed", objects: this.#listed("block ", step.family) };
      case "create":
        return this.entries.has(keyOf(refOf(step.object))) ? { is: "exists" } : this.put(step.object);
      case "update": {
        const problem = this.#problem(refOf(step.object), step.revision);
        return problem ?? this.put(step.object);
      }
      case "delete": {
        const problem = this.#problem(step.ref, step.revision);
        if (problem === undefined) this.entries.delete(keyOf(step.ref));
        return problem ?? { is: "written", revision: "" };
      }
      case "read the node":
        return { is: "node", labels: {} };
      case "read the clock":
        this.nowNs += 1_000_000n;
        return { is: "time", nowNs: this.nowNs };
    }
  }

  put(object: Stored): Answer {
    this.#writes += 1;
    const revision = String(this.#writes);
    const key = keyOf(refOf(object));
    const made = this.#tells ? (this.entries.get(key)?.made ?? `made ${revision}`) : undefined;
    this.entries.set(key, { object, revision, made });
    return { is: "written", revision };
  }

  /** One worker alone. `interfere` is told of each step before it happens, may change what is stored, and may answer instead. */
  run<T>(steps: Steps<T>, interfere: (step: Step) => Answer | undefined = () => undefined): T {
    let next = steps.next();
    while (!next.done) next = steps.next(interfere(next.value) ?? this.answer(next.value));
    return next.value;
  }

  objects(): Stored[] {
    return [...this.entries.values()].map(({ object }) => object);
  }

  #problem(ref: Ref, revision: string): Answer | undefined {
    const found = this.entries.get(keyOf(ref));
    if (found === undefined) return { is: "absent" };
    return found.revision === revision ? undefined : { is: "conflict" };
  }

  #listed(prefix: string, family: 4 | 6): Entry[] {
    return [...this.entries]
      .filter(([key]) => key.startsWith(prefix) && parseRange(key.slice(key.lastIndexOf(" ") + 1))?.family === family)
      .sort(([a], [b]) => (nameOf(a) < nameOf(b) ? -1 : 1))
      .map(([, entry]) => entry);
  }
}

const nameOf = (key: string) => key.replace(/[.:/]/g, "-");

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
