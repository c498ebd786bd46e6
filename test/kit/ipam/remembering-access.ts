// An access that remembers what a node has read and written, as an agent that lives on a node does: what it knows it does not ask for
// again. It is never sure of it: a write that is refused, or whose outcome nobody knows, makes it forget, and lists are read again
// every few seconds. So it meets what others did as a conflict.
import { type Answer, cidrOf, type Ref, type Step, type Stored } from "../../../src/calico/ipam/index.ts";
import type { Call, IpamAccess } from "../../../src/calico/ipam-client/index.ts";

const listsLastMs = 2000;

export class RememberingAccess {
  readonly #access: Pick<IpamAccess, "answer">;
  readonly #known = new Map<string, { readonly object: Stored; readonly revision: string }>();
  readonly #lists = new Map<string, { readonly answer: Answer; readonly atMs: number }>();
  /** How many steps went to the datastore. */
  asked = 0;

  constructor(access: Pick<IpamAccess, "answer">) {
    this.#access = access;
  }

  async answer(step: Step, call: Call): Promise<Answer> {
    switch (step.do) {
      case "get": {
        const known = this.#known.get(keyOf(step.ref));
        if (known !== undefined) return { is: "found", ...known };
        const answer = await this.#ask(step, call);
        if (answer.is === "found") this.#known.set(keyOf(step.ref), answer);
        return answer;
      }
      case "list affinities":
        return await this.#list(step, call);
      case "create":
      case "update": {
        const answer = await this.#ask(step, call);
        const key = keyOf(refOf(step.object));
        if (answer.is === "written") this.#known.set(key, { object: step.object, revision: answer.revision });
        else this.#known.delete(key);
        if (step.object.kind === "affinity") this.#lists.clear();
        return answer;
      }
      case "delete": {
        const answer = await this.#ask(step, call);
        this.#known.delete(keyOf(step.ref));
        if (step.ref.kind === "affinity") this.#lists.clear();
        return answer;
      }
      default:
        return await this.#ask(step, call);
    }
  }

  async #list(step: Step & { do: "list affinities" }, call: Call): Promise<Answer> {
    const key = `${step.owner?.type} ${step.owner?.name} ${step.family}`;
    const known = this.#lists.get(key);
    if (known !== undefined && performance.now() - known.atMs < listsLastMs) return known.answer;
    const answer = await this.#ask(step, call);
    if (answer.is !== "listed") return answer;
    this.#lists.set(key, { answer, atMs: performance.now() });
    for (const { object, revision } of answer.objects) this.#known.set(keyOf(refOf(object)), { object, revision });
    return answer;
  }

  #ask(step: Step, call: Call): Promise<Answer> {
    this.asked += 1;
    return this.#access.answer(step, call);
  }
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
