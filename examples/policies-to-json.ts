// Keeps a JSON file of all policies: written whole, and only when something changed. A program that reads it never sees
// half a file, and never one that lacks what the server had.
//
//   FELIX_TYPHAADDR=127.0.0.1:5473 node --conditions=cattail-source examples/policies-to-json.ts policies.json [--once]
import { rename, writeFile } from "node:fs/promises";
import { CattailError, optionsFromEnvironment, readEntry, Snapshot } from "cattail/client";

const [file = "", once] = process.argv.slice(2);
try {
  const { servers, ...connection } = optionsFromEnvironment(process.env);
  if (file === "" || servers === undefined) {
    console.error(
      "usage: FELIX_TYPHAADDR=HOST:PORT node --conditions=cattail-source examples/policies-to-json.ts FILE [--once]",
    );
    process.exit(1);
  }
  await using snapshot = Snapshot.open({ servers, ...connection, failsOnBadSetup: true });
  await snapshot.inSync();
  for (let before = ""; ; ) {
    const known = revisionsIn(snapshot); // before the file is written: changes come meanwhile
    const policies = policiesIn(snapshot);
    const text = `${JSON.stringify(policies, null, 2)}\n`;
    if (text !== before) {
      await writeFile(`${file}.part`, text);
      await rename(`${file}.part`, file);
      console.log(`${file}: ${policies.length} policies`);
      before = text;
    }
    if (once === "--once") break;
    await snapshot.until(() => revisionsIn(snapshot) !== known);
  }
} catch (error) {
  if (!(error instanceof CattailError)) throw error;
  console.error(`${error.problem}. ${error.next}. (${error.code})`);
  process.exitCode = 1;
}

function policiesIn({ values }: Snapshot): object[] {
  const entries = [...values.values()].map(readEntry);
  return entries
    .flatMap((entry) => (entry.is === "Policy" ? [{ ...entry.key, ...entry.value }] : []))
    .sort((a, b) => `${a.kind}/${a.namespace}/${a.name}`.localeCompare(`${b.kind}/${b.namespace}/${b.name}`));
}

function revisionsIn({ values }: Snapshot): string {
  const all = [...values.values()].filter(({ path }) => path.startsWith("/calico/v1/policy/"));
  return all.map(({ path, revision }) => `${path}@${revision}`).join();
}
