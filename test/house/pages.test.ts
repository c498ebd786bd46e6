// What pages and comments name is there: files, headings, npm scripts, settings, metrics. A reader who follows a word that
// leads nowhere stops trusting the others.
import { deepEqual, ok } from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { settingsTable as felixTable } from "../../src/node/settings/index.ts";
import { startupSettingsTable as startupTable } from "../../src/node/startup/index.ts";
import { nodeMetricTable } from "../../src/programs/node/metrics-page.ts";
import { metricTable } from "../../src/typha/server/index.ts";
import { settingNames, settingsTable } from "../../src/typha/settings/index.ts";
import { anchorsOf, codeOf, linksOf, type Page, pages } from "../kit/pages.ts";

const all = pages();
const ours = all.filter(({ file }) => !file.startsWith("test/vectors/"));

/** Complaints of all pages, each with its file. */
function complaints(look: (page: Page) => string[]): string[] {
  return ours.flatMap((page) => look(page).map((what) => `${page.file}: ${what}`));
}

test("there are pages", () => ok(ours.length > 20));

test("every link between pages leads to a file, and to a heading where it names one", () => {
  const byFile = new Map(all.map((page) => [page.file, page]));
  const found = complaints((page) =>
    linksOf(page).flatMap(({ target, heading }) => {
      if (!existsSync(target)) return [target];
      const there = byFile.get(target);
      return heading === undefined || (there !== undefined && anchorsOf(there).includes(heading))
        ? []
        : [`${target}#${heading}`];
    }),
  );
  deepEqual(found, []);
});

test("every page of docs/ can be reached from the README", () => {
  const reached = new Set(["README.md"]);
  for (const file of reached) {
    const page = all.find((one) => one.file === file);
    if (page === undefined) continue;
    for (const { target } of linksOf(page)) {
      for (const found of [target, ...globSync(`${target}/*.md`)]) if (found.endsWith(".md")) reached.add(found);
    }
  }
  deepEqual(
    ours.map(({ file }) => file).filter((file) => file.startsWith("docs/") && !reached.has(file)),
    [],
  );
});

// BENCH, DATE and the like stand for something.
const path = /(?<![\w./@:-])(?:src|test|docs|tools|bench|examples|web)\/[\w./-]*\w/g;
const isThere = (name: string) => /[A-Z]{3}/.test(name.replace("README", "")) || globSync(`${name}*`).length > 0;

test("every file that a page names in backticks is there", () => {
  const found = complaints((page) =>
    codeOf(page).flatMap((code) => (code.match(path) ?? []).filter((name) => !isThere(name))),
  );
  deepEqual(found, []);
});

test("every file that ARCHITECTURE.md names is there", () => {
  const page = all.find(({ file }) => file === "ARCHITECTURE.md");
  ok(page);
  const named = codeOf(page).filter((code) => /^[a-z]+\/[\w./-]+\.ts$/.test(code));
  ok(named.length > 10);
  deepEqual(
    named.filter((name) => !existsSync(`src/${name}`) && !existsSync(name)),
    [],
  );
});

test("every file that a comment names is there", () => {
  const files = globSync("{src,test,tools,bench,examples,web}/**/*.{ts,tsx}");
  ok(files.length > 100);
  const found = files.flatMap((file) => {
    const comments = readFileSync(file, "utf8").match(/^.*\/\/ .*$|^\s*\/?\*.*$/gm) ?? [];
    const named = comments.flatMap((line) => line.match(path) ?? []);
    return named.filter((name) => !isThere(name)).map((name) => `${file}: ${name}`);
  });
  deepEqual(found, []);
});

test("every `npm run` that a page names is a script", () => {
  // our own package.json
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: { [name: string]: string } };
  const isScript = (name: string) =>
    name.endsWith("NAME")
      ? Object.keys(scripts).some((script) => script.startsWith(name.slice(0, -4)))
      : name in scripts;
  const found = complaints(({ text }) =>
    [...text.matchAll(/npm (?:run )?([\w:-]+)/g)].flatMap(([whole, name = ""]) =>
      (whole.startsWith("npm run ") || ["start", "test"].includes(name)) && !isScript(name) ? [whole] : [],
    ),
  );
  deepEqual(found, []);
});

test("every TYPHA_ variable that a page names is a setting", () => {
  const known = new Set(settingNames.flatMap((name) => settingsTable[name].env));
  const found = complaints(({ text }) =>
    (text.match(/(?<![A-Z_])TYPHA_[A-Z0-9]+(?![A-Z_*…])/g) ?? []).filter((name) => !known.has(name)),
  );
  deepEqual(found, []);
});

test("every FELIX_ variable that a page names is a setting", () => {
  const known = new Set([...Object.values(felixTable), ...Object.values(startupTable)].flatMap(({ env }) => env));
  const found = complaints(({ text }) =>
    (text.match(/(?<![A-Z_])FELIX_[A-Z0-9]+(?![A-Z_*…])/g) ?? []).filter((name) => !known.has(name)),
  );
  deepEqual(found, []);
});

test("every typha_ or cattail_ metric that a page names is in a table", () => {
  const found = complaints((page) =>
    codeOf(page)
      .flatMap((code) => code.match(/(?<![\w-])(?:typha|cattail)_[a-z_]+/g) ?? [])
      .map((name) => name.replace(/_(?:sum|count)$/, ""))
      .filter((name) => !(name in metricTable || name in nodeMetricTable)),
  );
  deepEqual(found, []);
});
