// `cattail demo` as a newcomer meets it: the dashboard's address comes first, it answers, a taken port is no obstacle, and
// Ctrl-C leaves nothing behind.
import { equal, match, notEqual, ok } from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { test } from "node:test";
import type { OverviewView } from "../../src/typha/dashboard/index.ts";
import { freePort } from "../kit/free-port.ts";
import { eventually } from "../kit/serving.ts";

const entry = new URL("../../src/programs/main/main.ts", import.meta.url).pathname;

test("the demo prints the dashboard's address first, takes another port where its own is in use, and tidies up", async () => {
  const ports = ["--port", String(await freePort()), "--dashboard-port", String(await freePort())];
  await using first = new Demo(ports);
  const address = await first.dashboard();
  equal(new URL(address).port, ports[3]);
  await using second = new Demo(ports);
  notEqual(new URL(await second.dashboard()).port, ports[3]);

  const introduction = first.output.slice(first.output.indexOf("Open the dashboard"));
  match(introduction, /^Open the dashboard: http:\/\/127\.0\.0\.1:\d+\/\n\nWhat runs here:/);
  await eventually(async () => {
    const overview = (await (await fetch(`${address}api/overview`)).json()) as OverviewView; // our own server's JSON
    return overview.nodes.upToDate === 3 && overview.certificates.length === 2;
  }, "three nodes up to date");

  const folder = first.folder();
  ok(existsSync(folder));
  equal(await first.stop(), 0);
  ok(!existsSync(folder));
});

test("a demo whose output nobody reads any more tidies up and ends without complaint", async () => {
  await using demo = new Demo(["--port", String(await freePort()), "--dashboard-port", String(await freePort())]);
  await demo.dashboard();
  const folder = demo.folder();
  ok(existsSync(folder));
  equal(await demo.leave(), 0);
  ok(!existsSync(folder));
});

class Demo implements AsyncDisposable {
  readonly #process: ChildProcess;
  output = "";

  constructor(flags: readonly string[]) {
    const demo = [entry, "demo", "--nodes", "3", "--pods", "6", ...flags];
    this.#process = spawn(process.execPath, demo, { stdio: ["ignore", "pipe", "inherit"] });
    this.#process.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.output += text;
    });
  }

  async dashboard(): Promise<string> {
    const printed = () => /Open the dashboard: (\S+)/.exec(this.output)?.[1];
    await eventually(
      () => printed() !== undefined,
      () => `the dashboard's address in ${this.output}`,
    );
    return printed() ?? "";
  }

  folder(): string {
    return /in (\S*cattail-demo-\w+)/.exec(this.output)?.[1] ?? "";
  }

  /** What `cattail demo | head` does to it. */
  async leave(): Promise<number | null> {
    const exited = once(this.#process, "exit");
    this.#process.stdout?.destroy();
    await exited;
    return this.#process.exitCode;
  }

  async stop(): Promise<number | null> {
    if (this.#process.exitCode !== null) return this.#process.exitCode;
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGINT");
    await exited;
    return this.#process.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
