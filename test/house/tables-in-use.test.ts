// What stands in a table has an effect: a setting that nobody reads, a metric that nobody feeds, a kind that feeds no syncer or
// a command that no page names is something half done. docs/changing-cattail.md sends engineers here.
import { deepEqual, ok } from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { followedKinds } from "../../src/calico/kinds/index.ts";
import { feedsOf } from "../../src/calico/syncer/feeds.ts";
import { nodeFindingCodes } from "../../src/node/diagnosis/index.ts";
import { metricTable } from "../../src/typha/server/index.ts";
import { settingNames, settingsTable } from "../../src/typha/settings/index.ts";

const sources = globSync("src/**/*.ts").filter((file) => !file.endsWith(".test.ts"));

/** All words of the sources but those of the table itself. */
function wordsOutside(...table: string[]): Set<string> {
  const files = sources.filter((file) => !table.includes(file));
  ok(files.length > 100 && files.length === sources.length - table.length, `the sources, and ${table}, were not found`);
  return new Set(files.flatMap((file) => readFileSync(file, "utf8").match(/\w+/g) ?? []));
}

test("every setting is read somewhere, or says that it is only accepted", () => {
  const words = wordsOutside(
    ...["original-settings", "cattail-settings", "check-together"].map((file) => `src/typha/settings/${file}.ts`),
  );
  // Read before there are settings, straight from the environment: src/programs/typha/typha-log.ts.
  words.add("earlyLogSeverityScreen");
  const idle = settingNames.filter(
    (name) => !words.has(name) && !settingsTable[name].says.startsWith("Accepted for compatibility"),
  );
  deepEqual(idle, [], "read them, or begin what they say with: Accepted for compatibility");
});

test("every metric is fed somewhere", () => {
  const words = wordsOutside("src/typha/server/reporting/metric-table.ts");
  deepEqual(
    Object.keys(metricTable).filter((name) => !words.has(name)),
    [],
  );
});

test("the kinds that Typha follows are those that feed a syncer", () => {
  const feeds = (["kubernetes", "etcdv3"] as const).flatMap((flavour) => feedsOf({ flavour, usePodCidr: false }));
  const fed = new Set(feeds.flatMap(({ kind, syncers }) => (syncers.length > 0 ? [kind] : [])));
  deepEqual([...followedKinds].sort(), [...fed].sort());
});

test("every command of the table in src/programs/main/main.ts is in the README's table, and none besides", () => {
  const commands = [...readFileSync("src/programs/main/main.ts", "utf8").matchAll(/^ {4}name: "(\w+)",$/gm)].map(
    ([, name]) => name,
  );
  const listed = [...readFileSync("README.md", "utf8").matchAll(/^\| `cattail (\w+)` \|/gm)].map(([, name]) => name);
  ok(commands.length > 0);
  deepEqual(listed.sort(), commands.sort());
});

test("every finding about nodes and paths is found by something", () => {
  const words = wordsOutside("src/node/diagnosis/catalogue.ts");
  deepEqual(
    nodeFindingCodes.filter((code) => !words.has(code)),
    [],
  );
});

/** Not asked of packets: what the rule does, what it was, and a part that no node looks at. */
const notAsked = ["action", "given", "hasHttp"];

test("every field of a rule is asked by the verdicts and by the packet rules", () => {
  const fieldsOf = (type: string) => {
    const body = new RegExp(`export type ${type} = \\{\\n([\\s\\S]*?)\\n\\};`).exec(
      readFileSync("src/calico/policy/rule.ts", "utf8"),
    )?.[1];
    return [...(body ?? "").matchAll(/^ {2}readonly (\w+)/gm)].map(([, name = ""]) => name);
  };
  const fields = [...fieldsOf("Rule"), ...fieldsOf("Side")].filter((name) => !notAsked.includes(name));
  ok(fields.length > 12, "the fields were not found");
  for (const file of ["src/calico/policy/match-rule.ts", "src/node/dataplane/nft/render-rule.ts"]) {
    const words = new Set(readFileSync(file, "utf8").match(/\w+/g));
    deepEqual(
      fields.filter((name) => !words.has(name)),
      [],
      `${file} does not ask`,
    );
  }
});
