// validate: the objects of -f against everything that can be known without a datastore: the rules of their fields, and the
// schema, limits and rules of their CRDs.
import {
  validate as fieldProblems,
  problemText,
  schemaProblems,
  withSchemaDefaults,
} from "../../../calico/kinds/index.ts";
import { ResourceError } from "../../../calico/resources/index.ts";
import type { Run } from "../command.ts";
import type { Outcome } from "./running/run-all.ts";
import { end } from "./said/end.ts";
import { countedEnding, nothingSpecified } from "./said/messages.ts";
import { requireFilename } from "./targets/require-filename.ts";
import { type Target, targetsOfInput } from "./targets/targets.ts";

export const validate: Run = async (invocation, console) => {
  requireFilename("validate", invocation);
  const targets = await targetsOfInput(invocation, console);
  if (targets.length === 0) {
    console.out(nothingSpecified);
    return 0;
  }
  const ended = targets.map((target) => ({ target, outcome: outcomeOf(target) }));
  return await end("validate", ended, { words: (endings) => countedEnding("validate", endings), console });
};

function outcomeOf({ kind, object, refusal }: Target): Outcome<undefined> {
  if (refusal !== undefined) return { is: "failed", error: refusal };
  const problems = [...fieldProblems(kind, object), ...schemaProblems(kind, withSchemaDefaults(kind, object))];
  if (problems.length === 0) return { is: "done", value: undefined };
  return { is: "failed", error: new ResourceError("invalid", problemText(problems), { problems }) };
}
