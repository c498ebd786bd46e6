import { deepEqual, doesNotMatch, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { exitCodeOf, type Finding, passed, problem } from "./finding.ts";
import { reportJson, reportText } from "./report.ts";

const sections = (...findings: Finding[]) => [{ name: "settings", findings }];
const broken = problem("SETTINGS_INVALID", "TYPHA_SERVERPORT is x\nand more");
const warning = problem("RIGHT_MISSING_OPTIONAL", "may not list y", { fix: "first line\nsecond line" });
const note = problem("API_MISSING", "no ClusterNetworkPolicy");

const exits: { name: string; findings: Finding[]; code: number }[] = [
  { name: "all is well", findings: [passed("fine")], code: 0 },
  { name: "a note is no warning", findings: [passed("fine"), note], code: 0 },
  { name: "a warning", findings: [passed("fine"), warning, note], code: 1 },
  { name: "broken beats a warning", findings: [warning, broken], code: 2 },
  { name: "nothing looked at is nothing wrong", findings: [], code: 0 },
];
for (const { name, findings, code } of exits) {
  test(`exit code ${code}: ${name}`, () => equal(exitCodeOf(sections(...findings)), code));
}

test("every problem is told with its code, why it matters and what mends it", () => {
  const text = reportText(sections(passed("fine"), broken, warning), { isColoured: false });
  match(
    text,
    /^settings\n {2}ok {7}fine\n {2}BROKEN {3}TYPHA_SERVERPORT is x\n {11}and more \(SETTINGS_INVALID\)\n +why: .*\n +fix: /,
  );
  match(text, / {11}fix: first line\n {16}second line\n/);
  match(text, /1 broken, 1 warning, 1 check passed\.$/);
  doesNotMatch(text, new RegExp(String.fromCharCode(27)));
});

test("what a peer said cannot write to the terminal", () => {
  const said = problem("SERVER_PROTOCOL", "it said \u001b[2J");
  match(reportText(sections(said), { isColoured: false }), /it said \\u001b\[2J/);
});

test("colours come only when asked for", () => {
  match(reportText(sections(broken), { isColoured: true }), new RegExp(`${String.fromCharCode(27)}\\[31mBROKEN`));
});

test("as data, findings keep their section, code and level", () => {
  const report = JSON.parse(reportJson(sections(passed("fine"), broken), undefined)) as { findings: object[] };
  deepEqual(report, {
    exitCode: 2,
    findings: [
      { section: "settings", level: "ok", what: "fine" },
      { section: "settings", ...broken },
    ],
  });
});
