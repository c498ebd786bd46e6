// Prints the workload endpoints of one node: name, addresses and labels; then every change to them.
//
//   node --conditions=cattail-source examples/endpoints-of-a-node.ts node-1 [--once]
//
// Where the server is and which certificates to show it is read from the variables that calico-node has: FELIX_TYPHAADDR
// or FELIX_TYPHAK8SSERVICENAME, FELIX_TYPHACAFILE, FELIX_TYPHACERTFILE, FELIX_TYPHAKEYFILE, FELIX_TYPHACN.
import { follow, keyOf, optionsFromEnvironment, readEntry, syncStatus } from "cattail/client";

const [node = "", once] = process.argv.slice(2);
const { servers, ...connection } = optionsFromEnvironment(process.env);
if (node === "" || servers === undefined) {
  console.error(
    "usage: FELIX_TYPHAADDR=HOST:PORT node --conditions=cattail-source examples/endpoints-of-a-node.ts NODE [--once]",
  );
  process.exit(1);
}

for await (const update of follow({ servers, ...connection, type: "felix" })) {
  if (update.is === "status") {
    if (update.status === syncStatus.inSync && once === "--once") break;
    continue;
  }
  const key = keyOf(update);
  if (key?.is !== "WorkloadEndpoint" || key.hostname !== node) continue;
  if (update.is === "delete") {
    console.log(`- ${key.workloadId}`);
    continue;
  }
  const entry = readEntry(update);
  if (entry.is !== "WorkloadEndpoint") continue; // the value could not be read
  const addresses = [...(entry.value.ipv4_nets ?? []), ...(entry.value.ipv6_nets ?? [])].join(" ");
  console.log(`+ ${key.workloadId} ${entry.value.name} ${addresses} ${JSON.stringify(entry.value.labels)}`);
}
