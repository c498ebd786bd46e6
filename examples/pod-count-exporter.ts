// A Prometheus exporter of how many pods each node and each namespace has, counted from what nodes are told.
//
//   FELIX_TYPHAADDR=127.0.0.1:5473 node --conditions=cattail-source examples/pod-count-exporter.ts 9101
//   curl http://127.0.0.1:9101/metrics
import { once } from "node:events";
import { createServer } from "node:http";
import { CattailError, keyOf, optionsFromEnvironment, Snapshot } from "cattail/client";
import { Gauge, Registry } from "prom-client";

const registers = [new Registry()];
const byNode = new Gauge({ name: "calico_pods_by_node", help: "Pods on a node", labelNames: ["node"], registers });
const byNamespace = new Gauge({
  name: "calico_pods_by_namespace",
  help: "Pods in a namespace",
  labelNames: ["namespace"],
  registers,
});

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort());
try {
  const port = Number(process.argv[2] ?? "9101");
  const { servers, ...connection } = optionsFromEnvironment(process.env);
  if (servers === undefined || !Number.isInteger(port)) {
    console.error(
      "usage: FELIX_TYPHAADDR=HOST:PORT node --conditions=cattail-source examples/pod-count-exporter.ts [PORT]",
    );
    process.exit(1);
  }
  await using snapshot = Snapshot.open({ servers, ...connection, failsOnBadSetup: true, signal: stop.signal });
  await snapshot.inSync();
  const exporter = createServer(async (_request, response) => {
    count(snapshot);
    response.setHeader("content-type", registers[0]?.contentType ?? "text/plain");
    response.end(await registers[0]?.metrics());
  });
  exporter.listen(port, "127.0.0.1", () => {
    const address = exporter.address();
    console.log(`http://127.0.0.1:${typeof address === "object" ? address?.port : port}/metrics`);
  });
  stop.signal.addEventListener("abort", () => exporter.close().closeAllConnections());
  await once(exporter, "close");
} catch (error) {
  if (stop.signal.aborted) process.exit(0); // told to leave before it was in sync
  if (!(error instanceof CattailError)) throw error;
  console.error(`${error.problem}. ${error.next}. (${error.code})`);
  process.exitCode = 1;
}

function count({ values }: Snapshot): void {
  byNode.reset();
  byNamespace.reset();
  for (const update of values.values()) {
    const key = keyOf(update);
    if (key?.is !== "WorkloadEndpoint" || key.orchestratorId !== "k8s") continue;
    byNode.inc({ node: key.hostname });
    byNamespace.inc({ namespace: key.workloadId.split("/")[0] ?? "" });
  }
}
