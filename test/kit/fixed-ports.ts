// For the few tests that use the ports a user's server would have: why they cannot run while somebody has one of them.
import { createServer } from "node:net";

export async function portInUse(ports: readonly number[]): Promise<string | undefined> {
  for (const port of ports) if (!(await isFree(port))) return `port ${port} is in use on this machine`;
  return undefined;
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((done) => {
    server.once("error", () => done(false));
    server.listen({ port }, () => server.close(() => done(true)));
  });
}
