// Two thousand nodes in the browser: only the rows in sight exist, and finding one among them is a matter of typing.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { test } from "node:test";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { type DashboardSource, type NodeView, startDashboard } from "../../src/typha/dashboard/index.ts";
import { openPage, startChromium, withoutChromium } from "../kit/chromium.ts";

const nodes: NodeView[] = Array.from({ length: 2000 }, (_, index) => {
  const node = `node-${String(index + 1).padStart(4, "0")}`;
  const connection = {
    id: String(index),
    syncer: "felix",
    address: `10.0.${index >> 8}.${index & 255}:40000`,
    version: "v3.32.0",
    info: "",
    compression: "snappy",
    policyKeys: "modern",
    connectedSinceMs: 0,
    state: "streaming",
    lagUpdates: 0,
    lagMs: 0,
    answersAfterMs: 1,
    bytesSent: index,
    queuedBytes: 0,
  };
  const isMissing = index === 1500;
  return {
    node,
    expected: true,
    state: isMissing ? "not connected" : "up to date",
    connections: isMissing ? [] : [connection],
    server: null,
  };
});

const source: DashboardSource = {
  sample: async () => ({ updatesTotal: 0, deliveryP50Ms: null, deliveryP99Ms: null }),
  facts: async () => ({
    version: "v0",
    startedAtMs: 0,
    address: "127.0.0.1:5473",
    workers: 2,
    ready: true,
    notReady: [],
    clientsAtMs: systemClock.wallMs(),
    servers: 1,
    unheardServers: [],
    datastore: { type: "kubernetes", state: "reachable", detail: "" },
    syncers: [{ syncer: "felix", state: "in sync", keys: 100_000, bytes: 5e7, clients: 1999 }],
    keysByKind: [{ kind: "WorkloadEndpoint", keys: 100_000, bytes: 5e7 }],
    connections: 1999,
    certificates: [],
  }),
  nodes: async () => ({ nodes, others: [] }),
  watches: () => [],
  invalidObjects: () => [],
  manifestProblems: () => [],
  keys: () => ({ syncer: "felix", total: 0, offset: 0, rows: [] }),
  key: async () => undefined,
  felix: { get: () => undefined, withPrefix: () => [], paths: () => [] },
  statuses: () => [],
  nodeReports: { is: "off", why: "TYPHA_NODEREPORTPORT is not set" },
};

test("two thousand nodes are a few dozen rows to the page", { skip: withoutChromium }, async () => {
  const ending = new AbortController();
  await using server = await startDashboard({
    source,
    host: "127.0.0.1",
    port: 0,
    clock: systemClock,
    log: silentLog,
    signal: ending.signal,
  });
  await server.listening;
  const browser = await startChromium();
  try {
    const { page, complaints } = await openPage(browser, `http://127.0.0.1:${server.addresses[0]?.port}/#/nodes`);
    const rows = page.locator("tbody tr:not(.spacer)");
    await page.locator("output").filter({ hasText: "2,000 of 2,000" }).waitFor();
    match((await rows.first().textContent()) ?? "", /node-1501.*not connected/);
    ok((await rows.count()) < 100, `${await rows.count()} rows`);
    await page.locator(".rows").hover();
    await page.mouse.wheel(0, 1_000_000);
    await page.getByText("node-2000").waitFor();
    ok((await rows.count()) < 100);
    equal(await page.locator("tr[aria-rowindex='2001']").count(), 1);
    await page.getByLabel("Find").fill("node-0777");
    await page.locator("output").filter({ hasText: "1 of 2,000" }).waitFor();
    deepEqual(complaints.lines, []);
  } finally {
    await browser.close();
    ending.abort();
  }
});
