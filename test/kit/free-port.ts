// Ports for programs that must be told one before they listen, and for those that must know their own.
import { createServer } from "node:net";

// Below what Linux (32768) and macOS (49152) hand out for port 0 and for outgoing connections: between the look at a port
// and its use by the program under test nobody gets it by chance.
const lowest = 10_000;
const highest = 32_000;

// Each process begins at a part of its own and hands out no port twice. A program that a test stops and starts again is told
// the same port, and in between another process that looked everywhere might have taken it.
const partSize = 100;
const parts = (highest - lowest) / partSize;
// Files that are tested side by side have ids next to each other; the factor puts their parts far apart.
let next = ((process.pid * 97) % parts) * partSize;

export async function freePort(host = "127.0.0.1"): Promise<number> {
  for (;;) {
    const port = lowest + next;
    next = (next + 1) % (highest - lowest);
    if (await canListen({ port, host })) return port;
  }
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
export function canListen(where: { readonly port: number; readonly host?: string }): Promise<boolean> {
  const server = createServer();
  return new Promise((done) => {
    server.once("error", () => done(false));
    server.listen(where, () => server.close(() => done(true)));
  });
}
