// `cattail cni plugin`, and a link named calico: started by a runtime for each pod, so nothing is loaded that it does not need.
import { cniErrorJson, createCalicoPlugin, testConnection, toCniError } from "../../../node/cni/index.ts";
import { version } from "../../shared/build.ts";
import { optionsOfProcess, runAsProgram, type Started, say, startedBefore, stdinOf } from "../run-program.ts";

export async function runCalico(words: readonly string[], started: Started = startedBefore()): Promise<void> {
  const [word] = words;
  if (word === "-v" || word === "--version") return say(`${version()}\n`, 0);
  if (word === "-t") {
    try {
      await testConnection(optionsOfProcess(started), await stdinOf(started));
      return say("", 0);
    } catch (error) {
      return say(`${cniErrorJson(toCniError(error))}\n`, 1);
    }
  }
  if (word !== undefined) {
    process.stderr.write(
      `cattail cni plugin takes no argument ${JSON.stringify(word)}: a runtime says what it wants in CNI_COMMAND\n`,
    );
    return process.exit(1);
  }
  await runAsProgram(createCalicoPlugin, started);
}
