// Keeps a BIRD running: starts it when its configuration is there and nobody answers at its socket, and again after it ended, with pauses that grow.
//
//   no file ─▶ wait        somebody answers ─▶ wait (it is looked after by others, or was left by an agent before us)
//   nobody  ─▶ start ─▶ ended ─▶ pause ─▶ from the start
//
// It is never told to end by SIGTERM: a BIRD that ends in good order tells its peers, and they withdraw every route at once (seconds of loss for
// a restart that takes one). The command "graceful restart" of BIRD 2 ends it without a word, and so does SIGKILL; peers then keep its routes for
// two minutes, the kernel keeps those that it made (persist), and the next one is started with -R and waits for its peers before it removes any.
import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { Backoff, type Clock, type Log, messageOf } from "../../../base/lib/index.ts";
import { isKernelReachable, mainTable, openNetlink } from "../../../base/linux/kernel.ts";
import { askBird } from "../control-socket.ts";

export type SupervisorOptions = {
  /** Its path. */
  readonly program: string;
  readonly configuration: string;
  readonly socket: string;
  readonly generation: 1 | 2;
  readonly clock: Clock;
  readonly log: Log;
  /** After each start, with how many there were. */
  readonly started?: (starts: number) => void;
};

const lookEveryMs = 2_000;
/** It ran for so long: the next failure is the first one again. */
const steadyMs = 30_000;

/** Ends when the signal aborts, after the BIRD that it started. */
export async function superviseBird(options: SupervisorOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, configuration, socket } = options;
  const backoff = new Backoff(Math.random, { capMs: 30_000, retryAfterCapMs: 0 });
  let starts = 0;
  while (!signal.aborted) {
    try {
      if (!existsSync(configuration) || (await isAnswered(socket, signal))) {
        await clock.sleep(starts === 0 ? 100 : lookEveryMs, signal);
        continue;
      }
      const startMs = clock.monotonicMs();
      starts += 1;
      options.started?.(starts);
      const how = await runOnce(options, signal);
      if (signal.aborted) return;
      if (clock.monotonicMs() - startMs > steadyMs) backoff.reset();
      const waitMs = Math.round(backoff.nextDelayMs(200));
      log.error("BIRD has ended; it is started again", { how, waitMs, starts });
      await clock.sleep(waitMs, signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
  }
}

async function isAnswered(socket: string, signal: AbortSignal): Promise<boolean> {
  try {
    await askBird(socket, "show status", { signal });
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

/** How it ended. */
async function runOnce(options: SupervisorOptions, signal: AbortSignal): Promise<string> {
  const { program, configuration, socket, log } = options;
  const recovers = await hasRoutesOfBird();
  const parameters = ["-f", "-c", configuration, "-s", socket, ...(recovers ? ["-R"] : [])];
  // In a group of its own: what a terminal or a supervisor sends to ours must not reach it.
  const child = spawn(program, parameters, { stdio: ["ignore", "inherit", "inherit"], detached: true });
  log.info("BIRD is started", { program, pid: child.pid ?? 0, recovers });
  const ended = endOf(child);
  const stop = () => {
    endQuietly(child, options).catch((error: unknown) =>
      log.warn("BIRD could not be ended", { error: messageOf(error) }),
    );
  };
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await ended;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(messageOf(error)));
    child.once("exit", (code, killedBy) => resolve(code === null ? `killed by ${killedBy}` : `exit code ${code}`));
  });
}

const quietEndMs = 2_000;

/** Without a word to its peers. */
async function endQuietly(child: ChildProcess, { socket, generation, clock }: SupervisorOptions): Promise<void> {
  const ended = endOf(child);
  try {
    if (generation === 2) {
      await askBird(socket, "graceful restart");
      await Promise.race([ended, clock.sleep(quietEndMs)]);
    }
  } finally {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  }
}

const routeProtocolBird = 12;

/** Left by a BIRD before this one: then it must wait for its peers before it removes any, and only then is the wait worth it. */
async function hasRoutesOfBird(): Promise<boolean> {
  if (!isKernelReachable()) return false;
  await using netlink = openNetlink();
  const routes = await netlink.routes({ table: mainTable, protocol: routeProtocolBird });
  // Old kernels do not filter by protocol.
  return routes.some(
    ({ protocol, type }) => (protocol === "bird" || protocol === routeProtocolBird) && type !== "blackhole",
  );
}

/** Undefined: it is in no folder of PATH. Not left to spawn: an empty entry of PATH means the folder that one happens to be in. */
export function findProgram(name: string, path: string): string | undefined {
  const isProgram = (file: string): boolean => {
    try {
      accessSync(file, constants.X_OK);
      return statSync(file).isFile();
    } catch {
      return false;
    }
  };
  if (name.includes("/")) return isProgram(name) ? name : undefined;
  const folders = path.split(":").filter((folder) => folder.startsWith("/"));
  return folders.map((folder) => join(folder, name)).find(isProgram);
}
