// Prints the workload endpoints of one node: name, addresses and labels; then every change to them.
//
//   node --conditions=cattail-source examples/endpoints-of-a-node.ts node-1 [--once]
//
// Where the server is and which certificates to show it is read from the variables that calico-node has: FELIX_TYPHAADDR
// or FELIX_TYPHAK8SSERVICENAME, FELIX_TYPHACAFILE, FELIX_TYPHACERTFILE, FELIX_TYPHAKEYFILE, FELIX_TYPHACN.
import {
  CattailError,
  follow,
  keyOf,
  optionsFromEnvironment,
  readEntry,
  syncStatus,
  type Update,
} from "cattail/client";

const [node = "", once] = process.argv.slice(2);
try {
  const { servers, ...connection } = optionsFromEnvironment(process.env);
  if (node === "" || servers === undefined) {
    console.error(
      "usage: FELIX_TYPHAADDR=HOST:PORT node --conditions=cattail-source examples/endpoints-of-a-node.ts NODE [--once]",
    );
    process.exit(1);
  }
  const told = { type: "felix", withProblems: true, failsOnBadSetup: true } as const;
  for await (const update of follow({ servers, ...connection, ...told })) {
    if (update.is === "problem") console.error(`not connected, trying again: ${update.problem}. ${update.next}.`);
    else if (update.is !== "status") print(update);
    else if (update.status === syncStatus.inSync && once === "--once") break;
  }
} catch (error) {
  if (!(error instanceof CattailError)) throw error;
  console.error(`${error.problem}. ${error.next}. (${error.code})`);
  process.exitCode = 1;
}

function print(update: Exclude<Update, { is: "status" }>): void {
  const key = keyOf(update);
  if (key?.is !== "WorkloadEndpoint" || key.hostname !== node) return;
  if (update.is === "delete") {
    console.log(`- ${key.workloadId}`);
    return;
  }
  const entry = readEntry(update);
  if (entry.is !== "WorkloadEndpoint") return; // the value could not be read
  const addresses = [...(entry.value.ipv4_nets ?? []), ...(entry.value.ipv6_nets ?? [])].join(" ");
  console.log(`+ ${key.workloadId} ${entry.value.name} ${addresses} ${JSON.stringify(entry.value.labels)}`);
}
