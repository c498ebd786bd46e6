// What tests of the guides share: a script run as a reader's shell would, and why it cannot be run here.
import { execFileSync, spawn } from "node:child_process";
import { clusterPeer } from "./cluster.ts";

export function runShell(
  script: string,
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<{ code: number | null; output: string }> {
  return new Promise((done) => {
    const shell = spawn("bash", [script], { ...options, stdio: ["ignore", "pipe", "pipe"], timeout: 540_000 });
    let output = "";
    for (const stream of [shell.stdout, shell.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk));
    shell.on("close", (code) => done({ code, output }));
  });
}

/** Undefined: an API server and these programs are here. */
export async function missingForGuide(programs: readonly string[]): Promise<string | undefined> {
  const peer = await clusterPeer();
  if (peer.missing !== undefined) return peer.missing;
  for (const program of programs) {
    try {
      execFileSync("sh", ["-c", `command -v ${program}`], { stdio: "pipe" });
    } catch {
      return `${program} is not installed`;
    }
  }
  return undefined;
}
