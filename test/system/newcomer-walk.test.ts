// A newcomer's walk: the demo's own suggestions work as printed, and every `cattail` command line that a page shows is one
// that the program takes. (test/alone/guide.test.ts runs the guide; test/conformance/pages.test.ts follows the links.)
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { promisify } from "node:util";
import { Cattail, cattail } from "../kit/cattail-process.ts";
import { freePort } from "../kit/free-port.ts";
import { codeOf, pages } from "../kit/pages.ts";

const shell = promisify(execFile);

test("the three commands that the demo prints work as printed", async () => {
  const ports = ["--port", String(await freePort()), "--dashboard-port", String(await freePort())];
  await using demo = new Cattail(["demo", "--nodes", "3", "--pods", "6", ...ports]);
  const printed = await demo.until("three commands", () => {
    const lines = [...demo.stdout.matchAll(/^ {2}(\.\/bin\/cattail .*)$/gm)].map(([, line = ""]) => line);
    return demo.stdout.includes("Ctrl-C stops everything") ? lines : undefined;
  });
  equal(printed.length, 3, demo.stdout);
  const [told = "", changes = "", certificate = ""] = printed;

  match((await shell("sh", ["-c", told])).stdout, /^WorkloadEndpoint +\d+ +\d+$[\s\S]*^in sync; /m);
  match((await shell("sh", ["-c", certificate])).stdout, /CN=calico-typha[\s\S]*\(valid\)/);

  // This one goes on until somebody has seen enough.
  const following = spawn("sh", ["-c", `exec ${changes}`], { stdio: ["ignore", "pipe", "inherit"] });
  let seen = "";
  for await (const chunk of following.stdout) {
    seen += String(chunk);
    if (/WorkloadEndpoint/.test(seen)) break;
  }
  const exited = once(following, "exit");
  following.kill("SIGINT");
  equal((await exited)[0], 0);
  await endByCtrlC(demo);
});

test("the introduction fits a terminal of 80 columns, but for the commands", async () => {
  const ports = ["--port", String(await freePort()), "--dashboard-port", String(await freePort())];
  await using demo = new Cattail(["demo", "--nodes", "11", "--pods", "6", ...ports]);
  await demo.until("the introduction", () => demo.stdout.includes("Ctrl-C stops everything") || undefined);
  // Commands are to be copied whole, and the temporary folder is where the system has it.
  const introduction = demo.stdout.slice(0, demo.stdout.indexOf("Ctrl-C")).split("\n");
  deepEqual(
    introduction.filter((line) => line.length > 80 && !/bin\/cattail|cattail-demo-/.test(line)),
    [],
  );
  await endByCtrlC(demo);
});

/** The way that leaves no folder behind. */
async function endByCtrlC(demo: Cattail): Promise<void> {
  demo.process.kill("SIGINT");
  equal(await demo.ended, 0);
}

type Command = { readonly path: string; readonly words: readonly string[] };

test("every cattail command line on a page is one that the program takes", async () => {
  // The completion script is made by walking all commands.
  const script = (await cattail(["completion", "bash"])).stdout;
  const commands = [...script.matchAll(/^ {4}"([^"]*)"\) echo "([^"]*)";;$/gm)].map(([, path = "", words = ""]) => ({
    path,
    words: words.split(" "),
  }));
  ok(commands.length > 8);
  const lines = pages().flatMap((page) =>
    codeOf(page).flatMap((code) => commandLines(code).map((line) => ({ page, line }))),
  );
  ok(lines.length > 30, `only ${lines.length} command lines were found`);
  const wrong = lines.flatMap(({ page, line }) => {
    const problem = problemOf(line, commands);
    return problem === undefined ? [] : [`${page.file}: ${line}: ${problem}`];
  });
  deepEqual(wrong, []);
});

/** What follows the program's name, up to the end of that command. */
function commandLines(code: string): string[] {
  return [...code.matchAll(/(?:^|[\s!(=]|bin\/)cattail ((?!\s)[^|>&;)]*)/g)].map(([, line = ""]) => line.trim());
}

/** Undefined: fine. A word in capitals, or an ellipsis, stands for something. */
function problemOf(line: string, commands: readonly Command[]): string | undefined {
  let at = commands.find(({ path }) => path === "");
  for (const word of line.split(/\s+/)) {
    const long = /^(--[a-z-]+)/.exec(word)?.[1];
    if (long !== undefined) {
      if (!at?.words.includes(long) && long !== "--version") return `no option ${long}`;
      continue;
    }
    const child = commands.find(({ path }) => path === `${at?.path ?? ""} ${word}`.trim());
    if (child !== undefined) at = child;
    else if (at?.path === "" && /^[a-z]/.test(word)) return `no command ${word}`;
  }
  return undefined;
}
