// The loop around mending: steps go to address management's access, questions to whoever can see pods, nodes and services. What
// fails is an answer, and then nothing is written; the next audit finds it again.
import type { Answer, MendSteps, Question, Reply } from "../ipam/index.ts";
import type { Call, IpamAccess } from "../ipam-client/index.ts";

export type MendingAccess = {
  readonly access: Pick<IpamAccess, "answer">;
  /** Asks the datastore now. May throw. */
  readonly ask: (question: Question, call: Call) => Promise<Reply>;
};

export async function carryOutMending<T>(steps: MendSteps<T>, { access, ask }: MendingAccess, call: Call): Promise<T> {
  let next = steps.next();
  while (!next.done) {
    call.signal?.throwIfAborted();
    const step = next.value;
    const isQuestion = step.do === "ask who uses" || step.do === "ask for node";
    next = steps.next(isQuestion ? await answered(ask, step, call) : await access.answer(step, call));
  }
  return next.value;
}

async function answered(ask: MendingAccess["ask"], question: Question, call: Call): Promise<Reply | Answer> {
  try {
    return await ask(question, call);
  } catch (error) {
    return { is: "failed", error, wasWritten: "no" };
  }
}
