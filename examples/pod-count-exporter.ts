// A Prometheus exporter of how many pods each node and each namespace has, counted from what nodes are told.
//
//   FELIX_TYPHAADDR=127.0.0.1:5473 node --conditions=cattail-source examples/pod-count-exporter.ts 9099
//   curl http://127.0.0.1:9099/metrics
import { createServer } from "node:http";
import { keyOf, optionsFromEnvironment, Snapshot } from "cattail/client";
import { Gauge, Registry } from "prom-client";

const port = Number(process.argv[2] ?? "9099");
const { servers, ...connection } = optionsFromEnvironment(process.env);
if (servers === undefined || !Number.isInteger(port)) {
  console.error(
    "usage: FELIX_TYPHAADDR=HOST:PORT node --conditions=cattail-source examples/pod-count-exporter.ts [PORT]",
  );
  process.exit(1);
}

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
await using snapshot = Snapshot.open({ servers, ...connection, signal: stop.signal });
await snapshot.inSync();

const exporter = createServer(async (_request, response) => {
  count();
  response.setHeader("content-type", registers[0]?.contentType ?? "text/plain");
  response.end(await registers[0]?.metrics());
});
exporter.listen(port, "127.0.0.1", () => {
  const address = exporter.address();
  console.log(`http://127.0.0.1:${typeof address === "object" ? address?.port : port}/metrics`);
});
stop.signal.addEventListener("abort", () => exporter.close().closeAllConnections());

function count(): void {
  byNode.reset();
  byNamespace.reset();
  for (const update of snapshot.values.values()) {
    const key = keyOf(update);
    if (key?.is !== "WorkloadEndpoint" || key.orchestratorId !== "k8s") continue;
    byNode.inc({ node: key.hostname });
    byNamespace.inc({ namespace: key.workloadId.split("/")[0] ?? "" });
  }
}
