// The page over a line that is slow, falls silent or is gone without a word: what it shows is right, and it says when that
// is old.
import { equal, match } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { openPage, startChromium, withoutChromium } from "../kit/chromium.ts";
import { type DashboardSubject, startDashboardSubject } from "../kit/dashboard-subject.ts";
import { type FaultProxy, startProxy } from "../kit/proxy.ts";

describe("the dashboard over a bad line", { skip: withoutChromium, concurrency: 2 }, () => {
  let browser: Browser;
  let subject: DashboardSubject;
  before(async () => {
    browser = await startChromium();
    subject = await startDashboardSubject({ nodes: 3, pods: 8, clients: 2 });
  });
  after(async () => {
    await browser?.close();
    await subject?.[Symbol.asyncDispose]();
  });

  const over = (name: string, hash: string, look: (page: Page, line: FaultProxy) => Promise<void>) =>
    test(name, async () => {
      await using line = await startProxy(Number(new URL(subject.address).port));
      const { page } = await openPage(browser, `http://127.0.0.1:${line.port}/${hash}`);
      try {
        await status(page, "live").waitFor();
        await look(page, line);
      } finally {
        await page.close();
      }
    });

  over("answers that take longer than a push are shown all the same, and asked for again", "", async (page) => {
    await page.route("**/api/keys*", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 2500));
      await route.continue().catch(() => undefined); // the page may not want it any more
    });
    await page.getByRole("link", { name: "Keys", exact: true }).click();
    await page.getByText(/^[\d,]+ keys/).waitFor();
    await page.waitForResponse(/\/api\/keys/);
    await page.getByLabel("Find").fill("there is no such key");
    await page.getByText("No keys", { exact: true }).waitFor();
  });

  over(
    "a silent server is not live; the alert is said once while its age goes on beside it",
    "",
    async (page, line) => {
      line.freeze();
      const alert = page.getByRole("alert").filter({ hasText: "The server does not answer" });
      await alert.waitFor();
      await status(page, "not live").waitFor();
      await page.evaluate(
        `changes = 0;
       new MutationObserver((all) => { changes += all.length; })
         .observe(document.querySelector("[role=alert]"), { subtree: true, childList: true, characterData: true });`,
      );
      const age = page.locator(".gone").getByText(/\d+ (s|min) ago/);
      const first = (await age.textContent()) ?? "";
      await page.locator(".gone").filter({ hasNotText: first }).waitFor();
      match((await age.textContent()) ?? "", /^What you see is what it said last, \d+ (s|min) ago\.$/);
      equal(await page.evaluate("changes"), 0);
      line.thaw();
      await alert.waitFor({ state: "detached" });
      await status(page, "live").waitFor();
    },
  );

  over("a connection that is dead without a word is replaced", "", async (page, line) => {
    await page.getByRole("heading", { name: "2 of 3 nodes are up to date" }).waitFor();
    line.halfOpen();
    subject.connect("node-003");
    await page.getByRole("heading", { name: "All 3 nodes are up to date" }).waitFor();
    await status(page, "live").waitFor();
  });

  over("a page that slept is not told that the server was silent; one that was awake is", "", async (page, line) => {
    await page.clock.install();
    await page.reload();
    await status(page, "live").waitFor();
    await page.clock.pauseAt((await timeOf(page)) + 3_600_000);
    // From here on time passes only as said below. A push comes all the same, and with it the count begins anew.
    const uptime = (await page.getByText(/up for \d/).textContent()) ?? "";
    await page.locator("main").filter({ hasNotText: uptime }).waitFor();
    await page.clock.fastForward("08:00:00");
    equal(await page.getByRole("alert").count(), 0);
    equal(await status(page, "live").count(), 1);
    line.freeze();
    await page.clock.resume();
    await page.getByRole("alert").filter({ hasText: "The server does not answer" }).waitFor();
    line.thaw();
  });
});

function status(page: Page, says: string) {
  return page.locator("header").getByRole("status").getByText(says, { exact: true });
}

async function timeOf(page: Page): Promise<number> {
  return (await page.evaluate("Date.now()")) as number; // what Date.now gives
}
