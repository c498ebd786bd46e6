// `cattail demo`: the whole pipeline on this machine alone. A pretend cluster in memory, a server with mutual TLS and the
// dashboard, its certificates in a temporary folder, and clients that play the cluster's nodes. Ctrl-C leaves nothing behind.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { CattailError, messageOf, systemClock } from "../../base/lib/index.ts";
import { createMemoryDatastore } from "../../calico/datastore/index.ts";
import { filesOf, makeAuthority, makePair } from "../../typha/certificates/index.ts";
import { startTypha } from "../../typha/server/index.ts";
import { loadSettings } from "../../typha/settings/index.ts";
import { build } from "../shared/build.ts";
import { port, wholeNumber } from "../shared/option-values.ts";
import { startDemoNodes } from "./demo-nodes.ts";
import { DemoScreen } from "./demo-screen.ts";
import { PretendCluster } from "./index.ts";

type Flags = { nodes: number; pods: number; churn: number; port: number; dashboardPort: number };

export function demoCommand(): Command {
  return new Command("demo")
    .option("--nodes <count>", "number of nodes in the simulated cluster", wholeNumber(1, 2000), 50)
    .option("--pods <count>", "number of pods", wholeNumber(0, 200_000), 1000)
    .option("--churn <per-second>", "changes a second", wholeNumber(0, 10_000), 20)
    .option("--port <port>", "port of the server; if it is in use, a free one is taken", port, 5473)
    .option("--dashboard-port <port>", "port of the dashboard; if it is in use, a free one is taken", port, 9095)
    .addHelpText("after", "\nExamples:\n  cattail demo\n  cattail demo --nodes 500 --pods 20000 --churn 200")
    .action(demo);
}

async function demo(flags: Flags): Promise<void> {
  const stop = new AbortController();
  await using stack = new AsyncDisposableStack();
  const folder = makeFolder();
  // However it ends: there are keys in it.
  process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  const onSignal = () => {
    if (stop.signal.aborted) process.exit(); // the second time: at once
    stop.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, onSignal);
  // Whoever read our output has gone (head, for one); what we made must go, too. A pipe that is gone says so at each write.
  process.stdout.on("error", () => stop.abort());
  const { signal } = stop;
  const screen = new DemoScreen(process.stdout);
  screen.say(
    `Cattail ${build().version}: starting a simulated cluster of ${flags.nodes} nodes and ${flags.pods} pods …`,
  );
  try {
    await run(flags, { folder, screen, signal, stack });
  } catch (error) {
    if (!signal.aborted) throw error; // what was still starting says that it was stopped
  }
  screen.say("\nStopping: clients, server and cluster end, and the certificates are removed.");
}

function makeFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), "cattail-demo-"));
  } catch (error) {
    throw new CattailError("DEMO_FOLDER", {
      problem: `cannot create a folder for the demo's certificates in ${tmpdir()} (${(error as NodeJS.ErrnoException).code ?? messageOf(error)})`,
      next: "Set TMPDIR to a folder that this user may write to",
      cause: error,
    });
  }
}

type Running = { folder: string; screen: DemoScreen; signal: AbortSignal; stack: AsyncDisposableStack };

/** Until it is stopped. What has to be closed again is given to the stack. */
async function run(flags: Flags, { folder, screen, signal, stack }: Running): Promise<void> {
  const tls = await makeCertificates(folder);
  const datastore = stack.use(createMemoryDatastore({ mostChanges: 100_000 }));
  const cluster = new PretendCluster({ ...flags, datastore, clock: systemClock, random: Math.random });
  await cluster.populate();
  const typha = stack.use(
    await startTypha({
      read: loadSettings({ environment: await settingsOf(flags, tls), configFile: "" }),
      datastore,
      version: build().version,
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
    nodes: { all: flags.nodes, connected: nodes.connectable },
    commandName: commandName(),
    ...(httpAddresses.dashboard === undefined ? {} : { dashboard: `http://${httpAddresses.dashboard}/` }),
  });
  const living = cluster.live(signal);
  while (!signal.aborted) {
    screen.status({
      changes: cluster.changes,
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
