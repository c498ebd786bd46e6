// `cattail cni ipam`, and a link named calico-ipam: started by a runtime for each pod, so nothing is loaded that it does not need, the
// parser of command lines least of all.
import { text } from "node:stream/consumers";
import { systemClock } from "../../../base/lib/index.ts";
import { version } from "../../shared/build.ts";
import { runPlugin } from "../protocol/run-plugin.ts";
import { createIpamPlugin } from "./ipam-plugin.ts";

/** What the words ask for beside the plugin's own work; undefined: nothing. */
export async function runIpam(words: readonly string[]): Promise<void> {
  const [word] = words;
  if (word === "-v" || word === "--version") return say(`${version()}\n`, 0);
  if (word === "-upgrade" || word === "--upgrade") {
    const says =
      "cattail cni ipam does not move host-local's addresses into Calico's IPAM. Run calico-ipam -upgrade of calico/cni once " +
      "on this node, and use this program after that.";
    process.stderr.write(`${says}\n`);
    return process.exit(1);
  }
  if (word !== undefined) {
    process.stderr.write(
      `cattail cni ipam takes no argument ${JSON.stringify(word)}: a runtime says what it wants in CNI_COMMAND\n`,
    );
    return process.exit(1);
  }
  const plugin = createIpamPlugin({
    variables: process.env,
    clock: systemClock,
    random: Math.random,
    version: version(),
    warn: (line) => process.stderr.write(`${line}\n`),
  });
  const { exitCode, stdout, stderr } = await runPlugin(plugin, process.env, () => text(process.stdin));
  process.stderr.write(stderr);
  return say(stdout, exitCode);
}

/** Whatever is still open is of no use to anybody. */
function say(stdout: string, exitCode: number): void {
  process.stdout.write(stdout, () => process.exit(exitCode));
}
