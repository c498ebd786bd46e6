// Three servers of one cluster: each page knows the nodes of all of them. They tell each other over mutual TLS, with the
// certificates they have; whoever cannot be heard is named, and then a node that is not here is not said to be missing.
import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { connect } from "node:tls";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { createMemoryDatastore } from "../../src/calico/datastore/index.ts";
import { PretendCluster } from "../../src/programs/demo/index.ts";
import { follow } from "../../src/typha/client/index.ts";
import type { NodesView, OverviewView } from "../../src/typha/dashboard/index.ts";
import { startTypha, type Typha } from "../../src/typha/server/index.ts";
import { loadSettings } from "../../src/typha/settings/index.ts";
import { type CertificateFolder, certificateFolder } from "../kit/certificates.ts";
import { eventually } from "../kit/eventually.ts";
import { freePort } from "../kit/free-port.ts";
import { tlsSettings, typhaSettings } from "../kit/typha-settings.ts";

class Replicas implements AsyncDisposable {
  readonly typhas: Typha[] = [];
  readonly ports: readonly number[];
  readonly #ending = new AbortController();
  readonly #stack = new AsyncDisposableStack();
  readonly #datastore = this.#stack.use(createMemoryDatastore());

  private constructor(ports: readonly number[]) {
    this.ports = ports;
    this.#stack.defer(() => this.#ending.abort());
  }

  /** One server for each folder of certificates. */
  static async start(folders: readonly CertificateFolder[], nodes: number): Promise<Replicas> {
    const ports: number[] = [];
    for (const _ of folders) ports.push(await freePort());
    const replicas = new Replicas(ports);
    await replicas.#start(folders, nodes);
    return replicas;
  }

  async #start(folders: readonly CertificateFolder[], nodes: number): Promise<void> {
    const cluster = { nodes, pods: 0, churn: 0, datastore: this.#datastore, clock: systemClock, random: () => 0.5 };
    await new PretendCluster(cluster).populate();
    for (const [index, folder] of folders.entries()) {
      const environment = await typhaSettings({
        ...tlsSettings(folder),
        TYPHA_SERVERPORT: `${this.ports[index]}`,
        TYPHA_WORKERS: index === 0 ? "1" : "0", // a worker thread has to ask the main thread what to answer
        TYPHA_PEERADDRESSES: this.ports.map((port) => `127.0.0.1:${port}`).join(","),
        TYPHA_DASHBOARDENABLED: "true",
        TYPHA_DASHBOARDHOST: "127.0.0.1",
        TYPHA_DASHBOARDPORT: "0",
      });
      const read = loadSettings({ environment, configFile: "" });
      const options = { read, datastore: this.#datastore, log: silentLog, version: "v0-test" };
      this.typhas.push(this.#stack.use(await startTypha({ ...options, signal: this.#ending.signal })));
    }
  }

  connect(hostname: string, server: number, { client }: CertificateFolder): void {
    const servers = `127.0.0.1:${this.ports[server]}`;
    const tls = { ...client, server: { commonName: "calico-typha" } };
    const updates = follow({ servers, tls, hostname, info: "an agent", signal: this.#ending.signal });
    void (async () => {
      for await (const _ of updates);
    })();
  }

  async ask<Answer>(server: number, path: string): Promise<Answer> {
    const response = await fetch(`http://${this.typhas[server]?.httpAddresses.dashboard}${path}`);
    return (await response.json()) as Answer; // our own server's JSON
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

test("each of three servers knows the nodes of all three, and which node is connected nowhere", async () => {
  using folder = certificateFolder();
  await using replicas = await Replicas.start([folder, folder, folder], 4);
  for (const [index, node] of ["node-001", "node-002", "node-003"].entries()) replicas.connect(node, index, folder);
  for (const server of [0, 1, 2]) {
    await eventually(async () => {
      const { nodes } = await replicas.ask<OverviewView>(server, "/api/overview");
      return nodes.upToDate === 3;
    }, "three nodes up to date");
    const { nodes, servers, unheardServers, attention } = await replicas.ask<OverviewView>(server, "/api/overview");
    deepEqual(
      { ...nodes, servers, unheardServers },
      {
        ...{ expected: 4, here: 1, elsewhere: 2, upToDate: 3, missing: ["node-004"], behind: [], unknown: 0 },
        ...{ servers: 3, unheardServers: [] },
      },
    );
    equal(
      attention.some(({ what }) => what === "1 node is not connected: node-004"),
      true,
    );
    const listed = await replicas.ask<NodesView>(server, "/api/nodes");
    const places = listed.nodes.map(({ node, server: at }) => [node, at === null ? null : Number(at.split(":")[1])]);
    const portOf = (of: number) => (of === server ? null : replicas.ports[of]);
    deepEqual(places, [
      ["node-001", portOf(0)],
      ["node-002", portOf(1)],
      ["node-003", portOf(2)],
      ["node-004", null],
    ]);
  }
  // Asking makes nobody a client, for longer than a question takes.
  for (const { server } of replicas.typhas)
    await eventually(async () => (await server.clients()).length === 1, "one client for each server");
});

test("a server that cannot be heard is named with the reason, and nobody is said to be missing because of it", async () => {
  using folder = certificateFolder();
  using stranger = certificateFolder();
  await using replicas = await Replicas.start([folder, stranger], 2);
  replicas.connect("node-001", 0, folder);
  await eventually(async () => {
    const { nodes, unheardServers } = await replicas.ask<OverviewView>(0, "/api/overview");
    return nodes.upToDate === 1 && unheardServers[0]?.why !== "it has not answered yet";
  }, "one node up to date");
  const { nodes, unheardServers } = await replicas.ask<OverviewView>(0, "/api/overview");
  deepEqual([nodes.missing, nodes.unknown], [[], 1]);
  deepEqual(
    unheardServers.map(({ server }) => server),
    [`127.0.0.1:${replicas.ports[1]}`],
  );
  match(unheardServers[0]?.why ?? "", /certificate/);
});

const askers: { name: string; with: "client" | "server" | "none"; isTold: boolean }[] = [
  { name: "another server", with: "server", isTold: true },
  { name: "a node", with: "client", isTold: false },
  { name: "whoever has no certificate", with: "none", isTold: false },
];
for (const { name, with: shown, isTold } of askers) {
  test(`${name} is ${isTold ? "told" : "not told"} which nodes a server has`, async () => {
    using folder = certificateFolder();
    await using replicas = await Replicas.start([folder], 1);
    replicas.connect("node-001", 0, folder);
    await eventually(async () => (await replicas.typhas[0]?.server.clients())?.length === 1, "the node");
    equal((await askAs(replicas.ports[0] ?? 0, folder, shown)).includes("node-001"), isTold);
  });
}

/** What comes back for the question, by whoever shows this certificate. */
async function askAs(port: number, folder: CertificateFolder, shown: "client" | "server" | "none"): Promise<string> {
  const { readFileSync } = await import("node:fs");
  const files = shown === "none" ? undefined : folder[shown];
  const pair = files === undefined ? {} : { cert: readFileSync(files.certFile), key: readFileSync(files.keyFile) };
  const ca = readFileSync(folder.client.caFile);
  const socket = connect({
    ...{ host: "127.0.0.1", port, ca, ...pair, servername: "nodes.cattail.invalid" },
    checkServerIdentity: () => undefined,
  });
  return await new Promise((resolve) => {
    let heard = "";
    socket.on("data", (part: Buffer) => (heard += part.toString()));
    socket.on("error", () => resolve(heard));
    socket.on("close", () => resolve(heard));
  });
}
