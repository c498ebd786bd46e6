// Writing to a folder: what the files look like afterwards, what hand edits do to it, and what two that have the folder open see of each other.
import { deepEqual, equal, match, notEqual, ok, rejects } from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { afterTest } from "../../../../test/kit/after-test.ts";
import { systemClock } from "../../../base/lib/index.ts";
import { FileLock } from "../../../base/linux/files.ts";
import type { Revision, WatchEvent } from "../datastore.ts";
import { type DirectoryDatastore, type DirectoryOptions, openDirectoryDatastore } from "./directory-datastore.ts";

const signal = new AbortController().signal;
const a = { namespace: "", name: "a" };
const tier = (name: string, order = 1) => ({ metadata: { name }, spec: { order } });
const tierText = (name: string, order = 1) =>
  `apiVersion: projectcalico.org/v3\nkind: Tier\nmetadata: {name: ${name}}\nspec: {order: ${order}}\n`;

async function folderOf(t: TestContext, files: { [name: string]: string } = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "cattail-writes-"));
  afterTest(t).defer(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

async function open(
  t: TestContext,
  path: string,
  options: Partial<DirectoryOptions> = {},
): Promise<DirectoryDatastore> {
  const datastore = await openDirectoryDatastore({ path, quietMs: 5, pollIntervalMs: 100_000, ...options });
  afterTest(t).use(datastore);
  return datastore;
}

const orderOf = (object: { value: unknown } | undefined) => Object(Object(object?.value).spec).order;

test("an object is a file that a person can read, without what the datastore knows of it", async (t) => {
  const folder = await folderOf(t);
  const clock = { ...systemClock, wallMs: () => 1_800_000_000_000 };
  const datastore = await open(t, folder, { clock, makeUid: () => "11111111-2222-4333-8444-555555555555" });
  const made = await datastore.create("Tier", tier("a"));
  equal(
    readFileSync(join(folder, "tiers/a.yaml"), "utf8"),
    `apiVersion: crd.projectcalico.org/v1
kind: Tier
metadata:
  name: a
  uid: 11111111-2222-4333-8444-555555555555
  creationTimestamp: "2027-01-15T08:00:00Z"
spec:
  order: 1
`,
  );
  equal(Object(made.value).metadata.resourceVersion, made.revision);
  deepEqual(readdirSync(folder).sort(), [".cattail", "tiers"]);
  equal(readFileSync(join(folder, ".cattail/.gitignore"), "utf8"), "*\n");
});

test("a revision is the same to every process, and after a restart", async (t) => {
  const folder = await folderOf(t, { "b.yaml": tierText("b") });
  const first = await open(t, folder);
  await first.create("Tier", tier("a"));
  const second = await open(t, folder);
  for (const name of ["a", "b"]) {
    const id = { namespace: "", name };
    equal((await second.get("Tier", id))?.revision, (await first.get("Tier", id))?.revision);
  }
  const stored = await second.get("Tier", a);
  ok(stored !== undefined);
  const written = await second.update("Tier", { ...stored, value: tier("a", 2) });
  equal(orderOf(await first.get("Tier", a)), 2); // at once, without a notice
  await rejects(first.update("Tier", { ...stored, value: tier("a", 3) }), { code: "conflict" });
  await first.update("Tier", { ...written, value: tier("a", 4) });
});

test("what was edited by hand and edited back is not what it was", async (t) => {
  const folder = await folderOf(t, { "a.yaml": tierText("a", 1) });
  const datastore = await open(t, folder);
  const stored = await datastore.get("Tier", a);
  ok(stored !== undefined);
  for (const order of [2, 1]) {
    await writeFile(join(folder, "a.yaml"), tierText("a", order));
    equal(orderOf(await datastore.get("Tier", a)), order);
  }
  notEqual((await datastore.get("Tier", a))?.revision, stored.revision);
  await rejects(datastore.update("Tier", { ...stored, value: tier("a", 5) }), { code: "conflict" });
});

test("what was deleted and made again, by hand or not, is not what it was", async (t) => {
  // Over and over: the look at everything that follows an opening may come between any two steps.
  for (let round = 0; round < 20; round++) {
    const folder = await folderOf(t);
    const datastore = await open(t, folder);
    const stored = await datastore.create("Tier", { metadata: { name: "a", uid: "u" }, spec: { order: 1 } });
    const text = readFileSync(join(folder, "tiers/a.yaml"), "utf8");
    await datastore.delete("Tier", a);
    equal(await datastore.get("Tier", a), undefined);
    await mkdir(join(folder, "tiers"), { recursive: true });
    await writeFile(join(folder, "tiers/a.yaml"), text);
    await rejects(datastore.update("Tier", stored), { code: "conflict" });
    const again = await datastore.get("Tier", a);
    deepEqual(Object(again?.value).metadata.uid, "u");
  }
});

test("a file that is emptied to be filled again keeps its objects meanwhile", async (t) => {
  const folder = await folderOf(t, { "a.yaml": tierText("a", 1) });
  const datastore = await open(t, folder);
  await writeFile(join(folder, "a.yaml"), "");
  equal(orderOf(await datastore.get("Tier", a)), 1);
  await datastore.refresh();
  equal(orderOf(await datastore.get("Tier", a)), 1);
  await writeFile(join(folder, "a.yaml"), tierText("a", 2));
  equal(orderOf(await datastore.get("Tier", a)), 2);
});

test("a hand edit that no process was told of is met by the next write to the object", async (t) => {
  const folder = await folderOf(t, { "a.yaml": tierText("a", 1) });
  const datastore = await open(t, folder, { quietMs: 100_000 });
  const stored = await datastore.get("Tier", a);
  ok(stored !== undefined);
  await writeFile(join(folder, "a.yaml"), tierText("a", 9));
  await rejects(datastore.update("Tier", { ...stored, value: tier("a", 2) }), { code: "conflict" });
  equal(orderOf(await datastore.get("Tier", a)), 9);
});

test("in a hand-made file only the object's own text changes, and no bookkeeping is added", async (t) => {
  const text = `# ours\n${tierText("a")}---\n# theirs\n${tierText("b")}`;
  const folder = await folderOf(t, { "both.yaml": text });
  const datastore = await open(t, folder);
  const stored = await datastore.get("Tier", a);
  ok(stored !== undefined);
  const value = stored.value as { spec: object };
  await datastore.update("Tier", { ...stored, value: { ...value, spec: { order: 7 } } });
  equal(readFileSync(join(folder, "both.yaml"), "utf8"), text.replace("order: 1", "order: 7"));
  await datastore.delete("Tier", a);
  equal(readFileSync(join(folder, "both.yaml"), "utf8"), `---\n# theirs\n${tierText("b")}`);
  await datastore.delete("Tier", { namespace: "", name: "b" });
  ok(!existsSync(join(folder, "both.yaml")));
});

test("an object that stands in two files is deleted from both", async (t) => {
  const folder = await folderOf(t, { "one.yaml": tierText("a", 1), "two.yaml": tierText("a", 2) });
  const datastore = await open(t, folder);
  await datastore.delete("Tier", a);
  equal(await datastore.get("Tier", a), undefined);
  deepEqual(readdirSync(folder), [".cattail"]);
});

test("a file with something else in it is not overwritten", async (t) => {
  const folder = await folderOf(t);
  await mkdir(join(folder, "tiers"));
  await writeFile(join(folder, "tiers/a.yaml"), tierText("other"));
  const datastore = await open(t, folder);
  await datastore.create("Tier", tier("a"));
  deepEqual(readdirSync(join(folder, "tiers")), ["a%_1.yaml", "a.yaml"]);
  equal(readFileSync(join(folder, "tiers/a.yaml"), "utf8"), tierText("other"));
});

test("an object in a broken file cannot be changed, and the error says where it is broken", async (t) => {
  const folder = await folderOf(t, { "a.yaml": tierText("a") });
  const datastore = await open(t, folder);
  await writeFile(join(folder, "a.yaml"), `${tierText("a")}x: [\n`);
  await rejects(datastore.delete("Tier", a), { code: "invalid", message: /^a\.yaml:6:1: / });
  equal(orderOf(await datastore.get("Tier", a)), 1);
});

test("names that are no file names lead nowhere else", async (t) => {
  const folder = await folderOf(t);
  const datastore = await open(t, folder);
  for (const name of ["..", ".hidden", "UPPER", "upper", "a\\b", "with space", "\u00fc", "x".repeat(253)]) {
    const made = await datastore.create("Tier", tier(name));
    deepEqual((await datastore.get("Tier", made.id))?.value, made.value);
  }
  equal(readdirSync(join(folder, "tiers")).length, 8);
  deepEqual(readdirSync(folder).sort(), [".cattail", "tiers"]);
});

test("a block is YAML whose numbers are exact", async (t) => {
  const folder = await folderOf(t);
  const datastore = await open(t, folder);
  const spec = { allocations: [null, 0], cidr: "10.0.0.0/31", sequenceNumber: 1794729939941964722n };
  await datastore.create("IPAMBlock", { metadata: { name: "10-0-0-0-31" }, spec });
  match(readFileSync(join(folder, "ipamblocks/10-0-0-0-31.yaml"), "utf8"), /sequenceNumber: 1794729939941964722\n/);
  const other = await open(t, folder);
  deepEqual(Object((await other.get("IPAMBlock", { namespace: "", name: "10-0-0-0-31" }))?.value).spec, spec);
});

test("a watch hears of another process's writes, of files, of folders and of their removal", async (t) => {
  const folder = await folderOf(t, { "a.yaml": tierText("a") });
  const datastore = await open(t, folder);
  const writer = await open(t, folder);
  const events = datastore.watch("Tier", { from: await revisionOf(datastore), signal })[Symbol.asyncIterator]();
  const next = async () => textOf((await events.next()).value?.[0]);
  await writer.create("Tier", tier("b"));
  equal(await next(), "set b");
  await writeFile(join(folder, "c.yaml.new"), tierText("c"));
  await rename(join(folder, "c.yaml.new"), join(folder, "c.yaml"));
  equal(await next(), "set c");
  await writer.delete("Tier", a);
  equal(await next(), "delete a");
  await rm(join(folder, "tiers"), { recursive: true });
  equal(await next(), "delete b");
  await mkdir(`${folder}-next`);
  afterTest(t).defer(() => rm(`${folder}-before`, { recursive: true, force: true }));
  await writeFile(join(`${folder}-next`, "d.yaml"), tierText("d"));
  await rename(folder, `${folder}-before`);
  await rename(`${folder}-next`, folder);
  deepEqual([await next(), await next()].sort(), ["delete c", "set d"]);
});

test("a watch from a revision of an earlier process is expired: a deletion may have come between", async (t) => {
  const folder = await folderOf(t);
  const first = await open(t, folder);
  await first.create("Tier", tier("a"));
  const before = await revisionOf(first);
  await first.delete("Tier", a);
  await first.create("Tier", tier("b"));
  const second = await open(t, folder);
  await rejects(second.watch("Tier", { from: before, signal })[Symbol.asyncIterator]().next(), { code: "expired" });
  const events = second.watch("Tier", { from: await revisionOf(second), signal })[Symbol.asyncIterator]();
  await first.create("Tier", tier("c"));
  equal(textOf((await events.next()).value?.[0]), "set c");
});

test("the log of revisions may be lost, cut or filled with anything: objects stay, and revisions grow", async (t) => {
  const folder = await folderOf(t);
  const datastore = await open(t, folder);
  const log = join(folder, ".cattail/revisions");
  let last = BigInt((await datastore.create("Tier", tier("a"))).revision);
  const damages = [
    () => unlink(log),
    () => writeFile(log, ""),
    () => writeFile(log, "\u0000".repeat(500)),
    () => writeFile(log, `${readFileSync(log, "utf8")}1794 ab`),
    () => writeFile(log, `${readFileSync(log, "utf8")}nonsense\n`),
    () => rm(join(folder, ".cattail"), { recursive: true }),
  ];
  for (const [i, damage] of damages.entries()) {
    await damage();
    const fresh = await openDirectoryDatastore({ path: folder });
    const stored = await fresh.get("Tier", a);
    equal(orderOf(stored), i + 1);
    ok(stored !== undefined);
    const next = await fresh.update("Tier", { ...stored, value: tier("a", i + 2) });
    ok(BigInt(next.revision) > last, `${next.revision} after ${last}`);
    last = BigInt(next.revision);
    await fresh[Symbol.asyncDispose]();
  }
  equal(orderOf(await datastore.get("Tier", a)), damages.length + 1);
});

test("a living process that keeps the lock is named", async (t) => {
  const folder = await folderOf(t);
  const datastore = await open(t, folder, { lockWaitMs: 20 });
  await datastore.create("Tier", tier("a"));
  using lock = new FileLock(join(folder, ".cattail/lock"));
  using _held = await lock.acquire();
  const error = await datastore.create("Tier", tier("b")).catch((thrown: unknown) => thrown);
  match(String(error), new RegExp(`was not free within 20 ms; process ${process.pid} has it: .*node`));
});

test("a folder that is taken away is not made again by a write", async (t) => {
  const folder = await folderOf(t);
  const datastore = await open(t, folder);
  await rm(folder, { recursive: true });
  await rejects(datastore.create("Tier", tier("a")), { code: "unavailable", message: /is not there/ });
  ok(!existsSync(folder));
});

async function revisionOf(datastore: DirectoryDatastore): Promise<Revision> {
  for await (const { revision } of datastore.list("Tier", { signal })) return revision;
  throw new Error("a list has at least one page");
}

function textOf(event: WatchEvent | undefined): string {
  return event?.is === "set" ? `set ${event.object.id.name}` : event?.is === "delete" ? `delete ${event.id.name}` : "";
}
