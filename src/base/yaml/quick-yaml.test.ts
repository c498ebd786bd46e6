import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { readPlainScalar, readQuickly, unsure } from "./index.ts";

// That it reads what the whole language reads is tested beside the reader of that: src/programs/ctl/yaml/quick-yaml.test.ts.

test("scalars mean what the caller says, who may leave the text to somebody else", () => {
  const words = (text: string) => {
    if (/^\d/.test(text)) throw unsure;
    return text;
  };
  deepEqual(readQuickly("a: yes\nb: [no, 'x']\n", words), { value: { a: "yes", b: ["no", "x"] } });
  equal(readQuickly("a: 5\n", words), undefined);
  deepEqual(readQuickly("a: yes\nb: [no, 5]\n"), { value: { a: true, b: [false, 5] } });
});

const scalars: { name: string; texts: string[]; values: unknown[] }[] = [
  { name: "truth values", texts: ["y", "No", "ON", "off", "yEs"], values: [true, false, true, false, "yEs"] },
  { name: "nothing", texts: ["", "~", "null", "NULL", "nUll"], values: [null, null, null, null, "nUll"] },
  {
    name: "whole numbers",
    texts: ["010", "08", "0x1F", "0b11", "0o17", "1_000", "+5", "-5", "18446744073709551615", "18446744073709551616"],
    values: [8, 8, 31, 3, 15, 1000, 5, -5, 18446744073709551615n, 2 ** 64],
  },
  {
    name: "floats",
    texts: ["1.", ".5", "1e3", "1e400", ".5e999", "1.2.3"],
    values: [1, 0.5, 1000, "1e400", ".5e999", "1.2.3"],
  },
  {
    name: "times stay text",
    texts: ["2026-01-01", "2026-13-01", "1:30"],
    values: ["2026-01-01", "2026-13-01", "1:30"],
  },
];
for (const { name, texts, values } of scalars) {
  test(`plain scalars: ${name}`, () => deepEqual(texts.map(readPlainScalar), values));
}

const megabytes = 10_000_000;
const huge: { name: string; text: string; isRead: boolean }[] = [
  { name: "a text in double quotes", text: `a: "${"x".repeat(megabytes)}"`, isRead: true },
  { name: "a text in single quotes", text: `a: '${"x".repeat(megabytes)}'`, isRead: true },
  { name: "a text in brackets", text: `{a: "${"x".repeat(megabytes)}"}`, isRead: true },
  { name: "escapes", text: `a: "${"\\n".repeat(megabytes / 2)}"`, isRead: false },
  { name: "escapes in brackets", text: `{"a": "${"\\n".repeat(megabytes / 2)}"}`, isRead: false },
  { name: "words in brackets", text: `{a: ${"x ".repeat(megabytes / 2)}}`, isRead: false },
  { name: "blanks that might come before a comment", text: `a: x${" ".repeat(megabytes)}y`, isRead: true },
];
for (const { name, text, isRead } of huge)
  test(`ten megabytes are read, or left to somebody else: ${name}`, () =>
    equal(readQuickly(text) !== undefined, isRead));
