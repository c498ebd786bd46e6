// The server under the bench: a whole Typha on a pretend cluster, with dashboard and debug address. Prints where it listens.
//   node typha.ts --nodes N --pods N --churn CHANGES_PER_SECOND
import { parseArgs } from "node:util";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { createMemoryDatastore } from "../../src/calico/datastore/index.ts";
import { PretendCluster } from "../../src/programs/demo/index.ts";
import { startTypha } from "../../src/typha/server/index.ts";
import { loadSettings } from "../../src/typha/settings/index.ts";
import { freePort } from "../../test/kit/free-port.ts";

const { values: flags } = parseArgs({
  options: { nodes: { type: "string" }, pods: { type: "string" }, churn: { type: "string" } },
});
const datastore = createMemoryDatastore();
const size = { nodes: Number(flags.nodes), pods: Number(flags.pods) };
const cluster = new PretendCluster({
  ...size,
  churn: Number(flags.churn),
  datastore,
  clock: systemClock,
  random: Math.random,
});
await cluster.populate();
const environment = {
  TYPHA_DATASTORETYPE: "memory",
  TYPHA_SERVERHOST: "127.0.0.1",
  TYPHA_SERVERPORT: String(await freePort()),
  // The bench's clients say nothing after their hello.
  TYPHA_SERVERPONGTIMEOUTSECS: "3600",
  TYPHA_DEBUGPORT: String(await freePort()),
  TYPHA_DASHBOARDENABLED: "true",
  TYPHA_DASHBOARDHOST: "127.0.0.1",
  TYPHA_DASHBOARDPORT: "0",
};
const { signal } = new AbortController();
const typha = await startTypha({
  read: loadSettings({ environment, configFile: "" }),
  datastore,
  log: silentLog,
  version: "bench",
  signal,
});
while (!typha.health.summary().ready) await systemClock.sleep(100);
const { debug, dashboard } = typha.httpAddresses;
console.log(
  JSON.stringify({ port: typha.server.address.port, keys: typha.server.cacheSize("felix"), debug, dashboard }),
);
void cluster.live(signal);
process.stdin.on("end", () => process.exit(0)).resume(); // whoever started it is gone, however that came about
