// Flags and words of a command line, told apart as the original's parser (pflag) does, with its words for what is wrong:
//   --name value   --name=value   --switch   --switch=false   -n value   -nvalue   -n=value   -RA   --   (then words only)
// Flags may stand anywhere among the words.
import type { Flag } from "../command.ts";
import { CtlError } from "../console.ts";
import { suggestion } from "./suggest.ts";

export type Parsed = { readonly words: readonly string[]; readonly given: Given };
/** By the flag's name, in the order given; of a switch "true" or "false". */
export type Given = ReadonlyMap<string, readonly string[]>;

export function parseFlags(args: readonly string[], flags: readonly Flag[]): Parsed {
  const words: string[] = [];
  const given = new Map<string, string[]>();
  const rest = [...args];
  const note = (flag: Flag, value: string) => {
    check(flag, value);
    given.set(flag.name, [...(given.get(flag.name) ?? []), value]);
  };
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === "--") {
      words.push(...rest.splice(0));
    } else if (arg.startsWith("--")) {
      const { flag, value } = readLong(arg, flags, rest);
      note(flag, value);
    } else if (arg.startsWith("-") && arg !== "-") {
      for (const { flag, value } of readShort(arg, flags, rest)) note(flag, value);
    } else {
      words.push(arg);
    }
  }
  return { words, given };
}

type Read = { readonly flag: Flag; readonly value: string };

function readLong(arg: string, flags: readonly Flag[], rest: string[]): Read {
  const name = arg.slice(2).split("=", 1)[0] ?? "";
  if (name === "" || name.startsWith("-")) throw new CtlError(`bad flag syntax: ${arg}`);
  const flag = flags.find((one) => one.name === name);
  if (flag === undefined) {
    const names = flags.map((one) => one.name);
    throw new CtlError(`unknown flag: --${name}${suggestion(name, names, (found) => `--${found}`)}`);
  }
  if (arg.includes("=")) return { flag, value: arg.slice(name.length + 3) };
  if (flag.value === undefined) return { flag, value: "true" };
  const value = rest.shift();
  if (value === undefined) throw new CtlError(`flag needs an argument: --${name}`);
  return { flag, value };
}

/** Switches can be joined; the first flag that takes a value takes the rest. */
function readShort(arg: string, flags: readonly Flag[], rest: string[]): Read[] {
  const read: Read[] = [];
  for (let letters = arg.slice(1); letters !== ""; ) {
    const [letter = ""] = letters; // a whole character, where a letter is none of ours
    const flag = flags.find(({ short, alsoShort }) => short === letter || alsoShort === letter);
    if (flag === undefined) throw new CtlError(`unknown shorthand flag: '${letter}' in -${letters}`);
    const after = letters.slice(letter.length);
    if (after.length > 1 && after.startsWith("=")) {
      read.push({ flag, value: after.slice(1) });
      break;
    }
    if (flag.value === undefined) {
      read.push({ flag, value: "true" });
      letters = after;
      continue;
    }
    const value = after === "" ? rest.shift() : after;
    if (value === undefined) throw new CtlError(`flag needs an argument: '${letter}' in -${letters}`);
    read.push({ flag, value });
    break;
  }
  return read;
}

/** What Go takes for a truth value. */
const truths: { readonly [text: string]: boolean } = Object.fromEntries([
  ...["1", "t", "T", "TRUE", "true", "True"].map((text) => [text, true]),
  ...["0", "f", "F", "FALSE", "false", "False"].map((text) => [text, false]),
]);

export function isTrue(value: string | undefined): boolean {
  return value !== undefined && truths[value] === true;
}

function check(flag: Flag, value: string): void {
  const name = flag.short === undefined ? `--${flag.name}` : `-${flag.short}, --${flag.name}`;
  const wrong = (reader: string, why: string) =>
    new CtlError(
      `invalid argument ${JSON.stringify(value)} for "${name}" flag: strconv.${reader}: parsing ${JSON.stringify(value)}: ${why}`,
    );
  if (flag.value === undefined && !Object.hasOwn(truths, value)) throw wrong("ParseBool", "invalid syntax");
  if (flag.isNumber !== true) return;
  if (!/^[+-]?(?:0|[1-9][0-9]*)$/.test(value)) throw wrong("ParseInt", "invalid syntax");
  if (!Number.isSafeInteger(Number(value))) throw wrong("ParseInt", "value out of range");
}
