// The language of mending: the steps of address management, and two questions about the world outside, which is asked again just
// before anything is written. Whoever drives them answers from the datastore and never from what the audit has read.
import type { Answer, Step, Steps } from "../../steps/step.ts";
import type { HeldFor } from "../allocations.ts";
import type { AddressUse } from "../uses.ts";

export type Question =
  /** `heldFor` says where to look first; whoever can, also looks for others with that address. */
  | { readonly do: "ask who uses"; readonly address: string; readonly heldFor: HeldFor }
  | { readonly do: "ask for node"; readonly node: string };

export type Reply =
  /** `isStarting`: the pod exists, and does not say yet which addresses it has. */
  | { readonly is: "users"; readonly users: readonly AddressUse[]; readonly isStarting: boolean }
  | { readonly is: "existence"; readonly exists: boolean };

export type MendStep = Step | Question;
export type MendAnswer = Answer | Reply;
export type MendSteps<T> = Generator<MendStep, T, MendAnswer>;

/** The question was not answered; nothing is written then. */
export class NotAnswered extends Error {
  constructor(question: Question, cause: unknown) {
    super(`${question.do} was not answered`, { cause });
    this.name = "NotAnswered";
  }
}

/** Steps of address management as a part of mending. */
export function* within<T>(steps: Steps<T>): MendSteps<T> {
  let next = steps.next();
  while (!next.done) {
    const answer = yield next.value;
    if (answer.is === "users" || answer.is === "existence")
      throw new Error(`${next.value.do} was answered with ${answer.is}`);
    next = steps.next(answer);
  }
  return next.value;
}

/** A text says who uses it, or is about to. Undefined: nobody. */
export function* whoUses(address: string, heldFor: HeldFor): MendSteps<readonly AddressUse[] | "starting" | undefined> {
  const question: Question = { do: "ask who uses", address, heldFor };
  const reply = yield question;
  if (reply.is !== "users") throw new NotAnswered(question, reply.is === "failed" ? reply.error : reply);
  if (reply.users.length > 0) return reply.users;
  return reply.isStarting ? "starting" : undefined;
}

export function* nodeExists(node: string): MendSteps<boolean> {
  const question: Question = { do: "ask for node", node };
  const reply = yield question;
  if (reply.is !== "existence") throw new NotAnswered(question, reply.is === "failed" ? reply.error : reply);
  return reply.exists;
}
