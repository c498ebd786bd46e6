// A whole Typha with a dashboard to look at: a pretend cluster in memory, a server, and nodes that follow it.

import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { createMemoryDatastore, type Datastore } from "../../src/calico/datastore/index.ts";
import { nodeName, PretendCluster } from "../../src/programs/demo/index.ts";
import { follow } from "../../src/typha/client/index.ts";
import { startTypha, type Typha, type TyphaOptions } from "../../src/typha/server/index.ts";
import { loadSettings } from "../../src/typha/settings/index.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";

export type DashboardSubject = AsyncDisposable & {
  readonly typha: Typha;
  readonly datastore: Datastore;
  readonly address: string;
  /** A node that connects now. */
  connect(hostname: string, info?: string): void;
};

export type SubjectOptions = {
  readonly nodes: number;
  readonly pods: number;
  /** How many of the nodes connect. */
  readonly clients: number;
  readonly port?: number;
  readonly datastore?: Datastore;
  /** Answers for the nodes when they are asked how they are; without it they are not asked. */
  readonly askNode?: NonNullable<TyphaOptions["askNode"]>;
};

export async function startDashboardSubject(options: SubjectOptions): Promise<DashboardSubject> {
  const { nodes, pods, clients } = options;
  const ending = new AbortController();
  await using started = new AsyncDisposableStack();
  started.defer(() => ending.abort());
  const datastore = options.datastore ?? started.use(createMemoryDatastore());
  if (options.datastore === undefined) {
    await new PretendCluster({ nodes, pods, churn: 0, datastore, clock: systemClock, random: () => 0.5 }).populate();
  }
  const environment = {
    TYPHA_DATASTORETYPE: "memory",
    TYPHA_SERVERHOST: "127.0.0.1",
    TYPHA_SERVERPORT: String(await freePort()),
    TYPHA_WORKERS: "0",
    TYPHA_DASHBOARDENABLED: "true",
    TYPHA_DASHBOARDHOST: "127.0.0.1",
    TYPHA_DASHBOARDPORT: String(options.port ?? 0),
  };
  const read = loadSettings({ environment, configFile: "" });
  const { signal } = ending;
  const { askNode } = options;
  const asking = askNode === undefined ? {} : { askNode };
  const typha = started.use(
    await startTypha({ read, datastore, log: silentLog, version: "v0-test", signal, ...asking }),
  );
  await eventually(() => typha.httpAddresses.dashboard !== undefined, "the dashboard");
  const servers = `127.0.0.1:${typha.server.address.port}`;
  const connect = (hostname: string, info = "an agent of a test") =>
    void drain(follow({ servers, type: "felix", hostname, info, signal }));
  for (let index = 0; index < clients; index += 1) connect(nodeName(index));
  await eventually(async () => {
    const reports = await typha.server.clients();
    return reports.filter(({ phase, position }) => phase === "streaming" && position > 0).length >= clients;
  }, "every client streaming");
  const all = started.move();
  return {
    typha,
    datastore,
    address: `http://${typha.httpAddresses.dashboard}/`,
    connect,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

async function drain(updates: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of updates);
}
