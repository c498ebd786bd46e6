// `cattail cni ipam`, and a link named calico-ipam: started by a runtime for each pod, so nothing is loaded that it does not need, the
// parser of command lines least of all.
import { createIpamPlugin } from "../../../node/cni/index.ts";
import { version } from "../../shared/build.ts";
import { readPluginWords } from "../plugin-words.ts";
import { runAsProgram, type Started, say, startedBefore, tell } from "../run-program.ts";

export async function runIpam(words: readonly string[], started: Started = startedBefore()): Promise<void> {
  const read = readPluginWords(words, { v: "prints the version", upgrade: "looks for what host-local has left" });
  if (read.is === "told") return tell(read.text, read.exitCode);
  if (read.is === "nothing") return await runAsProgram(createIpamPlugin, started);
  if (read.flag === "v") return say(`${version()}\n`, 0);
  const { upgradeFromHostLocal } = await import("./host-local.ts");
  const { text, exitCode } = upgradeFromHostLocal();
  return tell(`${text}\n`, exitCode);
}
