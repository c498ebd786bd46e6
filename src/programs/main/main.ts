// The command line. Each command is a file beside this one, loaded only when it is the one that was asked for: a person
// waiting for `certs` should not wait for the server's modules, nor one who asks for the version for the parser of command lines. Errors say what was seen and what to do next. The table
// below is the list of commands: help, completion and the README's table are held to it.
import type { Command } from "commander";
import { fail } from "../shared/fail.ts";
import { ServerSignals } from "../shared/server-signals.ts";
import { failOnUnwritableOutput } from "../shared/unwritable-output.ts";
import { wordsCalledAs } from "./called-as.ts";

type Entry = {
  readonly name: string;
  readonly says: string;
  /** Where 1 would mean something else than having been asked wrongly. */
  readonly exitCodeOfMisuse?: number;
  readonly load: (isAsked: boolean) => Promise<Command>;
};

const entries: readonly Entry[] = [
  {
    name: "typha",
    says: "run the server: reads every TYPHA_* setting, flag and file that calico/typha reads",
    async load(isAsked) {
      const signals = isAsked ? new ServerSignals() : undefined; // before the modules, which take their time
      return (await import("../typha/command.ts")).typhaCommand(signals);
    },
  },
  {
    name: "demo",
    says: "run everything on a simulated cluster: no network, no root, no configuration",
    load: async () => (await import("../demo/command.ts")).demoCommand(),
  },
  {
    name: "node",
    says: "the agent of a node, in the place of calico/node: start-up, routes, policies, BIRD, health; or one half of it",
    async load(isAsked) {
      return await (await import("../node/command.ts")).nodeCommand(isAsked ? wordsAfter("node") : undefined);
    },
  },
  {
    name: "lab",
    says: "a cluster of network namespaces on this machine, in seconds: pods, pings between them, and what to break",
    load: async () => (await import("../lab/command.ts")).labCommand(),
  },
  {
    name: "ctl",
    says: "show and change what Calico keeps: every command of calicoctl",
    // It reads its own words (ctl/command-line), and never gets here; this is its line in the help.
    load: async () => new (await import("commander")).Command("ctl"),
  },
  {
    name: "watch",
    says: "follow a Typha (Cattail or calico/typha) and print what it sends",
    load: async () => (await import("../watch/command.ts")).watchCommand(),
  },
  {
    name: "explain",
    says: "may these two talk, and which rule says so; on a cluster, through a Typha, or on a folder of manifests",
    load: async () => (await import("../explain/command.ts")).explainCommand(),
  },
  {
    name: "doctor",
    says: "check settings, TLS files, ports, datastore and permissions before a start; or check a running server",
    exitCodeOfMisuse: 2,
    load: async () => (await import("../doctor/command.ts")).doctorCommand(),
  },
  {
    name: "certs",
    says: "make, inspect and renew the certificates of servers and nodes",
    load: async () => (await import("../certs/command.ts")).certsCommand(),
  },
  {
    name: "cni",
    says: "the CNI plugins that a container runtime starts: calico, and the IPAM plugin, calico-ipam",
    load: async () => (await import("../cni/command.ts")).cniCommand(),
  },
  {
    name: "manifests",
    says: "print the YAML of an installation",
    load: async () => (await import("../manifests/command.ts")).manifestsCommand(),
  },
  {
    name: "completion",
    says: "print a completion script for a shell",
    async load() {
      const { nextWords, ...table } = await import("../ctl/index.ts");
      return (await import("./completion.ts")).completionCommand(nextWords(table, "ctl"));
    },
  },
  {
    name: "version",
    says: "print version, commit and protocol features",
    load: async () => (await import("./version.ts")).versionCommand(),
  },
];

let words = askedVersion(readWords());
// `cattail help certs` asks for certs.
const asked = words[0] === "help" ? words[1] : words[0];
const { exitCodeOfMisuse = 1 } = entries.find(({ name }) => name === asked) ?? {};
if (asked !== "ctl") failOnUnwritableOutput(exitCodeOfMisuse); // which looks after its output itself
try {
  if (asked === "ctl") await startCtl();
  else if (words.length === 1 && asked === "version") (await import("./print-version.ts")).printVersion("text");
  // A runtime waits for it with every pod.
  else if (isPlugin(words, "ipam")) await (await import("../cni/ipam/main.ts")).runIpam(words.slice(2));
  else if (isPlugin(words, "plugin")) await (await import("../cni/plugin/main.ts")).runCalico(words.slice(2));
  // A probe runs it every ten seconds.
  else if (isProbe(words)) await (await import("../node/lifecycle/run-health.ts")).runHealth(words.slice(2));
  else if (words[0] !== "node" || !(await (await import("../node/starting/start.ts")).startNode(words.slice(1))))
    await parse();
} catch (error) {
  fail(error);
}

/** `cattail help node run` asks for the help of `run`. */
function wordsAfter(command: string): readonly string[] {
  return words.slice(words.indexOf(command) + 1);
}

/** Without the library for command lines, which costs a third of what `ctl get` takes. */
async function startCtl(): Promise<void> {
  const { startCtl: start } = await import("../ctl/process-console.ts");
  await start(words[0] === "help" ? ["help", ...words.slice(2)] : words.slice(1));
}

function isPlugin([command, plugin, ...rest]: readonly string[], name: string): boolean {
  return command === "cni" && plugin === name && !rest.includes("--help") && !rest.includes("-h");
}

function isProbe([command, first, ...rest]: readonly string[]): boolean {
  return command === "node" && first === "health" && !rest.includes("--help") && !rest.includes("-h");
}

async function parse(): Promise<void> {
  const { Command, Help } = await import("commander");
  const program = new Command("cattail")
    .description(
      "Calico in TypeScript: drop-in replacements for Typha, calico/node, calicoctl and the CNI plugins, and tools that say why.",
    )
    // Options of a command are before its subcommands' names, theirs behind: `doctor node -o facts` is the node's.
    .enablePositionalOptions()
    .showHelpAfterError("(run the same command with --help to see what it takes)")
    // That a flag is not set when nobody sets it goes without saying.
    .configureHelp({
      optionDescription: (option) => new Help().optionDescription(option).replace(/ \(default: (?:false|\[\])\)$/, ""),
    })
    .addHelpText(
      "after",
      "\nStart here:\n  cattail demo               see it run\n  cattail COMMAND --help     what a command takes, with examples",
    );
  program.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : exitCodeOfMisuse));
  // "help nonsense" would show the help of everything, and not say why.
  if (words[0] === "help" && asked !== undefined && !entries.some(({ name }) => name === asked)) words = [asked];
  for (const { name, says, load } of entries) {
    // Completion walks all commands; everybody else needs only their own.
    if (asked === name || asked === "completion")
      program.addCommand(inherit(program, (await load(asked === name)).description(says)));
    else program.command(name).description(says);
  }
  await program.parseAsync(words, { from: "user" });
}

/** The name is the executable's own; bin/cattail, whose name Node's hides, has read its name already. */
function readWords(): readonly string[] {
  try {
    return wordsCalledAs(process.argv0, process.argv.slice(2), process.env);
  } catch (error) {
    fail(error);
    process.exit(1);
  }
}

/** `--version` is what many type before they have read that it is a command; `calico-typha --version` was one. */
function askedVersion(words: readonly string[]): readonly string[] {
  const first = words[0] === "typha" ? 1 : 0;
  return words[first] === "--version" ? ["version", ...words.slice(first + 1)] : words;
}

// Commander hands its manners down only to commands that it makes itself.
function inherit(parent: Command, command: Command): Command {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inherit(command, child);
  return command;
}
