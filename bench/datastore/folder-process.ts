// A process of bench/datastore/folder.ts: writes to a folder, or waits for what another process writes. Says what it measured as one line of JSON.
import { parseArgs } from "node:util";
import { openDirectoryDatastore } from "../../src/calico/datastore/directory/directory-datastore.ts";

const { values } = parseArgs({
  options: {
    folder: { type: "string", default: "" },
    name: { type: "string", default: "w" },
    count: { type: "string" },
    do: { type: "string" },
  },
});
const signal = new AbortController().signal;
const opening = performance.now();
const datastore = await openDirectoryDatastore({ path: values.folder });
const openMs = performance.now() - opening;
const tier = (name: string, order: number) => ({
  metadata: { name, labels: { bench: "folder" } },
  spec: { order, defaultAction: "Pass" },
});

if (values.do === "write") {
  // What is compiled on first use is not what a write costs.
  for (let n = 0; n < 20; n++) await datastore.create("Tier", tier(`${values.name}-warm-${n}`, n));
  const count = Number(values.count);
  const cpu = process.cpuUsage();
  const started = performance.now();
  let stored = await datastore.create("Tier", tier(values.name, 0));
  for (let n = 1; n < count; n++) stored = await datastore.update("Tier", { ...stored, value: tier(values.name, n) });
  const ms = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  console.log(JSON.stringify({ ms, cpuMs: (user + system) / 1000 }));
} else if (values.do === "list") {
  const started = performance.now();
  const pages = await Array.fromAsync(datastore.list("Tier", { signal }));
  const ms = performance.now() - started;
  const { user, system } = process.cpuUsage();
  const items = pages.reduce((sum, page) => sum + page.items.length, 0);
  console.log(
    JSON.stringify({
      openMs,
      listMs: ms,
      items,
      cpuMs: (user + system) / 1000,
      rssMb: process.memoryUsage().rss / 1e6,
    }),
  );
} else {
  const [{ revision } = { revision: "" }] = await Array.fromAsync(datastore.list("Tier", { signal }));
  console.log("watching");
  // A watcher that is slow is given two changes as one, so each is known by its number.
  const seen: { [order: number]: number } = {};
  const last = Number(values.count) - 1;
  for await (const events of datastore.watch("Tier", { from: revision as never, signal })) {
    const now = performance.timeOrigin + performance.now();
    for (const event of events) if (event.is === "set") seen[Object(Object(event.object.value).spec).order] = now;
    if (seen[last] !== undefined) break;
  }
  console.log(JSON.stringify(seen));
}
await datastore[Symbol.asyncDispose]();
