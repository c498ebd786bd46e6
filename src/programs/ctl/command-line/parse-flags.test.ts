import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import type { Flag } from "../command.ts";
import { parseFlags } from "./parse-flags.ts";

const flags: readonly Flag[] = [
  { name: "output", short: "o", value: "FORMAT", says: "" },
  { name: "namespace", short: "n", value: "NAMESPACE", says: "" },
  { name: "recursive", short: "R", says: "" },
  { name: "all-namespaces", short: "A", alsoShort: "a", says: "" },
  { name: "skip-empty", says: "" },
  { name: "from-report", value: "FILE", isRepeatable: true, says: "" },
  { name: "max-logs", value: "N", isNumber: true, says: "" },
];

const taken: { name: string; args: string[]; words?: string[]; given?: { [flag: string]: string[] } }[] = [
  { name: "words alone", args: ["ippools", "a"], words: ["ippools", "a"] },
  { name: "a value after the flag", args: ["--output", "yaml"], given: { output: ["yaml"] } },
  { name: "a value behind =", args: ["--output=go-template={{.}}=x"], given: { output: ["go-template={{.}}=x"] } },
  { name: "an empty value", args: ["--output="], given: { output: [""] } },
  { name: "a short flag and its value", args: ["-n", "prod"], given: { namespace: ["prod"] } },
  { name: "a short flag with its value at its side", args: ["-nprod"], given: { namespace: ["prod"] } },
  { name: "a short flag with =", args: ["-n=prod"], given: { namespace: ["prod"] } },
  { name: "a value that looks like a flag", args: ["-n", "-R"], given: { namespace: ["-R"] } },
  { name: "joined switches", args: ["-RA"], given: { recursive: ["true"], "all-namespaces": ["true"] } },
  { name: "a switch joined with a value's flag", args: ["-Roname"], given: { recursive: ["true"], output: ["name"] } },
  { name: "the second letter of a flag", args: ["-a"], given: { "all-namespaces": ["true"] } },
  {
    name: "a switch that is off",
    args: ["--skip-empty=false", "-R=F"],
    given: { "skip-empty": ["false"], recursive: ["F"] },
  },
  { name: "flags among words", args: ["node", "-o", "wide", "n1"], words: ["node", "n1"], given: { output: ["wide"] } },
  { name: "words after --", args: ["-R", "--", "-R", "--x"], words: ["-R", "--x"], given: { recursive: ["true"] } },
  { name: "a single dash is a word", args: ["-"], words: ["-"] },
  {
    name: "a flag that is repeated",
    args: ["--from-report", "a", "--from-report=b"],
    given: { "from-report": ["a", "b"] },
  },
  { name: "a negative number", args: ["--max-logs", "-1"], given: { "max-logs": ["-1"] } },
];
for (const { name, args, words = [], given = {} } of taken) {
  test(`taken: ${name}`, () => {
    const parsed = parseFlags(args, flags);
    deepEqual({ words: parsed.words, given: Object.fromEntries(parsed.given) }, { words, given });
  });
}

const refused: { args: string[]; says: string }[] = [
  { args: ["--wide"], says: "unknown flag: --wide" },
  { args: ["--wide=1"], says: "unknown flag: --wide" },
  { args: ["--outptu", "x"], says: "unknown flag: --outptu\nDid you mean --output?" },
  { args: ["-x"], says: "unknown shorthand flag: 'x' in -x" },
  { args: ["-Rx"], says: "unknown shorthand flag: 'x' in -x" },
  { args: ["-Rxo"], says: "unknown shorthand flag: 'x' in -xo" },
  { args: ["-o"], says: "flag needs an argument: 'o' in -o" },
  { args: ["-Ro"], says: "flag needs an argument: 'o' in -o" },
  { args: ["--output"], says: "flag needs an argument: --output" },
  { args: ["---x"], says: "bad flag syntax: ---x" },
  { args: ["--=x"], says: "bad flag syntax: --=x" },
  {
    args: ["-R=maybe"],
    says: 'invalid argument "maybe" for "-R, --recursive" flag: strconv.ParseBool: parsing "maybe": invalid syntax',
  },
  {
    args: ["--skip-empty="],
    says: 'invalid argument "" for "--skip-empty" flag: strconv.ParseBool: parsing "": invalid syntax',
  },
  {
    args: ["--max-logs", "five"],
    says: 'invalid argument "five" for "--max-logs" flag: strconv.ParseInt: parsing "five": invalid syntax',
  },
  {
    args: ["--max-logs", "99999999999999999999"],
    says: 'invalid argument "99999999999999999999" for "--max-logs" flag: strconv.ParseInt: parsing "99999999999999999999": value out of range',
  },
];
for (const { args, says } of refused) {
  test(`refused: ${args.join(" ")}`, () =>
    throws(() => parseFlags(args, flags), { name: "CtlError", message: says, stream: "stderr" }));
}
