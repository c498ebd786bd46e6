// Hands connections on, between a unix socket and a TCP port: the only way between the machine's network and that of a lab, which no route leads
// to. The datastore of a lab that is given one, and the dashboard, are reached by it.
import { rmSync } from "node:fs";
import { createConnection, createServer, type NetConnectOpts, type Server } from "node:net";

export type RelayEnd = { readonly path: string } | { readonly host: string; readonly port: number };

/** Listens when it resolves. `fd`: a socket that somebody else has opened. */
export async function startRelay(from: RelayEnd | { readonly fd: number }, to: RelayEnd): Promise<Server> {
  if ("path" in from) rmSync(from.path, { force: true });
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const options: NetConnectOpts = "path" in to ? { path: to.path } : { host: to.host, port: to.port };
    const far = createConnection({ ...options, allowHalfOpen: true });
    const end = () => {
      near.destroy();
      far.destroy();
    };
    near.on("error", end); // whoever it was for sees it closed
    far.on("error", end);
    near.pipe(far);
    far.pipe(near);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(from, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return server;
}

/** `unix:PATH` or `HOST:PORT`. */
export function relayEnd(text: string): RelayEnd {
  if (text.startsWith("unix:")) return { path: text.slice("unix:".length) };
  const colon = text.lastIndexOf(":");
  return { host: text.slice(0, colon), port: Number(text.slice(colon + 1)) };
}
