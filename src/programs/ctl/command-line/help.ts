// Help, in our words, from the table.
import type { CtlCommand, Flag } from "../command.ts";
import { commands, groups } from "../commands.ts";
import { childrenOf, isBelow } from "./find-command.ts";
import { globalFlags, helpFlag } from "./flags.ts";

const about = `Shows and changes what Calico keeps in its datastore: pools, policies, BGP peers, nodes, addresses.
It takes the commands and flags of calicoctl, and answers to a link of that name.`;

/** `program` as it was called: "cattail ctl", or "calicoctl" through a link. */
export async function helpText(
  program: string,
  path: readonly string[],
  command: CtlCommand | undefined,
): Promise<string> {
  return command === undefined ? groupHelp(program, path) : await commandHelp(program, command);
}

function groupHelp(program: string, path: readonly string[]): string {
  const name = [program, ...path].join(" ");
  const children = childrenOf(commands, path);
  const examples = commands.filter((one) => isBelow(one.path, path)).flatMap((one) => one.examples.slice(0, 1));
  const isRoot = path.length === 0;
  return `Usage: ${name} COMMAND [flags]

${isRoot ? about : `${capital(saysOf(path))}.`}

Commands:
${table(children.map((word) => ({ left: word, right: saysOf([...path, word]) })))}

Flags:
${flagTable([helpFlag])}

Of every command:
${flagTable(globalFlags)}

Examples:
${exampleLines(isRoot ? firstSteps : examples, program)}

"${name} COMMAND --help" says what a command takes.
`;
}

const firstSteps = ["ctl get nodes", "ctl get ippools -o wide", "ctl apply -f pools.yaml", "ctl ipam show"];

async function commandHelp(program: string, command: CtlCommand): Promise<string> {
  const name = [program, ...command.path].join(" ");
  const words = command.wordsUsage === undefined ? "" : ` ${command.wordsUsage}`;
  return `Usage: ${name}${words} [flags]

${capital(command.says)}.
${await kindLines(command)}
Flags:
${flagTable([...command.flags, helpFlag])}

Of every command:
${flagTable(globalFlags)}

Examples:
${exampleLines(command.examples, program)}
`;
}

async function kindLines(command: CtlCommand): Promise<string> {
  const { kindPlurals, takesKind } = await import("./kind-names.ts");
  return takesKind(command) ? `\nKinds:\n  ${wrapped(kindPlurals().join(" "), 98).join("\n  ")}\n` : "";
}

function exampleLines(examples: readonly string[], program: string): string {
  return examples.map((line) => `  ${exampleOf(line, program)}`).join("\n");
}

/** Examples in the table say `ctl`. */
export function exampleOf(line: string, program: string): string {
  return line.replace(/(^|\s)ctl /g, `$1${program} `);
}

function saysOf(path: readonly string[]): string {
  const wanted = path.join(" ");
  return [...groups, ...commands].find((one) => one.path.join(" ") === wanted)?.says ?? "";
}

export function flagUsage({ name, short, value }: Flag): string {
  const long = value === undefined ? `--${name}` : `--${name} ${value}`;
  return short === undefined ? `    ${long}` : `-${short}, ${long}`;
}

function flagTable(flags: readonly Flag[]): string {
  return table(flags.map((flag) => ({ left: flagUsage(flag), right: flagSays(flag) })));
}

export function flagSays({ says, default: preset, isRepeatable }: Flag): string {
  const notes = [...(preset === undefined ? [] : [`default ${preset}`]), ...(isRepeatable ? ["may be repeated"] : [])];
  return notes.length === 0 ? says : `${says} (${notes.join(", ")})`;
}

/** As wide as a terminal of 100 characters; long texts go on below themselves. */
function table(rows: readonly { readonly left: string; readonly right: string }[]): string {
  const width = Math.max(...rows.map(({ left }) => left.length)) + 4;
  return rows
    .map(
      ({ left, right }) => `  ${left.padEnd(width - 2)}${wrapped(right, 100 - width).join(`\n${" ".repeat(width)}`)}`,
    )
    .join("\n");
}

function wrapped(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1) ?? "";
    if (last !== "" && last.length + word.length >= width) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
