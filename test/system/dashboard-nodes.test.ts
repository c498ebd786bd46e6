// What nodes say of themselves, in a real browser: the list, one node, policies with their packets; and the states in which nothing, or bad news, is to be
// told. The nodes are simulated; test/system/node-report.test.ts asks a real agent.
import { deepEqual, equal, match } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { systemClock } from "../../src/base/lib/index.ts";
import { DemoReports } from "../../src/programs/demo/index.ts";
import { accessibilityProblems, becomesTrue, openPage, startChromium, withoutChromium } from "../kit/chromium.ts";
import { type DashboardSubject, startDashboardSubject } from "../kit/dashboard-subject.ts";

describe("what nodes say on the dashboard", { skip: withoutChromium, concurrency: 3 }, () => {
  let browser: Browser;
  let subject: DashboardSubject;
  const silenced = new Set<string>();
  before(async () => {
    browser = await startChromium();
    const demo = new DemoReports({ nodes: 12, running: 11, version: "v9", nowMs: systemClock.wallMs });
    const askNode: DemoReports["ask"] = (target, path) =>
      silenced.has(target.node) ? Promise.reject(new Error("no answer within 4 s")) : demo.ask(target, path);
    subject = await startDashboardSubject({ nodes: 12, pods: 60, clients: 11, askNode });
    await subject.datastore.create("CalicoNodeStatus", statusOfTheLast);
  });
  after(async () => {
    await browser?.close();
    await subject?.[Symbol.asyncDispose]();
  });

  const visit = (name: string, hash: string, look: (page: Page) => Promise<void>) =>
    test(name, async () => {
      const { page, complaints } = await openPage(browser, `${subject.address}${hash}`);
      try {
        await look(page);
        await isReadableEverywhere(page);
        deepEqual(complaints.lines, []);
      } finally {
        await page.close();
      }
    });

  visit(
    "the list has health, sessions, routes, pods and version, and finds who is not well",
    "#/nodes",
    async (page) => {
      await page.getByRole("row", { name: "node-007 up to date not ready bird: BGP not established" }).waitFor();
      await page.getByRole("row", { name: "node-001 up to date well 2 12 5 cattail v9" }).waitFor();
      await page.getByLabel("Show").selectOption("not well");
      await page.locator("output").filter({ hasText: "2 of 12" }).waitFor();
    },
  );

  visit("a node has its parts, sessions and routes; by keyboard alone", "#/nodes", async (page) => {
    const link = page.getByRole("link", { name: "node-007" });
    await link.focus();
    equal(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "solid");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "node-007" }).waitFor();
    await page.getByText("1 of 2 sessions are up").waitFor();
    await page.getByRole("row", { name: /172\.20\.255\.2 Active/ }).waitFor();
    await page.getByText("5 of 6 parts are well").waitFor();
    await page.getByRole("row", { name: /10\.64\.0\.0\/24 right node-001 via 10\.64\.0\.1, in VXLAN/ }).waitFor();
    await page.getByText("cattail v9, running for").waitFor();
  });

  visit("a node of which only a CalicoNodeStatus tells shows that", "#/nodes?node=node-012", async (page) => {
    await page.getByText("a CalicoNodeStatus object").waitFor();
    await page.getByRole("row", { name: "172.20.0.1 node-001 Established" }).waitFor();
    await page.getByRole("row", { name: /10\.64\.0\.0\/24 right node-001/ }).waitFor();
    await page.getByRole("row", { name: /10\.64\.1\.0\/24 missing node-002/ }).waitFor();
    await page.getByText(/^It has not answered for .*: nothing listens there/).waitFor();
  });

  visit("a node that falls silent keeps what it said, with its age", "#/nodes?node=node-003", async (page) => {
    await page.getByText("6 of 6 parts are well").waitFor();
    silenced.add("node-003");
    await page.getByText(/^It has not answered for .*: no answer within 4 s\. What stands here was said/).waitFor();
    await page.getByText("6 of 6 parts are well").waitFor();
    await page.getByText(/^Its agent does not answer\. When it did, \d+ were right and \d+ were not\.$/).waitFor();
    await page.goto(`${subject.address}#/overview`);
    await page.getByText(/node(?: is|s are) silent: node-003/).waitFor();
  });

  visit("policies have their packets, summed up over the nodes, and each rule its own", "#/policies", async (page) => {
    // The test of a node that falls silent may have taken one away.
    await page.getByText(/packets counted by 1[01] of 12 nodes, (1 does|2 do) not answer/).waitFor();
    const row = page.getByRole("row", { name: /default\.allow-dns/ });
    match((await row.textContent()) ?? "", /GlobalNetworkPolicydefault\d+1[\d,]{4,}0$/);
    await page.getByText("end of tier default").waitFor();
    await page.getByRole("searchbox", { name: "Policy" }).fill("ledger");
    await page.getByText(/^1 policy/).waitFor();
    await page.getByRole("link", { name: "payments/default.ledger-from-api" }).click();
    await page.getByRole("heading", { name: "payments/default.ledger-from-api" }).waitFor();
    await page.getByRole("row", { name: /ingress 1 allow from app == 'api' [\d,]+/ }).waitFor();
  });
});

test("where nobody asks nodes, the pages say what to set", { skip: withoutChromium }, async () => {
  await using subject = await startDashboardSubject({ nodes: 2, pods: 2, clients: 1 });
  const browser = await startChromium();
  try {
    for (const hash of ["#/nodes", "#/policies", "#/nodes?node=node-001"]) {
      const { page, complaints } = await openPage(browser, `${subject.address}${hash}`);
      await page.getByText("TYPHA_NODEREPORTPORT=9096").waitFor();
      await isReadableEverywhere(page);
      deepEqual(complaints.lines, []);
      await page.close();
    }
  } finally {
    await browser.close();
  }
});

/** As calico/node writes it for a node whose BIRD has one session and one route. */
const statusOfTheLast = {
  apiVersion: "crd.projectcalico.org/v1",
  kind: "CalicoNodeStatus",
  metadata: { name: "the-last" },
  spec: { node: "node-012", classes: ["Agent", "BGP", "Routes"], updatePeriodSeconds: 10 },
  status: {
    lastUpdated: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
    agent: { birdV4: { state: "Ready", version: "v0.3.3", routerID: "172.20.0.12" }, birdV6: {} },
    bgp: {
      numberEstablishedV4: 1,
      numberNotEstablishedV4: 0,
      numberEstablishedV6: 0,
      numberNotEstablishedV6: 0,
      peersV4: [{ peerIP: "172.20.0.1", type: "NodeMesh", state: "Established", since: "09:18:21" }],
    },
    routes: {
      routesV4: [
        {
          type: "FIB",
          destination: "10.64.0.0/24",
          gateway: "172.20.0.1",
          interface: "eth0",
          learnedFrom: { sourceType: "NodeMesh", peerIP: "172.20.0.1" },
        },
      ],
    },
  },
};

async function isReadableEverywhere(page: Page): Promise<void> {
  deepEqual({ light: await accessibilityProblems(page) }, { light: [] });
  await page.emulateMedia({ colorScheme: "dark" });
  deepEqual({ dark: await accessibilityProblems(page) }, { dark: [] });
  await page.setViewportSize({ width: 390, height: 844 });
  await becomesTrue(page, "document.documentElement.scrollWidth === innerWidth");
  deepEqual({ phone: await accessibilityProblems(page) }, { phone: [] });
}
