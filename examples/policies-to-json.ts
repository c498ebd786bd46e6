// Keeps a JSON file of all policies: written whole, and only when something changed. A program that reads it never sees
// half a file, and never one that lacks what the server had.
//
//   FELIX_TYPHAADDR=127.0.0.1:5473 node --conditions=cattail-source examples/policies-to-json.ts policies.json [--once]
import { rename, writeFile } from "node:fs/promises";
import { optionsFromEnvironment, readEntry, Snapshot } from "cattail/client";

const [file = "", once] = process.argv.slice(2);
const { servers, ...connection } = optionsFromEnvironment(process.env);
if (file === "" || servers === undefined) {
  console.error(
    "usage: FELIX_TYPHAADDR=HOST:PORT node --conditions=cattail-source examples/policies-to-json.ts FILE [--once]",
  );
  process.exit(1);
}

await using snapshot = Snapshot.open({ servers, ...connection });
await snapshot.inSync();
for (let before = ""; ; ) {
  const text = `${JSON.stringify(policies(), null, 2)}\n`;
  if (text !== before) {
    await writeFile(`${file}.part`, text);
    await rename(`${file}.part`, file);
    console.log(`${file}: ${policies().length} policies`);
    before = text;
  }
  if (once === "--once") break;
  const known = revisions();
  await snapshot.until(() => revisions() !== known);
}

function policies(): object[] {
  const entries = [...snapshot.values.values()].map(readEntry);
  return entries
    .flatMap((entry) => (entry.is === "Policy" ? [{ ...entry.key, ...entry.value }] : []))
    .sort((a, b) => `${a.kind}/${a.namespace}/${a.name}`.localeCompare(`${b.kind}/${b.namespace}/${b.name}`));
}

function revisions(): string {
  const all = [...snapshot.values.values()].filter(({ path }) => path.startsWith("/calico/v1/policy/"));
  return all.map(({ path, revision }) => `${path}@${revision}`).join();
}
