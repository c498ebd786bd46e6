// Go's client as the measure of ours: it reads a server's snapshot in a process of its own, and says what that took.
import { execFileSync } from "node:child_process";
import { goPeer } from "../test/kit/go.ts";

/** Of one read, from before it connects to in-sync; processor time of the whole process. */
export type Figures = { cpuMs: number; wallMs: number };

const client = await goPeer("test/peers/typha/client");

export function readWithGo(address: string, more: readonly string[] = []): Figures {
  if (client.path === undefined) throw new Error(`this bench needs its Go peers: ${client.missing}`);
  const flags = ["--plaintext", "--server", address, "--until-in-sync", "--timeout", "120s", "--stats", ...more];
  const last = execFileSync(client.path, flags, { encoding: "utf8" }).trim().split("\n").at(-1) ?? "";
  // written by test/peers/typha/client/stats.go
  const { stats } = JSON.parse(last) as { stats: { cpuMs: number; inSyncMs: { max: number } } };
  return { cpuMs: stats.cpuMs, wallMs: stats.inSyncMs.max };
}
