// The verdicts are those of Go 1.26's regexp.Compile.
import { equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { compileGoRegexp } from "./compile-go-regexp.ts";
import { isGoRegexp } from "./go-regexp.ts";

const compiles = [
  "^(en.*|eth.*|bond.*)",
  "^(?i)eth.*",
  "a|(?i)b",
  "(?i-s)a",
  "(?-s)a",
  String.raw`(?i:eth)\d+`,
  "(?U)a+",
  "(?)a",
  "a(?i)*",
  "a*(?i)*",
  "(?P<n>a)(?<n>b)",
  String.raw`\Qa(b\E`,
  String.raw`\Qa(b`,
  String.raw`\Qa\E+`,
  String.raw`a\Q\E*`,
  "a||b|",
  "()",
  "^*$?",
  "a{,2}",
  "a{2,}?",
  "a{01}",
  "a{1000}",
  "(a{25}){40}",
  "(a{999}){0}{",
  "((a{999}){0}){2}",
  "{ } ] - é",
  "[]a]",
  "[^]]",
  "[a-]",
  "[a-b-z]",
  "[[:alpha:][:^digit:]]+",
  "[[:]",
  String.raw`[\]\-\n\x41-\x{10FFFF}]`,
  String.raw`[\d\PL]`,
  String.raw`\pL\p{Greek}\p{^Lu}\P{letter_number}\pl`,
  String.raw`\A\b\B\z`,
  String.raw`\a\f\t\v\0\12\777\x7f`,
  String.raw`\_\-\.\/\ `,
];
const doesNot = [
  String.raw`\y`,
  String.raw`\e`,
  String.raw`\C`,
  String.raw`\Z`,
  String.raw`\1`,
  String.raw`\8`,
  String.raw`\é`,
  String.raw`\x4`,
  String.raw`\x{}`,
  String.raw`\x{110000}`,
  String.raw`\u0041`,
  String.raw`\k<n>`,
  "a\\",
  String.raw`\p{Foo}`,
  String.raw`\p{Latn}`,
  String.raw`\p{Greek`,
  String.raw`\pX`,
  String.raw`[a-\d]`,
  "[b-a]",
  "[a",
  "[]",
  "[[:word]:]",
  "[[:foo:]]",
  String.raw`[\b]`,
  "a**",
  "a+?*",
  "a{2}{3}",
  "*a",
  "a|+",
  "(?i)*",
  "(*)",
  "a{1001}",
  "a{2,1}",
  "a{99999999999}",
  "(a{25}){41}",
  "(",
  "a)",
  "(?=a)",
  "(?!a)",
  "(?<=a)",
  "(?-)",
  "(?i-)",
  "(?x)",
  "(?P<x-y>b)",
  "(?P<>b)",
];

for (const text of compiles)
  test(`${JSON.stringify(text)} compiles`, () => {
    equal(isGoRegexp(text), true);
    compileGoRegexp(text);
  });
for (const text of doesNot)
  test(`${JSON.stringify(text)} does not compile`, () => {
    equal(isGoRegexp(text), false);
    throws(() => compileGoRegexp(text), SyntaxError);
  });

const matches: readonly { readonly go: string; readonly yes?: readonly string[]; readonly no?: readonly string[] }[] = [
  { go: "eth1", yes: ["eth1", "xeth10"], no: ["eth0"] },
  { go: "(?i)ETH0", yes: ["eth0", "Eth0"], no: ["eth1"] },
  { go: "a(?i)b|c", yes: ["ab", "aB", "C"], no: ["Ab", "A"] },
  { go: "^(?:(?i)a)b$", yes: ["Ab", "ab"], no: ["aB"] },
  { go: "(?i)a(?-i)b", yes: ["Ab"], no: ["aB"] },
  { go: "^a(?i)*b$", yes: ["B", "aaB"], no: ["AB"] },
  { go: "[[:alpha:]]+1$", yes: ["eth1"], no: ["01", "eth1x"] },
  { go: "^[^[:digit:]x]$", yes: ["a"], no: ["1", "x"] },
  { go: "^[[:^digit:]]$", yes: ["a"], no: ["1"] },
  { go: String.raw`\Aeth\d\z`, yes: ["eth1"], no: ["xeth1", "eth12"] },
  { go: String.raw`^\Qa.b\E$`, yes: ["a.b"], no: ["axb"] },
  { go: "(?P<kind>en|eth)", yes: ["eth0", "ens5"], no: ["wlan0"] },
  { go: "^a{,2}$", yes: ["a{,2}"], no: ["aa"] },
  { go: "^a{2,}$", yes: ["aaa"], no: ["a"] },
  { go: String.raw`^[\]a\-c]$`, yes: ["]", "-"], no: ["b"] },
  { go: "^[]a]$", yes: ["]"], no: ["["] },
  { go: String.raw`^\x41\x{42}\103$`, yes: ["ABC"] },
  { go: String.raw`^vxlan\.calico$`, yes: ["vxlan.calico"], no: ["vxlanxcalico"] },
  { go: String.raw`^\pL\p{Greek}\PL$`, yes: ["aα1"], no: ["1α1"] },
  { go: "^.$", yes: ["é"] },
];
for (const { go, yes = [], no = [] } of matches)
  test(`${JSON.stringify(go)} matches what Go says`, () => {
    for (const text of yes) equal(compileGoRegexp(go).test(text), true, text);
    for (const text of no) equal(compileGoRegexp(go).test(text), false, text);
  });

test("a long text takes no longer than its length", () => {
  for (const [part, count, expected] of [
    ["[[:[]", 100_000, true],
    ["(", 100_000, false],
    ["{1,1", 100_000, true],
  ] as const) {
    equal(isGoRegexp(part.repeat(count)), expected);
  }
});
