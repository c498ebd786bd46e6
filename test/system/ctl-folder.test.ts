// The verbs of ctl over a folder: no server, the same words, and files that a person can read.
import { deepEqual, equal, match } from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { eventually } from "../kit/eventually.ts";
import { type CtlRunOptions, ctl } from "../kit/run-ctl.ts";

const root = mkdtempSync(join(tmpdir(), "cattail-ctl-folder-"));
after(() => rmSync(root, { recursive: true, force: true }));
let folder: string;
let count = 0;
beforeEach(() => {
  folder = join(root, `d${count++}`);
  mkdirSync(folder);
});

const run = (words: readonly string[], options: Omit<CtlRunOptions, "env"> = {}) =>
  ctl(words, { env: { DATASTORE_TYPE: "directory", DATASTORE_DIRECTORY: folder }, ...options });
const object = (kind: string, name: string, spec: object) =>
  JSON.stringify({ apiVersion: "projectcalico.org/v3", kind, metadata: { name }, spec });
const said = (out: string) => ({ rc: 0, out, err: "" });
const files = () => readdirSync(folder, { recursive: true }).map(String).sort();

test("a pool lives: applied, shown, patched, labelled, replaced, deleted", async () => {
  const pool = object("IPPool", "p", { cidr: "10.0.0.0/16" });
  deepEqual(await run(["create", "-f", "-"], { stdin: pool }), said("Successfully created 1 'IPPool' resource(s)\n"));
  match((await run(["create", "-f", "-"], { stdin: pool })).err, /resource already exists: IPPool\(p\)/);
  deepEqual(
    await run(["patch", "ippool", "p", "-p", '{"spec":{"natOutgoing":true}}']),
    said("Successfully patched 1 'IPPool' resource\n"),
  );
  const remove = '[{"op":"replace","path":"/spec/vxlanMode","value":"Always"}]';
  deepEqual(
    await run(["patch", "ippool", "p", "-t", "json", "-p", remove]),
    said("Successfully patched 1 'IPPool' resource\n"),
  );
  deepEqual(
    await run(["label", "ippool", "p", "a=1", "b=2"]),
    said("Successfully set label a on ippool p\nSuccessfully set label b on ippool p\n"),
  );
  const { out } = await run(["get", "ippool", "p", "-o", "json", "--export"]);
  deepEqual(JSON.parse(out).metadata, { name: "p", labels: { a: "1", b: "2" } });
  equal(JSON.parse(out).spec.vxlanMode, "Always");
  deepEqual(await run(["replace", "-f", "-"], { stdin: pool }), said("Successfully replaced 1 'IPPool' resource(s)\n"));
  deepEqual(await run(["delete", "ippool", "p"]), said("Successfully deleted 1 'IPPool' resource(s)\n"));
  match((await run(["get", "ippool", "p"])).err, /^resource does not exist: IPPool\(p\)/);
});

test("pools of one file that overlap: the first is made, the second refused, as if they came one after the other", async () => {
  const pools = ["a", "b", "c"].map((name) => object("IPPool", name, { cidr: "10.0.0.0/16" })).join("\n---\n");
  for (let attempt = 0; attempt < 5; attempt++) {
    const { rc, err } = await run(["create", "-f", "-"], { stdin: pools });
    equal(rc, 1);
    match(err, /IPPool\(b\) CIDR overlaps with IPPool\(a\).*IPPool\(c\) CIDR overlaps with IPPool\(a\)/);
    deepEqual((await run(["get", "ippools", "-o", "name"])).out, "ippool/a\n");
    await run(["delete", "ippool", "a"]);
  }
});

test("the same object twice: the last one counts", async () => {
  const twice = [1, 2, 3, 4].map((n) => object("GlobalNetworkSet", "s", { nets: [`10.${n}.0.0/16`] })).join("\n---\n");
  deepEqual(
    await run(["apply", "-f", "-"], { stdin: twice }),
    said("Successfully applied 4 'GlobalNetworkSet' resource(s)\n"),
  );
  deepEqual(JSON.parse((await run(["get", "gnetsets", "s", "-o", "json"])).out).spec.nets, ["10.4.0.0/16"]);
});

test("a dry run writes no file, and says what would happen", async () => {
  await run(["apply", "-f", "-"], { stdin: object("GlobalNetworkSet", "old", { nets: ["10.0.0.0/8"] }) });
  const before = files();
  const stdin = [
    object("GlobalNetworkSet", "old", { nets: ["10.0.0.0/8"] }),
    object("GlobalNetworkSet", "new", {}),
    object("GlobalNetworkSet", "new", { nets: ["10.1.0.0/16"] }),
    object("Tier", "t", { order: 7 }),
    object("GlobalNetworkPolicy", "t.p", { tier: "t", selector: "all()" }),
  ].join("\n---\n");
  const { rc, out, err } = await run(["apply", "--dry-run", "-f", "-"], { stdin });
  deepEqual([rc, err], [0, ""]);
  deepEqual(out.trimEnd().split("\n"), [
    "GlobalNetworkSet(old) would stay as it is",
    "GlobalNetworkSet(new) would be created",
    "GlobalNetworkSet(new) would be changed",
    "Tier(t) would be created",
    "GlobalNetworkPolicy(t.p) would be created",
    "Nothing was written: this was a dry run",
  ]);
  deepEqual(files(), before);
});

test("a dry run refuses what apply refuses", async () => {
  const stdin = object("GlobalNetworkPolicy", "t.p", { tier: "t", selector: "all()" });
  const dry = await run(["apply", "--dry-run", "-f", "-"], { stdin });
  const wet = await run(["apply", "-f", "-"], { stdin });
  deepEqual([dry.rc, dry.err], [wet.rc, wet.err]);
  match(dry.err, /resource does not exist: Tier\(t\)/);
});

test("diff: exit code 1 and the lines that change; 0 and nothing afterwards; 2 for what cannot be told", async () => {
  const pool = (natOutgoing: boolean) => object("IPPool", "p", { cidr: "10.0.0.0/16", natOutgoing });
  await run(["apply", "-f", "-"], { stdin: pool(false) });
  const changed = await run(["diff", "-f", "-"], { stdin: pool(true) });
  equal(changed.rc, 1);
  match(
    changed.out,
    /^--- stored\/IPPool\/p\n\+\+\+ applied\/IPPool\/p\n@@ -\d+,\d+ \+\d+,\d+ @@\n[^+-]*\+ {2}natOutgoing: true\n[^+-]*$/,
  );
  await run(["apply", "-f", "-"], { stdin: pool(true) });
  deepEqual(await run(["diff", "-f", "-"], { stdin: pool(true) }), said(""));
  equal((await run(["diff", "-f", "none.yaml"])).rc, 2);
  equal((await run(["diff"])).rc, 2);
  equal((await run(["diff", "-f", "-"], { stdin: object("IPPool", "q", { cidr: "x" }) })).rc, 2);
});

test("whoever reads on a terminal is told where the refused object stands", async () => {
  const file = join(root, "pools.yaml");
  writeFileSync(
    file,
    `---\n${object("IPPool", "good", { cidr: "10.0.0.0/16" })}\n---\n${object("IPPool", "bad", { cidr: "x" })}\n`,
  );
  const plain = await run(["validate", "-f", file]);
  equal(plain.err.includes("pools.yaml"), false);
  const { err } = await run(["validate", "-f", file], { isTerminal: true });
  match(err, new RegExp(`\\n${file}:4: IPPool\\(bad\\): spec\\.cidr `));
});

test("what is refused before anything is asked for", async () => {
  const rows: [words: string[], says: RegExp][] = [
    [["create"], /create needs --filename/],
    [["create", "globalnetworkset", "oops"], /it takes no words such as "globalnetworkset oops"/],
    [["get"], /failed to get resources: a KIND is needed/],
    [["delete"], /delete needs a KIND/],
    [
      ["patch", "ippool", "p", "-t", "odd", "-p", "{}"],
      /unknown patch type 'odd', expected one of: strategic, merge, json/,
    ],
    [["get", "ippools", "-w", "-o", "go-template={{.}}"], /cannot be used with --watch/],
  ];
  for (const [words, says] of rows) {
    const { rc, err } = await run(words);
    equal(rc, 1, words.join(" "));
    match(err, says);
  }
  deepEqual(files(), []);
});

test("get -w shows changes as rows, and ends well", async () => {
  const stopping = new AbortController();
  let shown = "";
  const watching = run(["get", "globalnetworksets", "-w"], {
    signal: stopping.signal,
    onOut: (out) => {
      shown = out;
    },
  });
  await eventually(() => shown.startsWith("EVENT"), "the headings, which come with the first list");
  await run(["apply", "-f", "-"], { stdin: object("GlobalNetworkSet", "s", {}) });
  // A folder is looked at now and then: what comes and goes in between was never there.
  await eventually(() => /ADDED +s\n/.test(shown), "the new one");
  await run(["label", "globalnetworkset", "s", "a=1"]);
  await eventually(() => /MODIFIED +s\n/.test(shown), "the changed one");
  await run(["delete", "globalnetworkset", "s"]);
  await eventually(() => /DELETED +s\n/.test(shown), "the one that went");
  stopping.abort(130);
  const { rc, out, err } = await watching;
  deepEqual([rc, err], [0, ""]);
  match(out, /^EVENT +NAME\n/);
  match(out, /DELETED +s\n$/);
});

test("a manifest that cannot be read is told beside the rest", async () => {
  await run(["apply", "-f", "-"], { stdin: object("GlobalNetworkSet", "good", {}) });
  writeFileSync(join(folder, "bad.yaml"), object("GlobalNetworkSet", "bad", { nets: 7 }));
  const { rc, out, err } = await run(["get", "globalnetworksets"]);
  equal(rc, 1);
  match(out, /good/);
  match(err, /^GlobalNetworkSet\(bad\) cannot be read: spec\.nets/);
  equal(readFileSync(join(folder, "bad.yaml"), "utf8").includes("7"), true);
});
