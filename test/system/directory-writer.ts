// A second process on a folder, for directory-writes.test.ts: reads one command a line, answers each with one line.
import { createInterface } from "node:readline";
import { openDirectoryDatastore } from "../../src/calico/datastore/directory/directory-datastore.ts";

const datastore = await openDirectoryDatastore({ path: process.argv[2] ?? "", durable: false });
process.stdout.write("open\n");
for await (const line of createInterface({ input: process.stdin })) {
  const { does, name, order, revision } = JSON.parse(line) as {
    does: string;
    name: string;
    order: number;
    revision: never;
  };
  const id = { namespace: "", name };
  const value = { metadata: { name }, spec: { order } };
  try {
    if (does === "create") await datastore.create("Tier", value);
    else if (does === "update") await datastore.update("Tier", { id, revision, value });
    else await datastore.delete("Tier", id, { revision });
    process.stdout.write("done\n");
  } catch (error) {
    process.stdout.write(`${String(Object(error).code)} ${String(error)}\n`);
  }
}
await datastore[Symbol.asyncDispose]();
