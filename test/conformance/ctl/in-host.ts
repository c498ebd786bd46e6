// Runs a command as on a host of its own, within the namespaces that the caller made: with an empty /run, the named processes,
// a pretended BIRD on each socket, and nothing else.
//   node in-host.ts SETUP COMMAND...
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import type { HostSetup } from "./case.ts";

const [setup = "{}", command = "", ...words] = process.argv.slice(2);
const { processes = [], sockets = {} } = JSON.parse(setup) as HostSetup; // our own caller's
execFileSync("mount", ["-t", "tmpfs", "none", "/run"]);
// What the original looks for is the first word of a command line.
for (const name of processes) spawn("sleep", ["1000"], { argv0: name, stdio: "ignore" });
for (const [name, answer] of Object.entries(sockets)) await beBird(join("/run", name), readFileSync(answer));

const child = spawn(command, words, { stdio: "inherit" });
// With this process, the first of its namespace, all others go.
child.on("exit", (code) => process.exit(code ?? 1));

async function beBird(path: string, answer: Buffer): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  const server = createServer((connection) => {
    connection.on("error", () => undefined); // the command may leave before it has read all
    connection.write("0001 BIRD 1.6.8 ready.\n");
    connection.once("data", () => connection.end(answer));
  });
  await new Promise<void>((listening) => server.listen(path, listening));
}
