// `cattail cni plugin`, and a link named calico: started by a runtime for each pod, so nothing is loaded that it does not need.
import { text } from "node:stream/consumers";
import { systemClock } from "../../../base/lib/index.ts";
import { version } from "../../shared/build.ts";
import { cniErrorJson, toCniError } from "../protocol/cni-error.ts";
import { runPlugin } from "../protocol/run-plugin.ts";
import { createCalicoPlugin, filesOfThisProgram, testConnection } from "./calico-plugin.ts";

export async function runCalico(words: readonly string[]): Promise<void> {
  const [word] = words;
  if (word === "-v" || word === "--version") return say(`${version()}\n`, 0);
  const options = {
    variables: process.env,
    clock: systemClock,
    random: Math.random,
    version: version(),
    warn: (line: string) => void process.stderr.write(`${line}\n`),
    ownFiles: filesOfThisProgram([process.argv[1], process.execPath]),
  };
  if (word === "-t") {
    try {
      await testConnection(options, await text(process.stdin));
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
  const { exitCode, stdout, stderr } = await runPlugin(createCalicoPlugin(options), process.env, () =>
    text(process.stdin),
  );
  process.stderr.write(stderr);
  return say(stdout, exitCode);
}

/** Whatever is still open is of no use to anybody. */
function say(stdout: string, exitCode: number): void {
  process.stdout.write(stdout, () => process.exit(exitCode));
}
