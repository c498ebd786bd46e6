// Ports for programs that must be told one before they listen, and for those that must know their own.
import { createServer, type Server } from "node:net";

// Below what Linux (32768) and macOS (49152) hand out for port 0 and for outgoing connections: between the look at a port
// and its use by the program under test nobody gets it by chance.
const lowest = 10_000;
const highest = 32_000;

// Each process has parts of its own: whoever listens on a part's first port may hand out the others, until it ends. A
// program that a test stops and starts again is told the same port, and in between nobody else may take it for free.
const partSize = 100;
const parts = (highest - lowest) / partSize;
let next = 0;
let end = 0;

export async function freePort(host = "127.0.0.1"): Promise<number> {
  for (;;) {
    while (next === end) await takePart();
    const port = next;
    next += 1;
    if (await canListen({ port, host })) return port;
  }
}

let taking: Promise<void> | undefined;

/** Callers that come while one is being taken share it. */
function takePart(): Promise<void> {
  taking ??= takeOne().finally(() => {
    taking = undefined;
  });
  return taking;
}

async function takeOne(): Promise<void> {
  for (let tries = 0; tries < 10 * parts; tries += 1) {
    const first = lowest + Math.floor(Math.random() * parts) * partSize;
    const sign = await listening({ port: first, host: "127.0.0.1" });
    if (sign === undefined) continue;
    sign.unref();
    [next, end] = [first + 1, first + partSize];
    return;
  }
  throw new Error(`no part of the ports ${lowest} to ${highest} is free for tests`);
}

export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
}

/** For the few tests that use the ports a user's server would have: why they cannot run while somebody has one of them. */
export async function portInUse(ports: readonly number[]): Promise<string | undefined> {
  for (const port of ports) if (!(await canListen({ port }))) return `port ${port} is in use on this machine`;
  return undefined;
}

/** Port 0: on any. Without a host: on all of them. */
export async function canListen(where: { readonly port: number; readonly host?: string }): Promise<boolean> {
  const server = await listening(where);
  if (server === undefined) return false;
  await new Promise((done) => server.close(done));
  return true;
}

function listening(where: { readonly port: number; readonly host?: string }): Promise<Server | undefined> {
  const server = createServer();
  return new Promise((done) => {
    server.once("error", () => done(undefined));
    server.listen(where, () => done(server));
  });
}
