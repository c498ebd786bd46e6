// The words of calico/node, old and new: flags with one dash of the program `calico-node`, which manifests still have, and the words of
// `calico component node`. What is asked for is a command of `cattail node`.
import { CattailError, nearest } from "../../base/lib/index.ts";

/** Flags that ask for something, and what that is here. */
const commands: { readonly [flag: string]: readonly string[] } = {
  felix: ["node", "felix"],
  confd: ["node", "bgp"],
  startup: ["node", "startup"],
  "complete-startup": ["node", "complete-startup"],
  shutdown: ["node", "shutdown"],
  "monitor-addresses": ["node", "monitor-addresses"],
  "allocate-tunnel-addrs": ["node", "allocate-tunnel-addrs"],
  "monitor-token": ["node", "monitor-token"],
  "status-reporter": ["node", "status", "report"],
  "show-status": ["node", "status", "show"],
  init: ["node", "init"],
  "hostpath-init": ["node", "hostpath-init"],
  v: ["version"],
};

/** Flags that go with another one, and how that is said here. */
const additions: { readonly [flag: string]: string } = {
  "best-effort": "--best-effort",
  "allocate-tunnel-addrs-run-once": "--run-once",
  "confd-run-once": "--run-once",
  "confd-confdir": "--confdir",
  "threshold-time": "--threshold-time",
  help: "--help",
  h: "--help",
};

const checks = ["felix-live", "felix-ready", "bird-live", "bird6-live", "bird-ready", "bird6-ready"];
/** Accepted, and of no effect: there is no stage file, and no eBPF. */
const ignored = ["confd-keep-stage-file"];

/** As Go reads yes and no. */
const yeses = ["1", "t", "T", "true", "True", "TRUE"];
const noes = ["0", "f", "F", "false", "False", "FALSE"];

/** Flags of `calico component node` and `confd` that may say yes or no behind an equals sign. There is no stage file to be kept. */
const switches = ["run-once", "complete-startup", "best-effort"];

/** Their words, as ours take them. */
export function componentWords(words: readonly string[]): readonly string[] {
  return words.flatMap((word) => {
    const [, flag = "", value = "true"] = /^--([a-z-]+)(?:=(.*))?$/.exec(word) ?? [];
    if (flag === "keep-stage-file" && (yeses.includes(value) || noes.includes(value))) return [];
    if (!switches.includes(flag) || !(yeses.includes(value) || noes.includes(value))) return [word];
    return yeses.includes(value) ? [`--${flag}`] : [];
  });
}

/** What `calico-node WORDS` asks for. */
export function nodeWords(words: readonly string[]): readonly string[] {
  if (words[0]?.startsWith("-") !== true) return ["node", ...componentWords(words)];
  let asked: readonly string[] | undefined;
  const rest: string[] = [];
  for (const word of words) {
    const [, flag = "", value] = /^--?([a-z0-9-]+)(?:=(.*))?$/.exec(word) ?? [];
    if (flag === "") rest.push(word);
    else if ((value !== undefined && noes.includes(value)) || ignored.includes(flag)) continue;
    else if (checks.includes(flag)) {
      asked ??= ["node", "health"];
      rest.push(`--${flag}`);
    } else if (Object.hasOwn(commands, flag)) {
      // "-startup -complete-startup" is start-up that completes itself.
      if (asked === commands.startup && flag === "complete-startup") rest.push("--complete-startup");
      else asked ??= commands[flag];
    } else if (Object.hasOwn(additions, flag)) {
      rest.push(additions[flag] ?? flag, ...(value === undefined || value === "true" ? [] : [value]));
      if (flag === "allocate-tunnel-addrs-run-once") asked ??= commands["allocate-tunnel-addrs"];
    } else throw unknownFlag(word, flag);
  }
  return [...(asked ?? ["node"]), ...rest];
}

function unknownFlag(word: string, flag: string): CattailError {
  const known = [...Object.keys(commands), ...Object.keys(additions), ...checks];
  const near = nearest(flag, known);
  return new CattailError("NODE_FLAG", {
    problem: `calico-node has no flag ${JSON.stringify(word)} here`,
    next: `${near === undefined ? "" : `Did you mean -${near}? `}"cattail node --help" lists what there is`,
  });
}
