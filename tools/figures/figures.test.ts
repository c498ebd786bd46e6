// Pages and plots say what the results say, and the pieces that make them do what they should.
import { deepEqual, equal, match, ok, throws } from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, test } from "node:test";
import { fill, madeFrom } from "./pages.ts";
import { plotsFolder } from "./pictures.ts";
import { newestResults, parseRecords, type Sitting } from "./sitting.ts";
import { wordsOf } from "./step.ts";
import { figureSteps } from "./steps.ts";
import { barChart, lineChart, shown, ticksTo } from "./svg.ts";

describe("what is made from bench/results is as `npm run plots` makes it", () => {
  const made = madeFrom(newestResults());
  for (const [file, content] of made) test(file, () => equal(readFileSync(file, "utf8"), content));
  test("and there is no plot of something else", () => {
    const plots = globSync(`${plotsFolder}/*`).sort();
    deepEqual(plots, [...made.keys()].filter((file) => file.startsWith(plotsFolder)).sort());
  });
});

test("every step of the results is one that can be run again", () => {
  const known = figureSteps.map(({ name }) => name);
  deepEqual(
    Object.keys(newestResults().steps).filter((name) => !known.includes(name)),
    [],
  );
});

test("every command of a step names a file that exists", () => {
  for (const { long, short } of figureSteps) {
    for (const command of [...long, ...short]) readFileSync(command.split(" ")[0] ?? "");
  }
});

test("every bench, campaign and fuzzer that is a command is a step", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: { [name: string]: string } }; // our own file
  const programs = Object.entries(scripts).flatMap(([name, command]) =>
    /^(?:bench|campaign|fuzz):/.test(name) && name !== "fuzz:ctl" // is judged by the original, and measures nothing
      ? [command.replace(/^(?:CAMPAIGN=long )?node (?:tools\/run-tests\.ts )?/, "")]
      : [],
  );
  const known = figureSteps.flatMap(({ long }) => long).join("\n");
  deepEqual(
    programs.filter((program) => !known.includes(program)),
    [],
  );
});

test("what is measured beside the original is named by options, and only where it is given", () => {
  const steps = figureSteps.filter(({ against }) => against !== undefined);
  deepEqual(
    steps.map(({ name }) => name),
    ["start", "fanout", "ctl", "ipam", "cni", "node", "bird", "startup", "policy"],
  );
  const all = { typha: "t", program: "calico", plugins: "/p", confd: "/c", bird: "/b", release: "/r" };
  for (const { name, long, short, against } of steps) {
    for (const command of [...long, ...short]) {
      deepEqual(against?.({}, command), [], name);
      match(against?.(all, command)[0] ?? "", /^--(?:against|before)$/, name);
    }
  }
});

test("what a bench is told of the original is an option that it has", () => {
  const all = { typha: "t", program: "calico", plugins: "/p", confd: "/c", bird: "/b", release: "/r" };
  for (const { long, short, against } of figureSteps) {
    for (const command of [...long, ...short]) {
      const [file = "", ...words] = [...wordsOf(command), ...(against?.(all, command) ?? [])];
      const folder = globSync(`${dirname(file)}/*.ts`).map((name) => readFileSync(name, "utf8"));
      for (const flag of words.filter((word) => word.startsWith("--"))) {
        const option = flag.slice(2);
        const isThere = folder.some((text) => new RegExp(`(?:^|[^\\w-])"?${option}"?: \\{`, "m").test(text));
        ok(isThere, `${file} has no option ${flag}`);
      }
    }
  }
});

const empty: Sitting = { steps: {} };
const blocks = { one: () => "1", two: () => "2" };
describe("what stands between markers is replaced, and nothing else", () => {
  for (const { name, page, filled } of [
    { name: "no markers", page: "text\n", filled: "text\n" },
    {
      name: "empty block",
      page: "a\n<!-- figures:one -->\n<!-- /figures:one -->\nb\n",
      filled: "a\n<!-- figures:one -->\n1\n<!-- /figures:one -->\nb\n",
    },
    {
      name: "two blocks with something old in them",
      page: "<!-- figures:two -->\nold\n<!-- /figures:two -->\nmine\n<!-- figures:one -->\nold\nold\n<!-- /figures:one -->",
      filled: "<!-- figures:two -->\n2\n<!-- /figures:two -->\nmine\n<!-- figures:one -->\n1\n<!-- /figures:one -->",
    },
  ]) {
    test(name, () => equal(fill(page, blocks, empty), filled));
  }
  test("a table that is not known, or not closed, is an error", () => {
    throws(() => fill("<!-- figures:three -->\n<!-- /figures:three -->", blocks, empty), /no table "three"/);
    throws(() => fill("<!-- figures:one -->\n", blocks, empty), /not closed/);
  });
});

test("lines of results become records, with what is the same for all of them once", () => {
  const circumstances = { command: "c", date: "d", machine: "m", versions: { node: "v" }, load: 1 };
  const lines = [
    { of: "a", seed: 1, figures: { x: 1 }, ...circumstances },
    { of: "b", figures: { x: 2 }, ...circumstances },
  ].map((line) => JSON.stringify(line));
  const { records, circumstances: seen } = parseRecords(`${lines.join("\n")}\n`);
  deepEqual(records, [
    { of: "a", seed: 1, figures: { x: 1 } },
    { of: "b", figures: { x: 2 } },
  ]);
  equal(seen?.machine, "m");
  deepEqual(parseRecords("").records, []);
});

describe("plots", () => {
  const about = { title: "A < B & C", desc: "what it shows" };
  const bars = barChart({ ...about, axis: "ms", groups: [{ label: "one", bars: [{ series: "x", value: 1234.5 }] }] });
  const series = [{ name: "x", points: [10, 100].map((x) => ({ x, y: 1 / x })) }];
  const lines = lineChart({ ...about, xAxis: "clients", yAxis: "µs", series });
  for (const [kind, svg] of Object.entries({ bars, lines })) {
    test(`${kind}: title, description, both colour schemes, and no number that is none`, () => {
      match(svg, /^<svg [^>]*role="img" aria-labelledby="title desc">\n<title id="title">A &lt; B &amp; C<\/title>/);
      match(svg, /<desc id="desc">what it shows<\/desc>/);
      match(svg, /prefers-color-scheme: dark/);
      equal(/NaN|Infinity|undefined/.test(svg), false);
    });
  }
  test("a bar carries its number", () => match(bars, />1,235</));
});

test("axes end at a round number at or above the largest value", () => {
  deepEqual(ticksTo(0.58), [0, 0.2, 0.4, 0.6]);
  deepEqual(ticksTo(47), [0, 10, 20, 30, 40, 50]);
  deepEqual(ticksTo(1), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  deepEqual(ticksTo(0), [0, 0.2, 0.4, 0.6, 0.8, 1]);
});

test("numbers are shown with the digits that matter", () => {
  deepEqual([0, 0.123, 9.87, 12.34, 123.4, 1234567, Number.NaN].map(shown), [
    "0",
    "0.12",
    "9.87",
    "12.3",
    "123",
    "1,234,567",
    "–",
  ]);
});
