import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import { wordsCalledAs } from "./called-as.ts";

const cases: { program: string; words: string[]; asks: string[] }[] = [
  { program: "/usr/local/bin/cattail", words: ["typha"], asks: ["typha"] },
  { program: "/usr/local/bin/cattail", words: [], asks: [] },
  { program: "calico-typha", words: [], asks: ["typha"] },
  { program: "/code/calico-typha", words: ["-c", "typha.cfg"], asks: ["typha", "-c", "typha.cfg"] },
  { program: "calico-typha", words: ["--version"], asks: ["typha", "--version"] },
  { program: "/usr/bin/calico", words: ["component", "typha"], asks: ["typha"] },
  { program: "cattail", words: ["component", "typha", "-c", "a.cfg"], asks: ["typha", "-c", "a.cfg"] },
  { program: "calico", words: ["component", "typha", "version"], asks: ["version"] },
  { program: "calico", words: ["version"], asks: ["version"] },
  { program: "/opt/cni/bin/calico-ipam", words: [], asks: ["cni", "ipam"] },
  { program: "/opt/cni/bin/calico", words: [], asks: ["cni", "plugin"] },
  { program: "calico", words: ["-t"], asks: ["cni", "plugin", "-t"] },
  { program: "calico-ipam", words: ["-upgrade"], asks: ["cni", "ipam", "-upgrade"] },
  { program: "/usr/local/bin/calicoctl", words: ["get", "nodes"], asks: ["ctl", "get", "nodes"] },
  { program: "calicoctl", words: [], asks: ["ctl"] },
  { program: "calico", words: ["ctl", "get", "nodes"], asks: ["ctl", "get", "nodes"] },
];
for (const { program, words, asks } of cases)
  test(`"${[program, ...words].join(" ")}" asks for "${asks.join(" ")}"`, () =>
    deepEqual(wordsCalledAs(program, words), asks));

for (const words of [["component", "apiserver"], ["component"]])
  test(`"calico ${words.join(" ")}" is refused by name`, () =>
    throws(() => wordsCalledAs("calico", words), { code: "OTHER_COMPONENT" }));
