// The smallest program: connects, counts what nodes are told by kind, and leaves.
//
//   FELIX_TYPHAADDR=127.0.0.1:5473 node --conditions=cattail-source examples/count-keys.ts
//
// `--conditions=cattail-source` takes cattail from this checkout; a program that has the package installed does without.
import { CattailError, follow, keyOf, optionsFromEnvironment, syncStatus } from "cattail";

const counts = new Map<string, number>();
try {
  const { servers, ...connection } = optionsFromEnvironment(process.env);
  if (servers === undefined) {
    console.error("usage: FELIX_TYPHAADDR=HOST:PORT node --conditions=cattail-source examples/count-keys.ts");
    process.exit(1);
  }
  for await (const update of follow({ servers, ...connection, maxFailures: 3, failsOnBadSetup: true })) {
    if (update.is === "status" && update.status === syncStatus.inSync) break;
    if (update.is !== "set") continue;
    const kind = keyOf(update)?.is ?? "unknown";
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  for (const [kind, count] of [...counts].sort(([a], [b]) => a.localeCompare(b))) console.log(`${kind} ${count}`);
} catch (error) {
  if (!(error instanceof CattailError)) throw error;
  console.error(`${error.problem}. ${error.next}. (${error.code})`);
  process.exitCode = 1;
}
