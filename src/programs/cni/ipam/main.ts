// `cattail cni ipam`, and a link named calico-ipam: started by a runtime for each pod, so nothing is loaded that it does not need, the
// parser of command lines least of all.
import { createIpamPlugin } from "../../../node/cni/index.ts";
import { version } from "../../shared/build.ts";
import { runAsProgram, type Started, say, startedBefore } from "../run-program.ts";

export async function runIpam(words: readonly string[], started: Started = startedBefore()): Promise<void> {
  const [word] = words;
  if (word === "-v" || word === "--version") return say(`${version()}\n`, 0);
  if (word === "-upgrade" || word === "--upgrade") {
    const { upgradeFromHostLocal } = await import("./host-local.ts");
    const { text, exitCode } = upgradeFromHostLocal();
    process.stderr.write(`${text}\n`);
    return process.exit(exitCode);
  }
  if (word !== undefined) {
    process.stderr.write(
      `cattail cni ipam takes no argument ${JSON.stringify(word)}: a runtime says what it wants in CNI_COMMAND\n`,
    );
    return process.exit(1);
  }
  await runAsProgram(createIpamPlugin, started);
}
