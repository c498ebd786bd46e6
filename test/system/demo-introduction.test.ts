// What the demo prints first: the commands it suggests work as printed, and its lines fit a terminal.
import { deepEqual, equal, match } from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { promisify } from "node:util";
import { Cattail } from "../kit/cattail-process.ts";
import { freePort } from "../kit/free-port.ts";

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
