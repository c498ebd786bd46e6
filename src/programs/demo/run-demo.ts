// The demo at work: a pretend cluster in memory, a server with mutual TLS and the dashboard, its certificates in a temporary
// folder, and clients that play the cluster's nodes.
import { createServer } from "node:net";
import { systemClock } from "../../base/lib/index.ts";
import { createMemoryDatastore } from "../../calico/datastore/index.ts";
import { filesOf, makeAuthority, makePair } from "../../typha/certificates/index.ts";
import { startTypha } from "../../typha/server/index.ts";
import { loadSettings } from "../../typha/settings/index.ts";
import { version } from "../shared/build.ts";
import { connectable, startDemoNodes } from "./demo-nodes.ts";
import type { DemoScreen } from "./demo-screen.ts";
import { PretendCluster } from "./index.ts";
import { DemoReports } from "./node-reports.ts";

const mostWithoutWorkers = 100;

export type Flags = { nodes: number; pods: number; churn: number; port: number; dashboardPort: number };

type Running = { folder: string; screen: DemoScreen; signal: AbortSignal; stack: AsyncDisposableStack };

/** Until it is stopped. What has to be closed again is given to the stack. */
export async function runDemo(flags: Flags, { folder, screen, signal, stack }: Running): Promise<void> {
  const tls = await makeCertificates(folder);
  const datastore = stack.use(createMemoryDatastore({ mostChanges: 100_000 }));
  const cluster = new PretendCluster({ ...flags, datastore, clock: systemClock, random: Math.random });
  await cluster.populate();
  const reports = new DemoReports({
    nodes: flags.nodes,
    running: connectable(flags.nodes),
    version: version(),
    nowMs: systemClock.wallMs,
  });
  const typha = stack.use(
    await startTypha({
      askNode: reports.ask,
      read: loadSettings({ environment: await settingsOf(flags, tls), configFile: "" }),
      datastore,
      version: version(),
      log: screen.log,
      signal,
    }),
  );
  const { server, httpAddresses } = typha;
  const address = `127.0.0.1:${server.address.port}`;
  const nodes = stack.use(startDemoNodes({ address, folder, count: flags.nodes, signal }));
  screen.introduce({
    address,
    folder,
    nodes: { all: flags.nodes, connected: nodes.connectable, connections: nodes.summary().connections },
    commandName: commandName(),
    ...(httpAddresses.dashboard === undefined ? {} : { dashboard: `http://${httpAddresses.dashboard}/` }),
  });
  const living = cluster.live(signal);
  while (!signal.aborted) {
    screen.status({
      taken: typha.updates,
      keys: server.cacheSize("felix"),
      nodes: nodes.summary(),
    });
    await systemClock.sleep(1000, signal).catch(() => undefined);
  }
  await living;
}

/** The demo is a Typha like any other: these are the settings it is given. */
async function settingsOf(
  flags: Flags,
  tls: Awaited<ReturnType<typeof makeCertificates>>,
): Promise<{ [name: string]: string }> {
  return {
    TYPHA_DATASTORETYPE: "memory",
    // So few clients need no threads of their own, whose start would take a third of the demo's.
    TYPHA_WORKERS: flags.nodes > mostWithoutWorkers ? "auto" : "0",
    TYPHA_SERVERHOST: "127.0.0.1",
    TYPHA_SERVERPORT: String(await freePort(flags.port)),
    TYPHA_SERVERCERTFILE: tls.server.certFile,
    TYPHA_SERVERKEYFILE: tls.server.keyFile,
    TYPHA_CAFILE: tls.caFile,
    TYPHA_CLIENTCN: "calico-node",
    TYPHA_SERVERPINGINTERVALSECS: "3", // so that the node that lags is seen to within seconds
    TYPHA_DASHBOARDENABLED: "true",
    TYPHA_DASHBOARDHOST: "127.0.0.1",
    TYPHA_DASHBOARDPORT: String(await freePort(flags.dashboardPort)),
  };
}

async function makeCertificates(folder: string) {
  const options = { folder, nowMs: Date.now() };
  const { certFile: caFile } = await makeAuthority(options);
  await makePair("server", options);
  await makePair("client", options);
  return { caFile, server: filesOf("server", folder) };
}

/** The wanted port if nobody has it, else whatever the kernel gives. */
async function freePort(wanted: number): Promise<number> {
  const probe = createServer();
  return await new Promise((resolve, reject) => {
    probe.once("error", (error) => (wanted === 0 ? reject(error) : resolve(freePort(0))));
    probe.listen({ port: wanted, host: "127.0.0.1" }, () => {
      const address = probe.address();
      const free = typeof address === "object" && address !== null ? address.port : wanted;
      probe.close(() => resolve(free));
    });
  });
}

/** What to type to get this program again: the checkout's launcher, or the installed name. */
function commandName(): string {
  return import.meta.url.endsWith(".ts") ? "./bin/cattail" : "cattail";
}
