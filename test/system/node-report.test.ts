// The report of a node over real mutual TLS: who is answered, what a Typha makes of it, and what it says of a node that does not answer as it should.
import { deepEqual, equal, match } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { test } from "node:test";
import { systemClock } from "../../src/base/lib/index.ts";
import { createHealth } from "../../src/base/observe/index.ts";
import { createMemoryDatastore } from "../../src/calico/datastore/index.ts";
import { servePages } from "../../src/node/agent/pages.ts";
import { felixSettings } from "../../src/node/settings/index.ts";
import type { NodePageView } from "../../src/typha/dashboard/index.ts";
import { startTypha } from "../../src/typha/server/index.ts";
import { loadSettings } from "../../src/typha/settings/index.ts";
import { type CertificateFolder, certificateFolder } from "../kit/certificates.ts";
import { eventually } from "../kit/eventually.ts";
import { freePort } from "../kit/free-port.ts";
import { recordLog } from "../kit/recorded-log.ts";
import { tlsSettings, typhaSettings } from "../kit/typha-settings.ts";

type Agent = AsyncDisposable & { readonly port: number; readonly lines: readonly { readonly message: string }[] };

/** The pages of an agent, without an agent behind them. */
async function startAgentPages(node: string, values: { readonly [name: string]: string }): Promise<Agent> {
  const port = await freePort();
  const raw: { readonly [name: string]: string } = { ReportEnabled: "true", ReportPort: String(port), ...values };
  const { log, lines } = recordLog();
  const ending = new AbortController();
  const live = { raw: (name: string) => raw[name], onChange: () => ({ [Symbol.dispose]: () => undefined }) };
  const health = createHealth({ clock: systemClock, log });
  health.register("routes", { reportsReady: true }).report({ ready: false, detail: "10.65.1.0/26: no way" });
  const row = { destination: "10.65.1.0/26", node: "b", expected: "via 192.0.2.2", actual: "none", why: "no way" };
  const serving = servePages({
    settings: felixSettings(live),
    health,
    metrics: undefined as never, // they are switched off
    reported: {
      ...{ node, version: "cattail v9", startedAtMs: 1, health },
      sources: { routes: () => [{ ...row, state: "missing" }] },
    },
    ...{ clock: systemClock, log, signal: ending.signal },
  });
  await eventually(
    () => lines.some(({ message }) => /listening|cannot be served/.test(message)),
    () => `a page, in ${JSON.stringify(lines)}`,
  );
  return {
    port,
    lines,
    async [Symbol.asyncDispose]() {
      ending.abort();
      await serving;
    },
  };
}

const typhaFiles = ({ client }: CertificateFolder) => ({
  TyphaCertFile: client.certFile,
  TyphaKeyFile: client.keyFile,
  TyphaCAFile: client.caFile,
  TyphaCN: "calico-typha",
  ReportHost: "127.0.0.1",
});

const askers: { name: string; with: "server" | "client" | "a stranger" | "none"; isAnswered: boolean }[] = [
  { name: "Typha", with: "server", isAnswered: true },
  { name: "another node", with: "client", isAnswered: false },
  { name: "a stranger of Typha's name", with: "a stranger", isAnswered: false },
  { name: "who has no certificate", with: "none", isAnswered: false },
];
for (const { name, with: shown, isAnswered } of askers) {
  test(`the report is ${isAnswered ? "told to" : "kept from"} ${name}`, async () => {
    using folder = certificateFolder();
    using strangers = certificateFolder();
    await using agent = await startAgentPages("a", typhaFiles(folder));
    const pair = shown === "none" ? undefined : shown === "a stranger" ? strangers.server : folder[shown];
    const answer = await ask(agent.port, "/report", pair);
    equal(answer.includes('"node":"a"'), isAnswered, answer);
  });
}

test("without TLS the report is opened on the loopback only", async () => {
  await using open = await startAgentPages("a", { ReportHost: "" });
  equal(
    open.lines.some(({ message }) => message.includes("listening")),
    false,
  );
  await using local = await startAgentPages("a", { ReportHost: "127.0.0.1" });
  const heard = await fetch(`http://127.0.0.1:${local.port}/report`);
  equal(((await heard.json()) as { version: string }).version, "cattail v9");
  const elsewhere = await fetch(`http://127.0.0.1:${local.port}/report`, { method: "POST" });
  equal(elsewhere.status, 405);
});

test("a Typha asks the node at its address, and says who answers there in its place", async () => {
  using folder = certificateFolder(undefined, { isForBothRoles: true });
  await using agent = await startAgentPages("a", typhaFiles(folder));
  await using datastore = createMemoryDatastore();
  for (const name of ["a", "b"]) await datastore.create("Node", nodeAt(name, "127.0.0.1"));
  const ending = new AbortController();
  const environment = await typhaSettings({
    ...tlsSettings(folder),
    TYPHA_DASHBOARDENABLED: "true",
    TYPHA_DASHBOARDHOST: "127.0.0.1",
    TYPHA_DASHBOARDPORT: "0",
    TYPHA_NODEREPORTPORT: String(agent.port),
  });
  const read = loadSettings({ environment, configFile: "" });
  const { log } = recordLog();
  await using typha = await startTypha({ read, datastore, log, version: "v0-test", signal: ending.signal });
  const page = async (node: string) => {
    const answer = await fetch(`http://${typha.httpAddresses.dashboard}/api/node?node=${node}`);
    return (await answer.json()) as NodePageView | null; // our own server's JSON
  };
  await eventually(async () => (await page("a")) !== null && (await page("b")) !== null, "both nodes");
  const a = await page("a");
  deepEqual(
    { health: a?.health, reasons: a?.reasons, version: a?.version, routes: a?.routes, rows: a?.routeRows?.length },
    {
      ...{ health: "not ready", reasons: ["routes: 10.65.1.0/26: no way"], version: "cattail v9" },
      ...{ routes: { right: 0, wrong: 1 }, rows: 1 },
    },
  );
  const b = await page("b");
  match(b?.silent?.why ?? "", /^at 127\.0\.0\.1 answers a, not b$/);
  equal(await page("c"), null);
});

test("a node whose certificate may not be used by servers is told apart from one that is not there", async () => {
  using folder = certificateFolder();
  await using agent = await startAgentPages("a", typhaFiles(folder));
  await using datastore = createMemoryDatastore();
  await datastore.create("Node", nodeAt("a", "127.0.0.1"));
  const ending = new AbortController();
  const dashboard = { TYPHA_DASHBOARDENABLED: "true", TYPHA_DASHBOARDHOST: "127.0.0.1", TYPHA_DASHBOARDPORT: "0" };
  const ports = { TYPHA_NODEREPORTPORT: String(agent.port) };
  const environment = await typhaSettings({ ...tlsSettings(folder), ...dashboard, ...ports });
  const read = loadSettings({ environment, configFile: "" });
  const { log } = recordLog();
  await using typha = await startTypha({ read, datastore, log, version: "v0-test", signal: ending.signal });
  await eventually(async () => {
    const answer = await fetch(`http://${typha.httpAddresses.dashboard}/api/node?node=a`);
    const view = (await answer.json()) as NodePageView | null; // our own server's JSON
    return /may not be used by servers/.test(view?.silent?.why ?? "");
  }, "the reason");
});

function nodeAt(name: string, address: string): object {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, annotations: { "projectcalico.org/IPv4Address": `${address}/32` } },
    spec: {},
    status: { addresses: [{ type: "InternalIP", address }] },
  };
}

/** The body, or why there is none. */
function ask(port: number, path: string, pair: CertificateFolder["client"] | undefined): Promise<string> {
  const shown = pair === undefined ? {} : { cert: readFileSync(pair.certFile), key: readFileSync(pair.keyFile) };
  return new Promise((resolve) => {
    const asked = request({ host: "127.0.0.1", port, path, rejectUnauthorized: false, agent: false, ...shown });
    asked.on("response", async (response) => resolve(Buffer.concat(await response.toArray()).toString()));
    asked.on("error", (error) => resolve(`refused: ${error.message}`));
    asked.end();
  });
}
