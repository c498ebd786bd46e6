// A ping in a process of its own, so that what the test does never keeps it from sending: run with a namespace, an address and an interval.
// Prints a line when the first answer is there, and the outcome as JSON when its input ends.
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { ping } from "../../../src/base/linux/kernel.ts";
import { afterTest } from "../after-test.ts";
import { eventually } from "../eventually.ts";

const itself = fileURLToPath(import.meta.url);

export type PingOutcome = {
  readonly sent: number;
  readonly lost: number;
  readonly lostAtMs: readonly number[];
  readonly refusals: readonly unknown[];
};

export type EndlessPing = {
  /** Ends it, and says how many were sent, how many never answered, and when those were sent (milliseconds since the first). */
  stop(): Promise<PingOutcome>;
};

/** Pings once in that many milliseconds; returned when the first was answered. */
export async function pingOn(t: TestContext, namespace: string, to: string, intervalMs = 5): Promise<EndlessPing> {
  const child = spawn(process.execPath, [itself, namespace, to, String(intervalMs)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  // Whatever becomes of the test.
  afterTest(t).defer(() => void child.kill("SIGKILL"));
  child.stdout.setEncoding("utf8");
  let output = "";
  child.stdout.on("data", (text: string) => {
    output += text;
  });
  const ended = once(child, "close");
  await eventually(() => output.includes("\n") || child.exitCode !== null, `no answer from ${to}`);
  return {
    async stop() {
      child.stdin.end();
      await ended;
      const [, last = ""] = output.split("\n");
      return JSON.parse(last) as PingOutcome; // as it is printed below
    },
  };
}

if (process.argv[1] === itself) {
  const [, , namespace = "", to = "", interval = ""] = process.argv;
  while ((await ping(to, { namespace, count: 1, timeoutMs: 500 })).received === 0);
  process.stdout.write("answered\n");
  const enough = new AbortController();
  process.stdin.resume();
  process.stdin.once("end", () => enough.abort());
  const options = { namespace, count: 10_000_000, intervalMs: Number(interval), enough: enough.signal };
  const { sent, received, unansweredMs, refusals } = await ping(to, options);
  const lostAtMs = unansweredMs.map(Math.round);
  const outcome: PingOutcome = { sent, lost: sent - received, lostAtMs, refusals };
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
  process.exit(0);
}
