// What a server has used when it is first ready, or a program when it says its first line; it is ended then.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { useOf } from "../fanout/process-use.ts";
import type { CommandUse, Environment } from "./use-of-command.ts";

const patienceMs = 120_000;

export type Until = { readonly ready: string } | { readonly says: RegExp };

export async function useUntil(until: Until, command: readonly string[], env: Environment): Promise<CommandUse> {
  const [program = "", ...parameters] = command;
  const startMs = performance.now();
  const child = spawn(program, parameters, { env: { ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const exited = once(child, "exit");
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (output += chunk));
  try {
    while (!("ready" in until ? await isReady(until.ready) : until.says.test(output))) {
      if (child.exitCode !== null || performance.now() - startMs > patienceMs)
        throw new Error(`${command.join(" ")} did not become ready:\n${output.slice(-2000)}`);
      await sleep(10);
    }
    const { cpuMs, peakRssMb } = useOf(child.pid ?? 0);
    return { cpuMs, wallMs: performance.now() - startMs, peakRssMb };
  } finally {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
    await exited;
    clearTimeout(timer);
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    const { status, body } = await fetch(url);
    await body?.cancel();
    return status === 200;
  } catch {
    return false; // nobody listens yet
  }
}
