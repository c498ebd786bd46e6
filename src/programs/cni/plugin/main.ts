// `cattail cni plugin`, and a link named calico: started by a runtime for each pod, so nothing is loaded that it does not need.
import { cniErrorJson, createCalicoPlugin, testConnection, toCniError } from "../../../node/cni/index.ts";
import { version } from "../../shared/build.ts";
import { readPluginWords } from "../plugin-words.ts";
import { optionsOfProcess, runAsProgram, type Started, say, startedBefore, stdinOf, tell } from "../run-program.ts";

export async function runCalico(words: readonly string[], started: Started = startedBefore()): Promise<void> {
  const read = readPluginWords(words, { v: "prints the version", t: "asks the datastore if it can be used" });
  if (read.is === "told") return tell(read.text, read.exitCode);
  if (read.is === "nothing") return await runAsProgram(createCalicoPlugin, started);
  if (read.flag === "v") return say(`${version()}\n`, 0);
  try {
    await testConnection(optionsOfProcess(started), await stdinOf(started));
    return say("", 0);
  } catch (error) {
    return say(`${cniErrorJson(toCniError(error))}\n`, 1);
  }
}
