// diff -f: what apply would change, as a unified diff of the YAML. Exit code 0: nothing; 1: something; 2: it cannot be told.
import type { Run } from "../command.ts";
import { CtlError } from "../console.ts";
import { writeYaml } from "../yaml/write-yaml.ts";
import { type Change, pretendToApply } from "./changes/pretend.ts";
import { unifiedDiff } from "./changes/unified-diff.ts";
import { end } from "./said/end.ts";
import { countedEnding, nothingSpecified } from "./said/messages.ts";
import { requireFilename } from "./targets/require-filename.ts";
import { type Target, targetsOfInput } from "./targets/targets.ts";

const trouble = 2;

export const diff: Run = async (invocation, console) => {
  try {
    requireFilename("diff", invocation);
    const targets = await targetsOfInput(invocation, console);
    if (targets.length === 0) {
      console.out(nothingSpecified);
      return 0;
    }
    const outcomes = await pretendToApply(targets, await invocation.connect(), console.signal);
    let isDifferent = false;
    const ended = outcomes.flatMap((outcome, at) => {
      const target = targets[at];
      return target === undefined ? [] : [{ target, outcome }];
    });
    for (const { target, outcome } of ended) {
      const text = outcome.is === "done" ? diffOf(target, outcome.value) : "";
      isDifferent ||= text !== "";
      if (text !== "") console.out(text);
    }
    const words = (endings: Parameters<typeof countedEnding>[1]) => ({ ...countedEnding("apply", endings), out: "" });
    await end("diff", ended, { words, console });
    return isDifferent ? 1 : 0;
  } catch (error) {
    if (!(error instanceof CtlError)) throw error;
    throw new CtlError(error.message, { cause: error.cause, stream: error.stream, exitCode: trouble });
  }
};

function diffOf({ kind, id }: Target, change: Change): string {
  const path = [kind, ...(id.namespace === "" ? [] : [id.namespace]), id.name].join("/");
  const newName = `applied/${path}`;
  switch (change.is) {
    case "nothing":
      return "";
    case "create":
      return unifiedDiff("", writeYaml(change.after), { oldName: "/dev/null", newName });
    case "update": {
      const oldName = `stored/${path}`;
      return unifiedDiff(writeYaml(change.before), writeYaml(change.after), { oldName, newName });
    }
  }
}
