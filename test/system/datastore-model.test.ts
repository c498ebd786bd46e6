// With two writers at once no update is lost: random histories of two writers, each beside a model that is a plain map, on
// memory and on a folder. What real servers do is in test/campaign/edits.test.ts, in quantity.
import { deepEqual } from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import {
  createMemoryDatastore,
  type Datastore,
  openDirectoryDatastore,
  type Revision,
} from "../../src/calico/datastore/index.ts";
import { commands, contentOf, Model, Real } from "../kit/edits/model.ts";

const signal = AbortSignal.timeout(300_000);

type World = AsyncDisposable & { readonly writers: readonly Datastore[] };

const worlds: {
  readonly name: string;
  readonly missing?: string;
  readonly runs: number;
  /** Whether a watch says every write; one that looks at a folder now and then says where it led. */
  readonly saysEveryWrite: boolean;
  open(): Promise<World>;
}[] = [
  { name: "memory", runs: 150, saysEveryWrite: true, open: openMemory },
  { name: "directory", runs: 15, saysEveryWrite: false, open: openFolder },
];

for (const { name, missing, runs, saysEveryWrite, open } of worlds) {
  test(`${name}: two writers and a model agree`, { skip: missing ?? false, timeout: 300_000 }, async () => {
    const property = fc.asyncProperty(commands, async (history) => {
      await using world = await open();
      const [datastore] = world.writers;
      if (datastore === undefined) throw new Error("a world without writers");
      const from = (await Array.fromAsync(datastore.list("Tier", { signal }))).at(-1)?.revision ?? ("" as Revision);
      const model = new Model();
      await fc.asyncModelRun(() => ({ model, real: new Real(world.writers) }), history);
      await compareLists(datastore, model);
      if (saysEveryWrite) deepEqual(await said(datastore, from), model.history);
    });
    await fc.assert(property, { numRuns: runs });
  });
}

async function compareLists(datastore: Datastore, model: Model): Promise<void> {
  for (const namePrefix of ["", "a", "ab", "c"]) {
    const pages = await Array.fromAsync(datastore.list("Tier", { signal, within: { namePrefix } }));
    const listed = pages.flatMap(({ items }) => items.map((item) => [item.id.name, contentOf(item)]));
    const expected = [...model.objects].map(([name, { content }]) => [name, content]);
    deepEqual(listed.sort(), expected.filter(([name]) => String(name).startsWith(namePrefix)).sort());
  }
}

/** What a watch says up to an object that is made now, as the last one. */
async function said(datastore: Datastore, from: Revision): Promise<string[]> {
  const events: string[] = [];
  const { id: last } = await datastore.create("Tier", { metadata: { name: "last" } });
  for await (const together of datastore.watch("Tier", { from, signal })) {
    for (const event of together) {
      if (event.is === "delete") events.push(`${event.id.name} gone`);
      if (event.is !== "set") continue;
      if (event.object.id.name === last.name) return events;
      events.push(`${event.object.id.name} ${JSON.stringify(contentOf(event.object))}`);
    }
  }
  return events;
}

async function openMemory(): Promise<World> {
  const memory = createMemoryDatastore();
  return { writers: [memory, memory], [Symbol.asyncDispose]: () => memory[Symbol.asyncDispose]() };
}

async function openFolder(): Promise<World> {
  const path = await mkdtemp(join(tmpdir(), "cattail-model-"));
  const writers = [await openDirectoryDatastore({ path }), await openDirectoryDatastore({ path })];
  return {
    writers,
    async [Symbol.asyncDispose]() {
      for (const writer of writers) await writer[Symbol.asyncDispose]();
      await rm(path, { recursive: true });
    },
  };
}
