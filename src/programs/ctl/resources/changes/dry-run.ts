// apply --dry-run: every check and every default, nothing stored, and what would happen to each object.
import type { Run } from "../../command.ts";
import { end } from "../said/end.ts";
import { countedEnding, type Ending, nothingSpecified, type Said } from "../said/messages.ts";
import { requireFilename } from "../targets/require-filename.ts";
import { nameOf, targetsOfInput } from "../targets/targets.ts";
import { type Change, pretendToApply } from "./pretend.ts";

export const applyDry: Run = async (invocation, console) => {
  requireFilename("apply", invocation);
  const targets = await targetsOfInput(invocation, console);
  if (targets.length === 0) {
    console.out(nothingSpecified);
    return 0;
  }
  const outcomes = await pretendToApply(targets, await invocation.connect(), console.signal);
  const ended = outcomes.flatMap((outcome, at) => {
    const target = targets[at];
    return target === undefined ? [] : [{ target, outcome }];
  });
  for (const { target, outcome } of ended) {
    if (outcome.is === "done") console.out(`${nameOf(target)} ${would[outcome.value.is]}\n`);
  }
  return await end("apply --dry-run", ended, { words: dryEnding, console });
};

const would: { readonly [does in Change["is"]]: string } = {
  create: "would be created",
  update: "would be changed",
  nothing: "would stay as it is",
};

function dryEnding(endings: readonly Ending[]): Said {
  const { failure } = countedEnding("apply", endings);
  return { out: "Nothing was written: this was a dry run\n", failure };
}
