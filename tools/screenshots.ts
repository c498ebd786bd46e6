// Takes the dashboard's pictures in docs/images from a demo that has run for a minute or more:
//   npm start                                  (in another terminal)
//   npm run screenshots [-- http://127.0.0.1:9095/]
import { mkdirSync } from "node:fs";
import type { Page } from "playwright-core";
import { openPage, startChromium } from "../test/kit/chromium.ts";

const [address = "http://127.0.0.1:9095/"] = process.argv.slice(2);
const folder = new URL("../docs/images/", import.meta.url).pathname;
mkdirSync(folder, { recursive: true });

type Shot = {
  readonly name: string;
  readonly hash: string;
  readonly width?: number;
  readonly height?: number;
  readonly isDark?: boolean;
  readonly prepare: (page: Page) => Promise<unknown>;
};

const openPod = async (page: Page) => {
  await page.getByLabel("Pod").fill("payments");
  await page
    .getByRole("link", { name: /^payments\// })
    .last()
    .click();
  await page.getByRole("heading", { name: "Policies that apply" }).waitFor();
};

const shots: Shot[] = [
  { name: "overview", hash: "", height: 900, prepare: (page) => page.getByText("is not well").first().waitFor() },
  {
    name: "overview-dark",
    hash: "",
    height: 900,
    isDark: true,
    prepare: (page) => page.locator("canvas").nth(1).waitFor(),
  },
  {
    name: "nodes",
    hash: "#/nodes",
    prepare: async (page) => {
      await page.getByText("BGP not established").first().waitFor();
      await page.getByRole("row", { name: /^node-049 behind/ }).waitFor();
    },
  },
  {
    name: "node",
    hash: "#/nodes?node=node-007",
    height: 900,
    prepare: (page) => page.getByText("10.64.5.0/24").waitFor(),
  },
  {
    name: "hits",
    hash: "#/policies",
    height: 640,
    prepare: (page) => page.getByText(/counted by 49 of 50/).waitFor(),
  },
  {
    name: "key",
    hash: "#/endpoints",
    prepare: async (page) => {
      await openPod(page);
      await page.getByRole("link", { name: "its key" }).click();
      await page.getByText("Clients that have it").waitFor();
    },
  },
  { name: "policies", hash: "#/endpoints", prepare: openPod },
  { name: "watches", hash: "#/watches", prepare: (page) => page.getByText("are followed").waitFor() },
  { name: "phone", hash: "", width: 390, height: 844, prepare: (page) => page.locator("canvas").first().waitFor() },
];

const browser = await startChromium();
for (const { name, hash, width = 1180, height = 760, isDark = false, prepare } of shots) {
  const { page, complaints } = await openPage(browser, `${address}${hash}`, { width, height, isDark });
  await prepare(page);
  await page.screenshot({ path: `${folder}dashboard-${name}.png` });
  if (complaints.lines.length > 0) console.log(name, complaints.lines);
  await page.close();
}
await browser.close();
