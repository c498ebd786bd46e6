// `npm start` as a supervisor or a script runs it: without a terminal, and ended by a signal to npm. npm passes that on to its
// shell, and the shell to nobody; the demo has to notice by itself.
import { deepEqual, equal, match } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Cattail } from "../kit/cattail-process.ts";
import { freePort } from "../kit/free-port.ts";
import { eventually } from "../kit/serving.ts";

/** npm keeps there what it has compiled of itself. */
const ours = (folder: string) => readdirSync(folder).filter((name) => name !== "node-compile-cache");

test("SIGTERM to `npm start` ends the demo, and its certificates go", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cattail-npm-start-"));
  const flags = ["--nodes", "3", "--pods", "6", "--port", `${await freePort()}`];
  const { PATH, HOME } = process.env;
  const npm = spawn("npm", ["start", "--", ...flags, "--dashboard-port", `${await freePort()}`], {
    detached: true, // in a group of its own, so that only npm gets the signal
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH, HOME, TMPDIR: folder },
  });
  const exited = once(npm, "exit");
  let output = "";
  for (const stream of [npm.stdout, npm.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk));
  const closed = once(npm.stdout, "close"); // when the last who could write to it has gone
  try {
    await eventually(
      () => output.includes("nodes in sync"),
      () => `the demo at work: ${output}`,
    );
    equal(ours(folder).length, 1, "the certificates");
    npm.kill("SIGTERM");
    await exited;
    await closed;
    match(output, /Stopping: clients, server and cluster end, and the certificates are removed\.\n$/);
    deepEqual(ours(folder), []);
  } finally {
    try {
      process.kill(-(npm.pid ?? 0), "SIGKILL"); // whoever of them is left
    } catch {
      // nobody
    }
    rmSync(folder, { recursive: true, force: true });
  }
});

test("the demo leaves nothing in the temporary folder, not even what Node has compiled", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cattail-demo-leaves-"));
  const flags = ["--nodes", "3", "--pods", "6", "--port", `${await freePort()}`];
  await using demo = new Cattail(["demo", ...flags, "--dashboard-port", `${await freePort()}`], {
    program: [process.execPath, "bin/cattail"],
    env: { TMPDIR: folder, NODE_COMPILE_CACHE: undefined },
  });
  await demo.says(/nodes in sync/);
  demo.process.kill("SIGTERM");
  equal(await demo.ended, 0, demo.output);
  deepEqual(readdirSync(folder), []);
  rmSync(folder, { recursive: true, force: true });
});
