// delete: the objects of -f, or KIND NAME...
import type { Run } from "../command.ts";
import { CtlError } from "../console.ts";
import { perform } from "./running/perform.ts";
import { forEachTarget } from "./running/run-verb.ts";
import { end } from "./said/end.ts";
import { deleteEnding, nothingSpecified } from "./said/messages.ts";
import { flagsOf, targetsOfInput, targetsOfWords } from "./targets/targets.ts";

export const deleteObjects: Run = async (invocation, console) => {
  const { words, value, isSet, connect } = invocation;
  const isFromFile = value("filename") !== undefined;
  if (!isFromFile && words.length === 0) throw new CtlError("delete needs a KIND with NAMEs, or --filename (-f)");
  const targets = isFromFile ? await targetsOfInput(invocation, console) : targetsOfWords(words, flagsOf(invocation));
  if (targets.length === 0) {
    console.out(nothingSpecified);
    return 0;
  }
  const { resources, type } = await connect();
  const options = {
    skipsExisting: false,
    skipsMissing: isSet("skip-not-exists"),
    deletesAnyVersion: type === "kubernetes",
  };
  const outcomes = await forEachTarget("delete", targets, {
    signal: console.signal,
    doing: (target, signal) => perform("delete", target, { resources, call: { signal }, options }),
  });
  const ended = outcomes.flatMap((outcome, at) => {
    const target = targets[at];
    return target === undefined ? [] : [{ target, outcome }];
  });
  return await end("delete", ended, { words: deleteEnding, console, resources });
};
