// docs/changing-cattail.md, walked: every file it names is there, and each change, done by half in a copy of the checkout,
// makes the test fail that the page names for it. So the page cannot promise a net that is not there.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";

const page = readFileSync("docs/changing-cattail.md", "utf8");
const named = [...page.matchAll(/`((?:src|test|docs|tools|examples)\/[\w./-]+|[A-Z]+\.md|layers\.json)`/g)];

test("every file that the page names is there", () => {
  const files = named.map(([, file = ""]) => file);
  ok(files.length > 30, "the page's files were not found");
  deepEqual(
    files.filter((file) => !existsSync(file)),
    [],
  );
});

test("the page counts its own rows", () => {
  const counted = [...page.matchAll(/^\| \[([^\]]+)\]\(#[\w-]+\) \| (\d+) \| (\d+) \|$/gm)].map(([, ...row]) => row);
  const sections = page.split(/^## /m).slice(1, -1); // the last one is about every change
  deepEqual(
    counted,
    sections.map((section) => {
      const rows = section.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| file"));
      const made = rows.filter((row) => row.includes("npm run docs"));
      return [section.slice(0, section.indexOf("\n")), `${rows.length - made.length}`, `${made.length}`];
    }),
  );
});

type Edit = { file: string; old?: string; new: string };
type Change = {
  name: string;
  /** What an engineer would do first, and leave at that. */
  half: Edit[];
  /** What then fails, by the page. */
  fails: { test: string; saying: RegExp }[];
};

const pageIsOld = /✖ the reference page is fresh/;

const changes: Change[] = [
  {
    name: "a conversion changed without its test",
    half: [
      {
        file: "src/calico/convert/pod/pod-endpoint.ts",
        old: "const profile = `kns.",
        new: "const profile = `namespace.",
      },
    ],
    fails: [{ test: "src/calico/convert/pod/pod.test.ts", saying: /namespace\./ }],
  },
  {
    name: "a setting without its page, and without a reader",
    half: [
      {
        file: "src/typha/settings/cattail-settings.ts",
        old: "export const cattailSettings = {",
        new: `export const cattailSettings = {
  walkedSetting: parameter("cattail", "WalkedSetting", { type: bool, default: false, says: "Nothing." }),`,
      },
    ],
    fails: [
      { test: "src/typha/settings/describe-settings.test.ts", saying: pageIsOld },
      { test: "test/house/tables-in-use.test.ts", saying: /walkedSetting/ },
    ],
  },
  {
    name: "a flag of ctl that another one has the letter of, without its page",
    half: [
      {
        file: "src/programs/ctl/commands.ts",
        old: '{ name: "skip-exists", says:',
        new: '{ name: "walked", short: "n", says: "nothing" },\n      { name: "skip-exists", says:',
      },
    ],
    fails: [
      { test: "src/programs/ctl/ctl-page.test.ts", saying: pageIsOld },
      { test: "src/programs/ctl/main.test.ts", saying: /✖ no command has a flag, or a letter, twice/ },
    ],
  },
  {
    name: "a metric without its page, and without anybody who feeds it",
    half: [
      {
        file: "src/typha/server/reporting/metric-table.ts",
        old: "export const ownMetrics = {",
        new: 'export const ownMetrics = {\n  cattail_walked: { type: "gauge", help: "Nothing." },',
      },
    ],
    fails: [
      { test: "src/typha/server/reporting/metrics-page.test.ts", saying: pageIsOld },
      { test: "test/house/tables-in-use.test.ts", saying: /cattail_walked/ },
    ],
  },
  {
    name: "a metric that the fan-out counts and the table lacks",
    half: [
      {
        file: "src/typha/fanout/counting/metrics.ts",
        old: "export const addedMetrics = [",
        new: 'export const addedMetrics = [\n  "cattail_walked_total",',
      },
    ],
    fails: [
      {
        test: "test/conformance/fanout-metrics.test.ts",
        saying: /cattail_walked_total|everything the fan-out counts is shown/,
      },
    ],
  },
  {
    name: "an error without its row",
    half: [
      {
        file: "src/base/lib/walked.ts",
        new: 'import { CattailError } from "./cattail-error.ts";\nexport const walked = () => new CattailError("WALKED", { problem: "", next: "" });\n',
      },
    ],
    fails: [{ test: "test/house/error-codes.test.ts", saying: /WALKED/ }],
  },
  {
    name: "a command without its row in the README",
    half: [
      {
        file: "src/programs/main/main.ts",
        old: "const entries: readonly Entry[] = [",
        new: `const entries: readonly Entry[] = [
  {
    name: "walk",
    says: "nothing",
    load: async () => new Command("walk"),
  },`,
      },
    ],
    fails: [{ test: "test/house/tables-in-use.test.ts", saying: /walk/ }],
  },
  {
    name: "a kind without a feed, and without its page",
    half: [
      {
        file: "src/calico/kinds/kubernetes/walked.ts",
        new: `import { servedKind } from "../kind.ts";
export const walked = servedKind("walk.example/v1/walkeds", "cluster", { carries: "optional" });
`,
      },
      {
        file: "src/calico/kinds/registry.ts",
        old: "const registry = {",
        new: 'import { walked } from "./kubernetes/walked.ts";\nconst registry = {\n  Walked: walked,',
      },
    ],
    fails: [
      { test: "test/house/tables-in-use.test.ts", saying: /Walked/ },
      { test: "src/calico/kinds/kinds-page.test.ts", saying: pageIsOld },
    ],
  },
  {
    name: "a FELIX_ setting without its page, and without a reader",
    half: [
      {
        file: "src/node/settings/network-settings.ts",
        old: 'export const interfaceSettings = group("Interfaces", {',
        new: 'export const interfaceSettings = group("Interfaces", {\n  WalkedSetting: row({ type: bool, default: false, says: "Nothing." }),',
      },
    ],
    fails: [
      { test: "src/node/settings/page.test.ts", saying: pageIsOld },
      { test: "test/house/node-settings.test.ts", saying: /WalkedSetting/ },
    ],
  },
  {
    name: "a finding about nodes without its page, and that nothing finds",
    half: [
      {
        file: "src/node/diagnosis/catalogue.ts",
        old: "export const nodeCatalogue = {",
        new: 'export const nodeCatalogue = {\n  WALKED: { level: "note", title: "t", why: "w", fix: "f" },',
      },
    ],
    fails: [
      { test: "src/programs/doctor/page.test.ts", saying: pageIsOld },
      { test: "test/house/tables-in-use.test.ts", saying: /WALKED/ },
    ],
  },
  {
    name: "a breakage of the lab without its row, and without a finding",
    half: [
      {
        file: "src/programs/lab/breakages/index.ts",
        old: "  ...networkBreakages,",
        new: `  ...networkBreakages,
  { name: "walked", code: "WALKED", says: "nothing", make: async () => undefined, mend: async () => undefined },`,
      },
    ],
    fails: [{ test: "src/programs/lab/breakages/breakages.test.ts", saying: /walked[\s\S]*WALKED/ }],
  },
  {
    name: "a column of ctl that calicoctl does not have",
    half: [
      {
        file: "src/calico/kinds/policy/tier.ts",
        old: "columns: { ps: [nameCell, orderCell] },",
        new: "columns: { ps: [nameCell, orderCell, orderCell] },",
      },
    ],
    fails: [{ test: "src/calico/kinds/registry.test.ts", saying: /ORDER/ }],
  },
  {
    name: "a field of a rule that neither verdicts nor packet rules ask",
    half: [
      {
        file: "src/calico/policy/rule.ts",
        old: "  readonly notProtocol: number | undefined;",
        new: "  readonly notProtocol: number | undefined;\n  readonly walked: number | undefined;",
      },
    ],
    fails: [{ test: "test/house/tables-in-use.test.ts", saying: /walked/ }],
  },
  {
    name: "a public name without comment, use and row",
    half: [
      { file: "src/typha/client/walked.ts", new: "export const walked = 1;\n" },
      {
        file: "src/typha/client/index.ts",
        old: "export { CattailError",
        new: 'export { walked } from "./walked.ts";\nexport { CattailError',
      },
    ],
    fails: [{ test: "tools/library-page.test.ts", saying: /put a \/\*\* comment \*\/ in front of walked/ }],
  },
];

describe("in a copy of the checkout", () => {
  let copy = "";

  before(() => {
    copy = mkdtempSync(join(tmpdir(), "cattail-engineer-"));
    for (const name of [
      "src",
      "tools",
      "docs/reference",
      "examples",
      "test/conformance",
      "test/house",
      "test/kit",
      "README.md",
      "package.json",
    ]) {
      mkdirSync(dirname(join(copy, name)), { recursive: true });
      cpSync(name, join(copy, name), { recursive: true });
    }
    symlinkSync(resolve("node_modules"), join(copy, "node_modules"));
  });

  after(() => rmSync(copy, { recursive: true, force: true }));

  const tests = [...new Set(changes.flatMap(({ fails }) => fails.map(({ test }) => test)))];

  test("all the tests that the page names pass", () => {
    for (const file of tests) {
      const { status, output } = run(copy, file);
      equal(status, 0, output);
    }
  });

  for (const { name, half, fails } of changes) {
    test(`${name} is noticed by ${fails.map(({ test }) => test).join(" and ")}`, () => {
      const undo = half.map((edit) => apply(copy, edit));
      try {
        for (const { test: file, saying } of fails) {
          ok(page.includes(`\`${file}\``), `the page does not name ${file}`);
          const { status, output } = run(copy, file);
          equal(status, 1, output);
          match(output, saying);
        }
      } finally {
        for (const back of undo) back();
      }
    });
  }

  test("the pages that fall behind are made anew by one command", () => {
    const row = changes.find(({ name }) => name.startsWith("a metric without"));
    const undo = row?.half.map((edit) => apply(copy, edit)) ?? [];
    execFileSync(process.execPath, ["tools/generate-docs.ts"], { cwd: copy, stdio: "pipe" });
    equal(run(copy, "src/typha/server/reporting/metrics-page.test.ts").status, 0);
    for (const back of undo) back();
  });
});

/** Gives what takes the edit back. */
function apply(copy: string, edit: Edit): () => void {
  const file = join(copy, edit.file);
  if (edit.old === undefined) {
    writeFileSync(file, edit.new);
    return () => rmSync(file);
  }
  const text = readFileSync(file, "utf8");
  ok(text.includes(edit.old), `${edit.file} has no "${edit.old}"`);
  writeFileSync(file, text.replace(edit.old, edit.new));
  return () => writeFileSync(file, text);
}

function run(copy: string, file: string): { status: number | null; output: string } {
  // A test runner that finds itself inside another speaks a binary protocol instead of text.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--test", file], {
    cwd: copy,
    env,
    encoding: "utf8",
  });
  return { status, output: stdout + stderr };
}
