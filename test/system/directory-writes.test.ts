// A folder with several writers: two processes and a person with an editor against a model, and a folder that may not be written to.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import fc from "fast-check";
import { type Datastore, openDirectoryDatastore, type Revision } from "../../src/calico/datastore/index.ts";
import { eventually } from "../kit/eventually.ts";

const signal = new AbortController().signal;
const names = ["a", "b", "c"];
const tierText = (name: string, order: number) =>
  `apiVersion: projectcalico.org/v3\nkind: Tier\nmetadata:\n  name: ${name} # by hand\nspec: {order: ${order}}\n`;

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "cattail-writers-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

type Step = {
  readonly who: "here" | "there" | "hand";
  readonly does: "put" | "delete" | "stale";
  readonly name: string;
};
const step: fc.Arbitrary<Step> = fc.record({
  who: fc.constantFrom("here" as const, "there" as const, "hand" as const),
  does: fc.constantFrom("put" as const, "put" as const, "delete" as const, "stale" as const),
  name: fc.constantFrom(...names),
});

test("two processes and hand edits, one after the other, leave what a plain map holds; stale revisions are refused; the watch ends as the list", {
  timeout: 300_000,
}, async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (script) => {
      const folder = folderOf(t);
      await using here = await openDirectoryDatastore({ path: folder, quietMs: 5, durable: false });
      await using there = new OtherProcess(folder);
      const watched = follow(here);
      const model = new Map<string, { order: number; stale: Revision | undefined }>();
      let order = 0;
      for (const { who, does, name } of script) {
        const id = { namespace: "", name };
        const stored = await here.get("Tier", id);
        equal(orderOf(stored), model.get(name)?.order, `${who} ${does} ${name} after ${JSON.stringify([...model])}`);
        const stale = model.get(name)?.stale;
        order += 1;
        if (does === "stale" && who !== "hand" && stored !== undefined && stale !== undefined) {
          const answer = await write(who === "here" ? here : there, { does: "update", name, order, revision: stale });
          match(answer, /conflict/);
          continue;
        }
        if (does === "delete" && stored === undefined) continue;
        if (who === "hand") {
          byHand(folder, name, does === "delete" ? undefined : order);
          await here.refresh(); // a new file is found by a notice, some milliseconds later; here nobody waits for it
        } else {
          const how = does === "delete" ? "delete" : stored === undefined ? "create" : "update";
          const revision = stored?.revision ?? ("" as Revision);
          equal(await write(who === "here" ? here : there, { does: how, name, order, revision }), "done");
        }
        if (does === "delete") model.delete(name);
        else model.set(name, { order, stale: stored?.revision });
      }
      await here.refresh();
      const wanted = Object.fromEntries([...model].map(([name, { order: last }]) => [name, last]).sort());
      deepEqual(await listed(here), wanted);
      await eventually(() => JSON.stringify(watched()) === JSON.stringify(wanted), "the watch to end as the list");
      deepEqual(here.problems(), []);
    }),
    { numRuns: 6 },
  );
});

test("two processes at one object lose no change", { timeout: 120_000 }, async (t) => {
  const folder = folderOf(t);
  await using here = await openDirectoryDatastore({ path: folder, durable: false });
  await using there = new OtherProcess(folder);
  await here.create("Tier", { metadata: { name: "a" }, spec: { order: 0 } });
  const add = async (writer: Datastore | OtherProcess) => {
    for (let added = 0; added < 40; ) {
      const stored = await here.get("Tier", { namespace: "", name: "a" });
      const request = {
        does: "update",
        name: "a",
        order: orderOf(stored) + 1,
        revision: stored?.revision ?? ("" as Revision),
      };
      if ((await write(writer, request)) === "done") added += 1;
    }
  };
  await Promise.all([add(here), add(there)]);
  equal(orderOf(await here.get("Tier", { namespace: "", name: "a" })), 80);
});

const nobody = 65534;
const withoutRoot = process.getuid?.() === 0 ? false : "becoming another user needs root";
test("a folder that may not be written to is read; what a server needs is kept in memory; other writes say why not", {
  skip: withoutRoot,
}, async (t) => {
  const folder = folderOf(t);
  mkdirSync(join(folder, "tiers"));
  writeFileSync(join(folder, "tiers", "a.yaml"), tierText("a", 1));
  for (const path of [folder, join(folder, "tiers")]) {
    chownSync(path, 0, 0);
    chmodSync(path, 0o755);
  }
  const module = new URL("../../src/calico/datastore/directory/directory-datastore.ts", import.meta.url).pathname;
  const source = `
    import { openDirectoryDatastore } from ${JSON.stringify(module)};
    const folder = ${JSON.stringify(folder)};
    process.setgroups([]); process.setgid(${nobody}); process.setuid(${nobody});
    const datastore = await openDirectoryDatastore({ path: folder });
    const a = await datastore.get("Tier", { namespace: "", name: "a" });
    const made = await datastore.create("Tier", { metadata: { name: "default" }, spec: { order: 5 } });
    const updated = await datastore.update("Tier", { ...a, value: { ...a.value, spec: { order: 2 } } });
    const refused = await datastore.create("IPPool", { metadata: { name: "p" } }).catch((error) => error);
    console.log(JSON.stringify([made.value.spec, updated.value.spec, refused.code, refused.message]));
    process.exit(0);`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", source]);
  deepEqual(JSON.parse(stdout), [
    { order: 5 },
    { order: 2 },
    "forbidden",
    `the folder ${folder} may not be written to by this user (EACCES)`,
  ]);
  deepEqual(readdirSync(folder), ["tiers"]);
});

function byHand(folder: string, name: string, order: number | undefined): void {
  // Wherever the object is: a person looks for it.
  for (const file of [`tiers/${name}.yaml`, `${name}.yaml`]) {
    try {
      unlinkSync(join(folder, file));
    } catch {
      // it is in the other one, or in none
    }
  }
  if (order === undefined) return;
  writeFileSync(join(folder, `.${name}.new`), tierText(name, order));
  renameSync(join(folder, `.${name}.new`), join(folder, `${name}.yaml`));
}

type Request = { readonly does: string; readonly name: string; readonly order: number; readonly revision: Revision };

async function write(writer: Datastore | OtherProcess, request: Request): Promise<string> {
  if (writer instanceof OtherProcess) return await writer.ask(request);
  const { does, name, order, revision } = request;
  const id = { namespace: "", name };
  const value = { metadata: { name }, spec: { order } };
  try {
    if (does === "create") await writer.create("Tier", value);
    else if (does === "update") await writer.update("Tier", { id, revision, value });
    else await writer.delete("Tier", id, { revision });
    return "done";
  } catch (error) {
    return `${String(Object(error).code)} ${String(error)}`;
  }
}

class OtherProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  #turn: Promise<unknown>;

  constructor(folder: string) {
    const program = new URL("directory-writer.ts", import.meta.url).pathname;
    const child = spawn(process.execPath, [program, folder], { stdio: ["pipe", "pipe", "inherit"] });
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    this.#turn = this.#lines.next();
  }

  async ask(request: Request): Promise<string> {
    await this.#turn;
    this.#child.stdin?.write(`${JSON.stringify(request)}\n`);
    const answer = this.#lines.next();
    this.#turn = answer;
    return String((await answer).value);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
  }
}

function follow(datastore: Datastore): () => { [name: string]: unknown } {
  const known = new Map<string, unknown>();
  void (async () => {
    const pages = await Array.fromAsync(datastore.list("Tier", { signal }));
    for (const { id, value } of pages.flatMap(({ items }) => items)) known.set(id.name, orderOf({ value }));
    const from = pages.at(-1)?.revision ?? ("" as Revision);
    for await (const event of eventsOf(datastore, from)) {
      if (event.is === "set") known.set(event.object.id.name, orderOf(event.object));
      else if (event.is === "delete") known.delete(event.id.name);
    }
  })();
  return () => Object.fromEntries([...known].sort());
}

async function* eventsOf(datastore: Datastore, from: Revision) {
  for await (const events of datastore.watch("Tier", { from, signal })) yield* events;
}

async function listed(datastore: Datastore): Promise<{ [name: string]: unknown }> {
  const pages = await Array.fromAsync(datastore.list("Tier", { signal }));
  ok(pages.length > 0);
  return Object.fromEntries(
    pages.flatMap(({ items }) => items.map((object) => [object.id.name, orderOf(object)])).sort(),
  );
}

function orderOf(object: { value: unknown } | undefined) {
  return Object(Object(object?.value).spec).order;
}
