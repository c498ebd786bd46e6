import { equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  evaluateSelector,
  type Labels,
  parseSelector,
  prefixSelector,
  printSelector,
  type Selector,
} from "./selector.ts";

function normalForm(text: string): string | undefined {
  const parsed = parseSelector(text);
  return parsed.is === "selector" ? printSelector(parsed.selector) : undefined;
}

const printed: [string, string][] = [
  ["a=='b'&&c in {'z','y','z'}||!has(d)", '((a == "b" && c in {"y", "z"}) || !has(d))'],
  ["!!has(x)", "has(x)"],
  ["(((a == 'b')))", 'a == "b"'],
  ["", "all()"],
  [" \t ", "all()"],
  ["all( )", "all()"],
  ["global()", "global()"],
  ["has( a/b.c-d_e )", "has(a/b.c-d_e)"],
  ["a == 'say \"hi\"'", "a == 'say \"hi\"'"],
  ['a != "it\'s"', 'a != "it\'s"'],
  ["a contains 'x'", 'a contains "x"'],
  ["a starts with 'x'", 'a starts with "x"'],
  ["a startswith'x'", 'a starts with "x"'],
  ['a ends \t with "x"', 'a ends with "x"'],
  ["a notin {}", "a not in {}"],
  ["a not in{'b',}", 'a not in {"b"}'],
  ["a in {}", "a in {}"],
  ["a == 'b' && (c == 'd' && e == 'f')", '(a == "b" && (c == "d" && e == "f"))'],
  ["!(a == 'b' || c == 'd')", '!(a == "b" || c == "d")'],
  ["! ! !a == 'b'", '!a == "b"'],
  ["in in {'in'}", 'in in {"in"}'],
  ["has == 'x'", 'has == "x"'],
  ["allx == 'x'", 'allx == "x"'],
  ["a in {'\u{1f600}','\uffee'}", 'a in {"\uffee", "\u{1f600}"}'],
];
for (const [text, expected] of printed) {
  test(`${JSON.stringify(text)} prints as ${expected}`, () => equal(normalForm(text), expected));
}

const broken = [
  "a",
  "a ==",
  "a == b",
  "a = 'b'",
  "a == 'b",
  "a == 'b' &&",
  "a == 'b' & c == 'd'",
  "a == 'b' c == 'd'",
  "(a == 'b'",
  "a == 'b')",
  "has(",
  "has()",
  "has(a",
  "has (a)",
  "all",
  "all(a)",
  "a inx {'b'}",
  "a in 'b'",
  "a in {b}",
  "a in {'b' 'c'}",
  "a in {,}",
  "a\n== 'b'",
  "é == 'b'",
  "&& a == 'b'",
  "!",
  "a containsx 'b'",
  "a not 'b'",
  `${"x".repeat(513)} == 'b'`,
  `${"(".repeat(100_000)}a == 'b'${")".repeat(100_000)}`,
];
for (const text of broken) {
  test(`${JSON.stringify(text.slice(0, 30))} does not parse`, () => equal(parseSelector(text).is, "error"));
}

const evaluated: { text: string; labels: Labels; expected: boolean }[] = [
  { text: "", labels: {}, expected: true },
  { text: "global()", labels: {}, expected: true },
  { text: "a == 'b'", labels: { a: "b" }, expected: true },
  { text: "a == 'b'", labels: {}, expected: false },
  { text: "a != 'b'", labels: {}, expected: true },
  { text: "a in {'b', 'c'}", labels: { a: "c" }, expected: true },
  { text: "a in {}", labels: { a: "c" }, expected: false },
  { text: "a not in {'b'}", labels: {}, expected: true },
  { text: "a not in {'b'}", labels: { a: "b" }, expected: false },
  { text: "has(a)", labels: { a: "" }, expected: true },
  { text: "has(toString)", labels: {}, expected: false },
  { text: "a contains 'x' && a starts with 'y' && a ends with 'z'", labels: { a: "yxz" }, expected: true },
  { text: "a contains 'x'", labels: {}, expected: false },
  { text: "!(has(a) || has(b))", labels: { b: "" }, expected: false },
];
for (const { text, labels, expected } of evaluated) {
  test(`${text || "the empty selector"} is ${expected} of ${JSON.stringify(labels)}`, () => {
    const parsed = parseSelector(text);
    equal(parsed.is === "selector" && evaluateSelector(parsed.selector, labels), expected);
  });
}

test("a prefix goes to every label name", () => {
  const parsed = parseSelector("a == 'b' && !has(c) || d in {'e'} || all()");
  equal(
    parsed.is === "selector" && printSelector(prefixSelector(parsed.selector, "pcns.")),
    '((pcns.a == "b" && !has(pcns.c)) || pcns.d in {"e"} || all())',
  );
});

const label = fc.stringMatching(/^[a-z]{1,3}$/);
const value = fc.string({ unit: fc.constantFrom("a", "b", " ", '"', "&", "(") });
const { selector } = fc.letrec<{ selector: Selector }>((tie) => ({
  selector: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<Selector>({ is: "all" }, { is: "global" }),
    label.map((name): Selector => ({ is: "has", label: name })),
    fc
      .tuple(fc.constantFrom("==", "!=", "contains", "starts with", "ends with"), label, value)
      .map(([is, name, text]): Selector => ({ is, label: name, value: text })),
    fc
      .tuple(fc.constantFrom("in", "not in"), label, fc.uniqueArray(value))
      .map(([is, name, values]): Selector => ({ is, label: name, values: values.sort() })),
    tie("selector").map((operand): Selector => (operand.is === "not" ? operand : { is: "not", operand })),
    fc
      .tuple(fc.constantFrom("and", "or"), fc.array(tie("selector"), { minLength: 2, maxLength: 3 }))
      .map(([is, operands]): Selector => ({ is, operands })),
  ),
}));

test("the normal form is its own normal form and selects the same", () => {
  fc.assert(
    fc.property(selector, fc.dictionary(label, value), (wanted, labels) => {
      const text = printSelector(wanted);
      equal(normalForm(text), text);
      const parsed = parseSelector(text);
      equal(parsed.is === "selector" && evaluateSelector(parsed.selector, labels), evaluateSelector(wanted, labels));
    }),
  );
});

test("a selector of 64 KB parses, and any text parses or does not, without throwing", () => {
  const long = Array.from({ length: 5000 }, (_, at) => `l${at} == 'v'`).join(" && ");
  equal(parseSelector(long).is, "selector");
  equal(parseSelector(`a${" ".repeat(65_536)}`).is, "error");
  equal(parseSelector(`a starts${" ".repeat(65_536)}`).is, "error");
  equal(parseSelector("'".repeat(65_535)).is, "error");
  const piece = fc.constantFrom("a", " ", "==", "'", "&&", "(", ")", "has(", "in", "{", "}", "!", ",", "not", "all()");
  fc.assert(
    fc.property(fc.array(piece), (pieces) => ["selector", "error"].includes(parseSelector(pieces.join("")).is)),
  );
});
