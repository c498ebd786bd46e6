// The rules of style that a reader of the text can check: how large files and folders are, nothing caught in silence, no
// rule silenced, no test left out without a reason.
import { deepEqual, equal, ok } from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";

const mostLines = 500;
const mostFiles = 15;

const files = globSync("{src,test,tools,bench,web,examples}/**/*.{ts,tsx}").filter(
  (file) => !file.startsWith("test/vectors/") && !file.endsWith(".gen.ts") && !file.includes("node_modules"),
);
const texts = files.map((file) => ({ file, text: readFileSync(file, "utf8") }));

test("the files were found", () => ok(files.length > 500, `only ${files.length}`));

test(`no file has more than ${mostLines} lines`, () => {
  const long = texts.flatMap(({ file, text }) => {
    const lines = text.split("\n").length - 1;
    return lines > mostLines ? [`${file}: ${lines}`] : [];
  });
  deepEqual(long, [], "split them by subject; what a program writes is called NAME.gen.ts");
});

test(`no folder of src/ has more than ${mostFiles} files beside tests`, () => {
  const sources = files.filter((file) => file.startsWith("src/") && !/\.test\.tsx?$/.test(file));
  const folders = Map.groupBy(sources, dirname);
  ok(folders.size > 20, "the folders were not found");
  const large = [...folders].flatMap(([folder, held]) =>
    held.length > mostFiles ? [`${folder}: ${held.length}`] : [],
  );
  deepEqual(large, [], "give them folders of their own, by what they are about");
});

type Habit = {
  readonly name: string;
  readonly pattern: RegExp;
  readonly inTestsOnly?: true;
  readonly inComments?: true;
};

const habits: readonly Habit[] = [
  { name: "an empty catch block", pattern: /\bcatch\s*(?:\([^)]*\)\s*)?\{\s*\}/ },
  { name: "a complaint of the compiler silenced", pattern: /@ts-(?:ignore|nocheck|expect-error)/, inComments: true },
  { name: "a rule of ours silenced", pattern: /biome-ignore.*(?:noExplicitAny|noNonNullAssertion)/, inComments: true },
  { name: "a test left out", pattern: /\b(?:test|it|describe|suite)\.(?:skip|only|todo)\(/, inTestsOnly: true },
  { name: "a test left out", pattern: /\b(?:skip|only|todo): true\b/, inTestsOnly: true },
  { name: "a skip without a reason", pattern: /\b(?:t|context)\.(?:skip|todo)\(\s*\)/, inTestsOnly: true },
  { name: "a fixed seed for a property", pattern: /\bfc\.assert\([^;]*\bseed:/, inTestsOnly: true },
];

function habitsOf(text: string, isTest: boolean): string[] {
  const code = withoutWords(text);
  return habits.flatMap(({ name, pattern, inTestsOnly, inComments }) =>
    (inTestsOnly && !isTest) || !pattern.test(inComments ? text : code) ? [] : [name],
  );
}

/** Strings and comments may speak of all this. A comment leaves a word, since a catch that has one says why. */
function withoutWords(text: string): string {
  return text.replace(
    /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|\/\/.*$|\/\*[\s\S]*?\*\//gm,
    (words) => (words.startsWith("/") ? "said()" : '""'),
  );
}

test("nobody has a bad habit", () => {
  const found = texts
    .filter(({ file }) => !import.meta.filename.endsWith(file))
    .flatMap(({ file, text }) => habitsOf(text, /\.test\.tsx?$/.test(file)).map((what) => `${file}: ${what}`));
  deepEqual(found, []);
});

const cases: { text: string; habit?: string }[] = [
  { text: "try { f(); } catch {}", habit: "an empty catch block" },
  { text: "try { f(); } catch (error) { }", habit: "an empty catch block" },
  { text: "try { f(); } catch { /* it is gone already */ }" },
  { text: "try { f(); } catch (error) { count(error); }" },
  { text: 'const script = "try { f(); } catch {}";' },
  { text: "// biome-ignore lint/suspicious/noExplicitAny: why not", habit: "a rule of ours silenced" },
  { text: "// biome-ignore lint/a11y/noAutofocus: asked for" },
  { text: "// @ts-expect-error: why not", habit: "a complaint of the compiler silenced" },
  { text: `test.${"only"}("x", f)`, habit: "a test left out" },
  { text: 'test("x", { skip: true }, f)', habit: "a test left out" },
  { text: 'test("x", { skip: "no Go here" }, f)' },
  { text: "(t) => t.skip()", habit: "a skip without a reason" },
  { text: '(t) => t.skip("no root")' },
  { text: "fc.assert(fc.property(a, f), { seed: 7 })", habit: "a fixed seed for a property" },
  { text: "fc.assert(fc.property(a, f), { numRuns: 7 })" },
];
for (const { text, habit } of cases) {
  test(`${text}: ${habit ?? "nothing to say"}`, () =>
    deepEqual(habitsOf(text, true), habit === undefined ? [] : [habit]));
}

test("the linter refuses `any` and `!`", () => {
  const { linter } = JSON.parse(readFileSync("biome.json", "utf8")) as BiomeFile; // our own
  equal(linter.rules.suspicious.noExplicitAny, "error");
  equal(linter.rules.style.noNonNullAssertion, "error");
});

type BiomeFile = {
  linter: { rules: { suspicious: { noExplicitAny: string }; style: { noNonNullAssertion: string } } };
};
