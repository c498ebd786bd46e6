// Makes test/vectors/yaml: values and texts of all kinds, and what Go's YAML library makes of them. Needs Go, and the
// library in its module cache or a network:
//
//   node test/vectors/make/yaml.ts
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";

const seed = 20;
const pieces = [
  ..." |  |a|b c|y|no|on|1|0x1F|010|1_000|12e2|1.5|.5|.51_000|true|null|~|<<|1:30|-|- |---|...|:|: |#| #|'|\"".split("|"),
  ..."\n|\n\n|\n |\t|\\|{|}|[|]|,|&|*|!|>|%|@|`|?|=|é|漢字|😀|\u00a0|\u0001|z10|z2|z02|+5|-.inf|0b1|0o17|1e400".split("|"),
  "|",
  "2026-01-01",
  "2026-1-2T3:4:5Z",
  "2026-13-01",
  "99999999999999999999",
  "18446744073709551615",
  "a long text with many words in it",
  "selector == 'x' && has(y)",
  "projectcalico.org/",
];
const short = fc.array(fc.constantFrom(...pieces), { maxLength: 4 }).map((parts) => parts.join(""));
const long = fc.array(fc.constantFrom("word", "lorem", "has(x)", "'q'", " ", "é"), { maxLength: 40 }).map((words) => words.join(" "));
const text = fc.oneof(short, short, long);
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(1e6, 1e20, 1e21, 1.5e-7, 0.1, 2 ** 53),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    text,
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(short, tie("value"), { maxKeys: 4 }),
  ),
}));

const scalars = [
  ...pieces,
  "'it''s'",
  '"d\\n\\u0041"',
  "[a, b]",
  "{a: 1, b: [x]}",
  "[]",
  "{}",
  "|\n    text\n    more",
  ">-\n    folded\n    text",
  "# c",
  "a # c",
  "a#b",
  "http://x/y",
  "&x a",
  "*x",
  "!!str 5",
  "10.0.0.0/16",
  "all()",
  "plain\n    continued",
];
const scalar = fc.constantFrom(...scalars);
const key = fc.constantFrom("a", "b", "kind", "metadata", "1", "true", "'q'", '"d"', "a b", "a.b/c", "yes", "1.5", "<<");
const pair = fc.tuple(key, scalar).map(([name, one]) => [`${name}: ${one}`]);
const list = fc
  .tuple(key, fc.array(scalar, { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([name, items, isIndented]) => [`${name}:`, ...items.map((item) => `${isIndented ? "  " : ""}- ${item}`)]);
const map = fc.tuple(key, fc.array(pair, { maxLength: 3 })).map(([name, pairs]) => [`${name}:`, ...pairs.flat().map((line) => `  ${line}`)]);
const lines = fc.array(fc.oneof(pair, pair, list, map, fc.constantFrom(["# comment"], [""])), { maxLength: 4 });
const document = lines.map((all) => `${all.flat().join("\n")}\n`);

record("write", fc.sample(value, { numRuns: 600, seed }), "written");
record("read", [...scalars, ...fc.sample(document, { numRuns: 600, seed })], "read");

function record(mode: "write" | "read", cases: readonly unknown[], name: string): void {
  const input = cases.map((one) => `${JSON.stringify(one)}\n`).join("");
  const cwd = fileURLToPath(new URL("yaml", import.meta.url));
  const { status, stdout, stderr } = spawnSync("go", ["run", "-mod=mod", ".", mode], { cwd, input, maxBuffer: 2 ** 30 });
  if (status !== 0) throw new Error(stderr.toString());
  const answers = stdout.toString().trimEnd().split("\n");
  const rows = cases.map((one, index) => ({ given: one, ...(JSON.parse(answers[index] ?? "null") as object) }));
  const file = new URL(`../yaml/${name}.json`, import.meta.url);
  writeFileSync(file, `[\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]\n`);
}
