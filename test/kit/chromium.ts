// A real browser for the dashboard's tests: the system's Chromium, where there is one.
import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { eventually } from "./eventually.ts";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const flags = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

const chromiumPath = findChromium();

/** For a test's `skip`: false where there is a Chromium. */
export const withoutChromium: string | false =
  chromiumPath === undefined ? "no Chromium: none on PATH, and CHROMIUM names none" : false;

export function startChromium(): Promise<Browser> {
  return chromium.launch({ ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }), args: flags });
}

export type Complaints = { readonly lines: string[] };

/** A page that remembers everything it complained about: errors, warnings, breaches of its security policy. */
export async function openPage(
  browser: Browser,
  address: string,
  options: { width?: number; height?: number; isDark?: boolean } = {},
): Promise<{ page: Page; complaints: Complaints }> {
  const { width = 1280, height = 800, isDark = false } = options;
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: isDark ? "dark" : "light" });
  page.setDefaultTimeout(120_000);
  const lines: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") lines.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => lines.push(`uncaught: ${error.message}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(new URL("/", address).href) && !request.url().startsWith("data:"))
      lines.push(`asked for something outside: ${request.url()}`);
  });
  await page.goto(address);
  return { page, complaints: { lines } };
}

/** What axe-core finds wrong with the page as it stands, one line each. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  const { source } = createRequire(import.meta.url)("axe-core") as { source: string }; // the library as text, for a page
  if (await page.evaluate("!('axe' in window)")) await page.evaluate(source);
  const found = await page.evaluate(
    `axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })`,
  );
  const { violations } = found as {
    violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[];
  }; // the shape that axe-core documents
  return violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html.slice(0, 200)} (${nodes[0]?.failureSummary})`,
  );
}

function findChromium(): string | undefined {
  const given = process.env.CHROMIUM;
  const folders = (process.env.PATH ?? "").split(delimiter);
  const candidates =
    given === undefined ? folders.flatMap((folder) => names.map((name) => join(folder, name))) : [given];
  return candidates.find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // not there, or not ours to run
  }
}

/** Asked from outside: the page's own rules let it evaluate no text, which Playwright's waiting would have it do. */
export async function becomesTrue(page: Page, expression: string): Promise<void> {
  await eventually(async () => (await page.evaluate(expression)) === true, expression);
}
