// The dashboard in a real browser: each view with live data, its filters, its empty and error states, a restart of the
// server under it, and what everybody needs who cannot use a mouse or see a canvas.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { createMemoryDatastore, type Datastore } from "../../src/calico/datastore/index.ts";
import {
  accessibilityProblems,
  becomesTrue,
  type Complaints,
  openPage,
  startChromium,
  withoutChromium,
} from "../kit/chromium.ts";
import { type DashboardSubject, startDashboardSubject } from "../kit/dashboard-subject.ts";
import { freePort } from "../kit/free-port.ts";

const views = ["overview", "nodes", "keys", "endpoints", "policies", "pair", "addresses", "watches"] as const;

// A few pages at a time: most of it is waiting for what is pushed once a second.
describe("the dashboard", { skip: withoutChromium, concurrency: 3 }, () => {
  let browser: Browser;
  let subject: DashboardSubject;
  before(async () => {
    browser = await startChromium();
    subject = await startDashboardSubject({ nodes: 12, pods: 60, clients: 11 });
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
        deepEqual(complaints.lines, []);
      } finally {
        await page.close();
      }
    });

  visit("says in one sentence how the nodes are, and draws its plots", "", async (page) => {
    await page.getByRole("heading", { name: "11 of 12 nodes are up to date" }).waitFor();
    await page.getByText("1 node is not connected: node-012").waitFor();
    await page.getByText("TLS is off").waitFor();
    await page.getByRole("status").filter({ hasText: "live" }).waitFor();
    await page.locator("canvas").nth(1).waitFor();
    // Readiness is reported once a second, so the page may be there before it.
    await page
      .locator(".flow", { hasText: /Datastore\s*reachable.*This server\s*in sync.*Nodes\s*11 of 12/ })
      .waitFor();
    await page.getByRole("link", { name: "WorkloadEndpoint" }).waitFor();
  });

  test("is live: what connects, and what changes, shows up without a reload", async () => {
    await using own = await startDashboardSubject({ nodes: 3, pods: 3, clients: 2 });
    const { page, complaints } = await openPage(browser, own.address);
    await page.getByRole("heading", { name: "2 of 3 nodes are up to date" }).waitFor();
    own.connect("node-003");
    await page.getByRole("heading", { name: "All 3 nodes are up to date" }).waitFor();
    deepEqual(complaints.lines, []);
    await page.close();
  });

  test("where there are several servers, a node that is not here may be with another", async () => {
    await using own = await startDashboardSubject({ nodes: 3, pods: 3, clients: 2 });
    const { page, complaints } = await openPage(browser, own.address);
    await page.getByRole("heading", { name: "2 of 3 nodes are up to date" }).waitFor();
    await own.datastore.create("EndpointSlice", {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: {
        name: "calico-typha-1",
        namespace: "kube-system",
        labels: { "kubernetes.io/service-name": "calico-typha" },
      },
      addressType: "IPv4",
      endpoints: [{ addresses: ["192.0.2.1"] }, { addresses: ["192.0.2.2"] }],
      ports: [{ name: "calico-typha", port: 5473, protocol: "TCP" }],
    });
    await page.getByRole("heading", { name: "All 2 nodes that are known of are up to date" }).waitFor();
    await page.getByText("1 unknown: not every server was heard").waitFor();
    await page.getByText("192.0.2.1:5473: TLS is off here").waitFor();
    await page.goto(`${own.address}#/nodes?node=node-003`);
    await page.getByText("Another server may have it").waitFor();
    deepEqual(complaints.lines, []);
    await page.close();
  });

  visit("shows the node that is missing first, filters and finds", "#/nodes", async (page) => {
    const rows = page.locator("tbody tr:not(.spacer)");
    await rows.first().waitFor();
    match((await rows.first().textContent()) ?? "", /node-012.*not connected/);
    await page.getByLabel("Show").selectOption("up to date");
    await page.locator("output").filter({ hasText: "11 of 12" }).waitFor();
    await page.getByLabel("Find").fill("NODE-003");
    await page.locator("output").filter({ hasText: "1 of 12" }).waitFor();
    match((await rows.first().textContent()) ?? "", /node-003.*up to date/);
    await page.getByLabel("Find").fill("no such node");
    await page.getByText("No such node", { exact: true }).waitFor();
  });

  visit("sorts nodes by any column", "#/nodes", async (page) => {
    const rows = page.locator("tbody tr:not(.spacer)");
    const heading = page.getByRole("button", { name: "node", exact: true });
    await heading.click();
    match((await rows.first().textContent()) ?? "", /^node-001/);
    await heading.click();
    match((await rows.first().textContent()) ?? "", /^node-012/);
    equal(await page.getByRole("columnheader", { name: "node" }).getAttribute("aria-sort"), "descending");
  });

  visit("opens a node and tells what its connections are", "#/nodes", async (page) => {
    await page.getByRole("link", { name: "node-002" }).click();
    const node = page.getByRole("region", { name: "Node node-002" });
    await node.getByText("modern policy keys").waitFor();
    match((await node.textContent()) ?? "", /felixstreaming(not asked yet|\d+ ms)nothing/);
    await node.getByText("Nodes are not asked how they are").waitFor();
    await node.getByRole("link", { name: "all nodes" }).click();
    await node.waitFor({ state: "detached" });
  });

  visit("says so when a link leads to a node that is not there", "#/nodes?node=no-such", (page) =>
    page.getByText("There is no node no-such").waitFor(),
  );

  test("a program that only looks makes no node green, and is listed as what it is", async () => {
    await using own = await startDashboardSubject({ nodes: 2, pods: 2, clients: 1 });
    own.connect("node-002", "cattail watch");
    own.connect("laptop", "cattail watch");
    const { page, complaints } = await openPage(browser, `${own.address}#/nodes`);
    await page.getByRole("row", { name: /cattail watch laptop/ }).waitFor();
    await page.getByRole("row", { name: /cattail watch node-002/ }).waitFor();
    await page.getByRole("row", { name: /^node-002 not connected/ }).waitFor();
    await page.locator("output").filter({ hasText: "2 of 2" }).waitFor();
    await page.goto(`${own.address}#/overview`);
    await page.getByRole("heading", { name: "1 of 2 nodes are up to date" }).waitFor();
    await page.getByText("3: 1 from 1 node (a node has one for each data set it follows), 2 from").waitFor();
    deepEqual(complaints.lines, []);
    await page.close();
  });

  visit("finds a pod's key and shows its value, history and trace", "#/keys", async (page) => {
    await page.getByLabel("Kind").selectOption("WorkloadEndpoint");
    await page.getByText(/^60 keys/).waitFor();
    await page.getByLabel("Find").fill("shop");
    await page.getByText(/^\d+ keys \(pods' network interfaces\)$/).waitFor();
    await page.locator("tbody a").first().click();
    await page.getByRole("heading", { name: /^shop\// }).waitFor();
    match((await page.locator("pre").textContent()) ?? "", /^\{\n {2}"state": "active",\n {2}"name": "cali/);
    await page.getByText("11 of 11").waitFor();
    await page.getByRole("cell", { name: "new", exact: true }).waitFor();
  });

  visit("says so when no key matches", "#/keys", async (page) => {
    await page.getByLabel("Find").fill("there is no such key");
    await page.getByText("No keys", { exact: true }).waitFor();
  });

  visit("shows which policies apply to a pod, in the order they are tried", "#/endpoints", async (page) => {
    await page.getByLabel("Pod").fill("shop");
    await page
      .getByRole("link", { name: /^shop\// })
      .first()
      .click();
    await page.getByRole("heading", { name: "Policies that apply" }).waitFor();
    ok((await page.getByRole("region", { name: /^Tier / }).count()) > 0);
    await page.getByText(/10\.\d+\.\d+\.\d+\/32/).waitFor();
    await page.getByRole("link", { name: "its key" }).click();
    await page.getByRole("heading", { name: /^shop\/.* on node-/ }).waitFor();
  });

  visit("says so when a pod is gone", "#/endpoints?path=/calico/v1/host/n/workload/k8s/a%252fb/endpoint/eth0", (page) =>
    page.getByText("There is no such pod").waitFor(),
  );

  visit("says whether two pods may talk, and which rule decides", "#/endpoints", async (page) => {
    await page.getByLabel("Pod").fill("shop");
    const pods = page.getByRole("link", { name: /^shop\// });
    await pods.first().waitFor();
    const to = (await pods.nth(1).textContent()) ?? "";
    await pods.first().click();
    await page.getByRole("link", { name: "whom may it talk to?" }).click();
    await page.getByLabel("To", { exact: true }).fill(to);
    await page.getByLabel("Port").fill("8080");
    await page.getByRole("button", { name: "Ask" }).click();
    await page.getByRole("region", { name: /^(?:Allowed|Denied)$/ }).waitFor();
    await page
      .getByText(/^(?:egress|ingress) of shop\//)
      .first()
      .waitFor();
  });

  visit("says what is wrong with a question", "#/pair?from=shop/nobody&to=10.0.0.1", async (page) => {
    await page.getByRole("alert").getByText("there is no pod shop/nobody").waitFor();
    await page.getByLabel("From").fill("shop/app=web");
    await page.getByRole("button", { name: "Ask" }).click();
    await page.getByText("a pod that does not exist yet").waitFor();
  });

  visit("shows pools, blocks, and the address that is held for nobody", "#/addresses", async (page) => {
    await page.getByRole("rowheader", { name: "10.64.0.0/10" }).waitFor();
    await page.getByText("1 address is held for pods without an endpoint").waitFor();
    await page.getByRole("searchbox", { name: "Block" }).fill("node-012");
    await page.getByRole("row", { name: /10\.64\.11\.0\/24 node-012 .*6 of 256/ }).waitFor();
  });

  visit("says that every kind is followed", "#/watches", async (page) => {
    await page.getByText(/^All \d+ kinds of objects are followed/).waitFor();
    await page.getByRole("rowheader", { name: "Pod", exact: true }).waitFor();
  });

  for (const view of views) {
    visit(
      `breaks no rule of accessibility, light, dark and on a phone, which it fits: ${view}`,
      `#/${view}`,
      async (page) => {
        await page.locator("main h2").waitFor();
        if (view === "pair") await askAboutTwoPods(page);
        await page.locator("main table, main ul, main ol").first().waitFor();
        deepEqual({ light: await accessibilityProblems(page) }, { light: [] });
        await page.emulateMedia({ colorScheme: "dark" });
        deepEqual({ dark: await accessibilityProblems(page) }, { dark: [] });
        await page.setViewportSize({ width: 375, height: 740 });
        await becomesTrue(page, "document.documentElement.scrollWidth === innerWidth");
        deepEqual({ phone: await accessibilityProblems(page) }, { phone: [] });
        await page.setViewportSize({ width: 360, height: 740 });
        await becomesTrue(page, "document.documentElement.scrollWidth === innerWidth");
      },
    );
  }

  visit("is used by keyboard alone", "", async (page) => {
    await page.getByRole("heading", { name: "nodes are up to date" }).waitFor();
    await page.keyboard.press("Tab");
    equal(await focused(page), "Skip to content");
    for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press("Tab");
    equal(await focused(page), "Nodes");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Nodes", exact: true }).waitFor();
    await becomesTrue(page, "document.activeElement.id === 'main'");
  });
});

describe("the dashboard when not all is well", { skip: withoutChromium }, () => {
  let browser: Browser;
  before(async () => {
    browser = await startChromium();
  });
  after(() => browser?.close());

  test("nobody is connected yet: it says what it waits for", async () => {
    await using subject = await startDashboardSubject({ nodes: 2, pods: 2, clients: 0 });
    const { page, complaints } = await openPage(browser, subject.address);
    await page.getByRole("heading", { name: "Ready, and waiting for the first node to connect" }).waitFor();
    deepEqual(complaints.lines, []);
    deepEqual(await accessibilityProblems(page), []);
    await page.close();
  });

  test("the datastore does not answer: it says so, why it matters and what to do", async () => {
    await using datastore = createMemoryDatastore();
    const failing: Datastore = Object.assign(Object.create(datastore), {
      get: () => Promise.reject(new Error("connect ECONNREFUSED 192.0.2.1:6443")),
    });
    await using subject = await startDashboardSubject({ nodes: 0, pods: 0, clients: 0, datastore: failing });
    const { page, complaints } = await openPage(browser, subject.address);
    await page.getByRole("heading", { name: "The datastore cannot be reached" }).waitFor();
    await page.getByText("ECONNREFUSED 192.0.2.1:6443").waitFor();
    await page.getByText("Check the API server").waitFor();
    deepEqual(complaints.lines, []);
    deepEqual(await accessibilityProblems(page), []);
    await page.close();
  });

  test("the server restarts under an open page: it says so and goes on by itself", async () => {
    const port = await freePort();
    const size = { nodes: 2, pods: 4, clients: 1, port };
    let complaints: Complaints;
    let page: Page;
    {
      await using subject = await startDashboardSubject(size);
      ({ page, complaints } = await openPage(browser, `${subject.address}#/nodes`));
      await page.getByText("node-002").waitFor();
      equal(complaints.lines.join("\n"), "");
    }
    await page.getByRole("alert").filter({ hasText: "The server does not answer" }).waitFor();
    await page.getByText("node-002").waitFor(); // what was heard last stays on screen
    deepEqual(await accessibilityProblems(page), []);
    await using again = await startDashboardSubject({ ...size, nodes: 3 });
    await page.getByText("node-003").waitFor();
    await page.getByRole("alert").waitFor({ state: "detached" });
    ok(again.address.endsWith(`:${port}/`));
    // A browser reports each connection that was refused; nothing else may have been said.
    deepEqual(
      complaints.lines.filter((line) => !line.includes("net::ERR_")),
      [],
    );
    await page.close();
  });
});

function focused(page: Page): Promise<unknown> {
  return page.evaluate("document.activeElement.textContent.trim()");
}

/** Two of the simulated cluster's shop, whose names are its own business. */
async function askAboutTwoPods(page: Page): Promise<void> {
  const pods = await page.evaluate(async () => {
    const answer = await fetch("/api/keys?syncer=felix&kind=WorkloadEndpoint&search=shop&limit=2");
    const { rows } = (await answer.json()) as { rows: { path: string }[] };
    return rows.map(({ path }) => decodeURIComponent(path.split("/")[7] ?? ""));
  });
  await page.getByLabel("From", { exact: true }).fill(pods[0] ?? "");
  await page.getByLabel("To", { exact: true }).fill(pods[1] ?? "");
  await page.getByRole("button", { name: "Ask" }).click();
}
