import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { readPluginWords } from "./plugin-words.ts";

const flags = { v: "prints the version", t: "asks the datastore" };
const nothing = { is: "nothing" };
const rows: { words: string[]; reads: object }[] = [
  { words: [], reads: nothing },
  { words: ["-t"], reads: { is: "asked", flag: "t" } },
  { words: ["--t"], reads: { is: "asked", flag: "t" } },
  { words: ["-t=true"], reads: { is: "asked", flag: "t" } },
  { words: ["-t", "-t=F"], reads: nothing },
  { words: ["-t", "-v"], reads: { is: "asked", flag: "v" } },
  { words: ['{ "name": "net" }'], reads: nothing },
  { words: ["extra", "-v"], reads: nothing },
  { words: ["--", "-v"], reads: nothing },
  { words: ["-"], reads: nothing },
];
for (const { words, reads } of rows)
  test(`words of a plugin: ${JSON.stringify(words)}`, () => deepEqual(readPluginWords(words, flags), reads));

const refused: { words: string[]; says: RegExp; exitCode: number }[] = [
  { words: ["-bogus"], says: /^flag provided but not defined: -bogus\n/, exitCode: 2 },
  { words: ["-v=maybe"], says: /^invalid boolean value "maybe" for -v: parse error\n/, exitCode: 2 },
  { words: ["---v"], says: /^bad flag syntax: ---v\n/, exitCode: 2 },
  { words: ["-h"], says: /^A container runtime[\s\S]*-v {8}prints the version\n/, exitCode: 0 },
];
for (const { words, says, exitCode } of refused)
  test(`words of a plugin: ${words.join(" ")} is told, and nothing is done`, () => {
    const read = readPluginWords(words, flags);
    if (read.is !== "told") throw new Error(read.is);
    match(read.text, says);
    equal(read.exitCode, exitCode);
  });
