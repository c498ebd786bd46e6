// What only a program inside a node's pod can tell: its packet rules, routes and CNI logs. That takes a connection that kubectl makes; where there
// is no kubectl, `ctl node diags` on the node collects the same.
import { CattailError, messageOf } from "../../../base/lib/index.ts";
import { runProgram } from "../../../base/linux/index.ts";
import type { Bundle } from "../archive/bundle.ts";
import type { Console } from "../console.ts";
import type { ChosenPod } from "./choose-pods.ts";

export const nodeCommands: readonly { readonly words: readonly string[]; readonly file: string }[] = [
  { words: ["iptables-legacy-save", "-c"], file: "iptables-legacy-save.txt" },
  { words: ["iptables-nft-save", "-c"], file: "iptables-nft-save.txt" },
  { words: ["nft", "-n", "-a", "list", "ruleset"], file: "nft-ruleset.txt" },
  { words: ["ip", "route", "show", "table", "all"], file: "ip-route.txt" },
  { words: ["ip", "-6", "route", "show", "table", "all"], file: "ip-route-v6.txt" },
  { words: ["ip", "rule"], file: "ip-rule.txt" },
  { words: ["ip", "addr"], file: "ip-addr.txt" },
  { words: ["ip", "-d", "link"], file: "ip-link.txt" },
  { words: ["ip", "neigh"], file: "ip-neigh.txt" },
  { words: ["ipset", "list"], file: "ipset-list.txt" },
  { words: ["birdcl", "-s", "/var/run/calico/bird.ctl", "show", "protocols", "all"], file: "bird-protocols.txt" },
  { words: ["sh", "-c", "tail -c 16777216 /var/log/calico/cni/*.log"], file: "cni.log" },
];

/** False: there is no kubectl, so that nothing was asked. */
export async function hasKubectl({ env, signal }: Console): Promise<boolean> {
  try {
    await runProgram("kubectl", ["version", "--client"], { env: environment(env), signal });
    return true;
  } catch (error) {
    signal.throwIfAborted();
    return !(error instanceof CattailError && error.code === "PROGRAM_NOT_FOUND");
  }
}

export async function addFromNodePod(bundle: Bundle, pod: ChosenPod, console: Console): Promise<void> {
  const { env, signal } = console;
  for (const { words, file } of nodeCommands) {
    const exec = ["exec", "-n", pod.namespace, pod.name, "-c", "calico-node", "--", ...words];
    let text: string;
    try {
      const { stdout, stderr } = await runProgram("kubectl", exec, {
        env: environment(env),
        signal,
        limitMs: 60_000,
        maxOutputBytes: 256 << 20,
      });
      text = stdout + stderr;
    } catch (error) {
      signal.throwIfAborted();
      // Which of the programs a pod has depends on its image: the file says what was missing.
      text = `failed: ${error instanceof CattailError ? error.problem : messageOf(error)}\n`;
    }
    await bundle.add(`nodes/${pod.node}/${file}`, text);
  }
}

function environment(env: Console["env"]): { [name: string]: string } {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
