// `cattail demo`: the whole pipeline on this machine alone (run-demo.ts). Here is what it takes, its first line, said before
// anything large is loaded, and how it ends: Ctrl-C leaves nothing behind.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { CattailError, messageOf } from "../../base/lib/index.ts";
import { version } from "../shared/build.ts";
import { port, wholeNumber } from "../shared/option-values.ts";
import { DemoScreen } from "./demo-screen.ts";
import type { Flags } from "./run-demo.ts";

export function demoCommand(): Command {
  return new Command("demo")
    .option("--nodes <count>", "number of nodes in the simulated cluster", wholeNumber(1, 2000), 50)
    .option("--pods <count>", "number of pods", wholeNumber(0, 200_000), 1000)
    .option("--churn <per-second>", "changes a second", wholeNumber(0, 10_000), 20)
    .option("--port <port>", "port of the server; if it is in use, a free one is taken", port, 5473)
    .option("--dashboard-port <port>", "port of the dashboard; if it is in use, a free one is taken", port, 9095)
    .addHelpText("after", "\nExamples:\n  cattail demo\n  cattail demo --nodes 500 --pods 20000 --churn 200")
    .action(demo);
}

async function demo(flags: Flags): Promise<void> {
  const stop = new AbortController();
  await using stack = new AsyncDisposableStack();
  const folder = makeFolder();
  // However it ends: there are keys in it.
  process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  const onSignal = () => {
    if (stop.signal.aborted) process.exit(); // the second time: at once
    stop.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, onSignal);
  if (process.env.npm_lifecycle_event !== undefined) stopWithParent(stop);
  // Whoever read our output has gone (head, for one); what we made must go, too. A pipe that is gone says so at each write.
  process.stdout.on("error", () => stop.abort());
  const { signal } = stop;
  const screen = new DemoScreen(process.stdout);
  screen.say(`Cattail ${version()}: starting a simulated cluster of ${flags.nodes} nodes and ${flags.pods} pods …`);
  try {
    const { runDemo } = await import("./run-demo.ts");
    await runDemo(flags, { folder, screen, signal, stack });
  } catch (error) {
    if (!signal.aborted) throw error; // what was still starting says that it was stopped
  }
  screen.say("\nStopping: clients, server and cluster end, and the certificates are removed.");
}

function makeFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), "cattail-demo-"));
  } catch (error) {
    throw new CattailError("DEMO_FOLDER", {
      problem: `cannot create a folder for the demo's certificates in ${tmpdir()} (${(error as NodeJS.ErrnoException).code ?? messageOf(error)})`,
      next: "Set TMPDIR to a folder that this user may write to",
      cause: error,
    });
  }
}

// A signal to npm ends the shell in which npm has started us, and the shell does not pass it on.
function stopWithParent(stop: AbortController): void {
  const parent = process.ppid;
  const look = () => {
    if (process.ppid !== parent) stop.abort();
  };
  setInterval(look, 250).unref();
}
