import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { afterTest } from "../../../../test/kit/after-test.ts";
import type { Datastore } from "../datastore.ts";
import { type DirectoryDatastore, openDirectoryDatastore } from "./directory-datastore.ts";

const signal = new AbortController().signal;
const tier = (name: string, order = 1) =>
  `apiVersion: projectcalico.org/v3\nkind: Tier\nmetadata: {name: ${name}}\nspec: {order: ${order}}\n`;

async function folderOf(t: TestContext, files: { [name: string]: string }): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "cattail-directory-"));
  afterTest(t).defer(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

async function open(t: TestContext, path: string): Promise<DirectoryDatastore> {
  const datastore = await openDirectoryDatastore({ path, quietMs: 5, pollIntervalMs: 100_000 });
  afterTest(t).use(datastore);
  return datastore;
}

async function orders(datastore: Datastore): Promise<string[]> {
  const found: string[] = [];
  for await (const { items } of datastore.list("Tier", { signal })) {
    for (const { id, value } of items) found.push(`${id.name}=${(value as { spec: { order: number } }).spec.order}`);
  }
  return found;
}

test("files in subfolders are read, hidden ones and other files are not", async (t) => {
  const folder = await folderOf(t, { "a.yaml": tier("a"), ".hidden.yaml": tier("h"), "notes.txt": tier("n") });
  await mkdir(join(folder, "sub", "deeper"), { recursive: true });
  await writeFile(join(folder, "sub", "deeper", "b.json"), JSON.stringify({ ...tierObject("b"), spec: { order: 2 } }));
  deepEqual(await orders(await open(t, folder)), ["a=1", "b=2"]);
});

test("a file that does not parse keeps its last good content, and is reported with its place", async (t) => {
  const folder = await folderOf(t, { "a.yaml": tier("a", 1), "b.yaml": tier("b", 1) });
  const datastore = await open(t, folder);
  await writeFile(join(folder, "a.yaml"), `${tier("a", 2)}---\nx: [\n`);
  await datastore.refresh();
  deepEqual(await orders(datastore), ["a=1", "b=1"]);
  const [problem] = datastore.problems();
  deepEqual([problem?.file, problem?.line, problem?.keepsLastGood], ["a.yaml", 7, true]);
  await writeFile(join(folder, "a.yaml"), tier("a", 3));
  await datastore.refresh();
  deepEqual(await orders(datastore), ["a=3", "b=1"]);
  deepEqual(datastore.problems(), []);
});

test("a file that goes takes its objects with it", async (t) => {
  const folder = await folderOf(t, { "a.yaml": tier("a"), "b.yaml": tier("b") });
  const datastore = await open(t, folder);
  await unlink(join(folder, "a.yaml"));
  await datastore.refresh();
  deepEqual(await orders(datastore), ["b=1"]);
});

test("a folder that goes keeps its objects, and is reported", async (t) => {
  const folder = await folderOf(t, { "a.yaml": tier("a") });
  const datastore = await open(t, folder);
  await rename(folder, `${folder}-away`);
  await datastore.refresh();
  deepEqual(await orders(datastore), ["a=1"]);
  match(datastore.problems()[0]?.says ?? "", /cannot be read/);
  await rename(`${folder}-away`, folder);
  await datastore.refresh();
  deepEqual(datastore.problems(), []);
});

test("of two files with one object the first by name counts, and the other is reported", async (t) => {
  const folder = await folderOf(t, { "b.yaml": tier("a", 2), "a.yaml": tier("a", 1) });
  const datastore = await open(t, folder);
  deepEqual(await orders(datastore), ["a=1"]);
  const [problem] = datastore.problems();
  equal(problem?.file, "b.yaml");
  match(problem?.says ?? "", /Tier a is already defined in a.yaml:1/);
  await unlink(join(folder, "a.yaml"));
  await datastore.refresh();
  deepEqual(await orders(datastore), ["a=2"]);
});

test("an unchanged object gets no new revision when its file is touched or it moves to another file", async (t) => {
  const folder = await folderOf(t, { "a.yaml": tier("a") });
  const datastore = await open(t, folder);
  const before = await datastore.get("Tier", { namespace: "", name: "a" });
  await writeFile(join(folder, "b.yaml"), `# moved\n${tier("a")}`);
  await unlink(join(folder, "a.yaml"));
  await datastore.refresh();
  deepEqual(await datastore.get("Tier", { namespace: "", name: "a" }), before);
});

test("a swap of symlinks, as a mounted ConfigMap makes it, is one change", async (t) => {
  const folder = await folderOf(t, {});
  for (const [version, order] of [["..one", 1] as const, ["..two", 2] as const]) {
    await mkdir(join(folder, version));
    await writeFile(join(folder, version, "a.yaml"), tier("a", order));
  }
  await symlink("..one", join(folder, "..data"));
  await symlink("..data/a.yaml", join(folder, "a.yaml"));
  const datastore = await open(t, folder);
  deepEqual(await orders(datastore), ["a=1"]);
  const seen = datastore
    .watch("Tier", { from: (await revisionOf(datastore)) as never, signal })
    [Symbol.asyncIterator]();
  await symlink("..two", join(folder, "..data_tmp"));
  await rename(join(folder, "..data_tmp"), join(folder, "..data"));
  equal((await seen.next()).value?.[0]?.is, "set");
  deepEqual(await orders(datastore), ["a=2"]);
});

test("a watch hears of a file that is written, in a subfolder made meanwhile", async (t) => {
  const folder = await folderOf(t, {});
  const datastore = await open(t, folder);
  const seen = datastore
    .watch("Tier", { from: (await revisionOf(datastore)) as never, signal })
    [Symbol.asyncIterator]();
  await mkdir(join(folder, "sub"));
  await writeFile(join(folder, "sub", "a.yaml"), tier("a"));
  const event = (await seen.next()).value?.[0];
  equal(event?.is === "set" ? event.object.id.name : undefined, "a");
});

test("a file that is not UTF-8 is reported, and one with a byte order mark is read", async (t) => {
  const folder = await folderOf(t, { "a.yaml": `\ufeff${tier("a")}` });
  await writeFile(join(folder, "b.yaml"), Buffer.from(tier("caf\u00e9"), "latin1"));
  const datastore = await open(t, folder);
  deepEqual(await orders(datastore), ["a=1"]);
  deepEqual(
    datastore.problems().map(({ file, says }) => [file, says]),
    [["b.yaml", "the file is not UTF-8"]],
  );
});

test("an object without a uid has the same one whenever and by whomever it is read; its own is kept", async (t) => {
  const folder = await folderOf(t, {
    "a.yaml": tier("a"),
    "b.yaml": tier("b").replace("name: b", "name: b, uid: mine"),
  });
  const uids = async (datastore: Datastore) =>
    (await Array.fromAsync(datastore.list("Tier", { signal }))).flatMap(({ items }) =>
      items.map(({ value }) => (value as { metadata: { uid: string } }).metadata.uid),
    );
  const first = await uids(await open(t, folder));
  deepEqual(await uids(await open(t, folder)), first);
  match(first[0] ?? "", /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  equal(first[1], "mine");
});

test("symlinks in a circle end", async (t) => {
  const folder = await folderOf(t, { "a.yaml": tier("a") });
  await symlink(folder, join(folder, "again"));
  deepEqual(await orders(await open(t, folder)), ["a=1"]);
});

test("a symlink to nothing is reported", async (t) => {
  const folder = await folderOf(t, {});
  await symlink("nowhere", join(folder, "a.yaml"));
  match((await open(t, folder)).problems()[0]?.says ?? "", /symlink to nothing/);
});

test("a folder that is not there stops the start with its name", async () => {
  await rejects(openDirectoryDatastore({ path: "/nonexistent/manifests" }), { code: "DIRECTORY_UNREADABLE" });
});

function tierObject(name: string) {
  return { apiVersion: "projectcalico.org/v3", kind: "Tier", metadata: { name } };
}

async function revisionOf(datastore: Datastore): Promise<string> {
  for await (const { revision } of datastore.list("Tier", { signal })) return revision;
  throw new Error("a list has at least one page");
}
