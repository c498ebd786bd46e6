// A proxy before an API server that counts what passes. Plain HTTP, over which clients send no certificate: it has the admin's. Watches
// are passed on as they come, and are not counted: they are nobody's request.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { Agent, request } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Cluster } from "../../test/kit/cluster.ts";

export type CountingProxy = AsyncDisposable & {
  readonly server: string;
  /** What has passed since it was last asked, as "PUT ipamblocks/10-244-5-0-26". */
  take(): string[];
};

export async function startCountingProxy(cluster: Cluster): Promise<CountingProxy> {
  const file = (name: string) => readFileSync(join(cluster.dir, name));
  const agent = new Agent({ keepAlive: true, ca: file("ca.crt"), cert: file("admin.crt"), key: file("admin.key") });
  let seen: string[] = [];
  const server = createServer((asked, response) => {
    const { method = "", url = "" } = asked;
    const { host: _, connection: __, authorization: ___, ...headers } = asked.headers;
    if (!/[?&]watch=(true|1)/.test(url)) seen.push(`${method} ${url.split("?")[0]?.split("/v1/").at(-1)}`);
    const passed = request(`${cluster.server}${url}`, { agent, method, headers });
    passed.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on("error", () => response.destroy());
    response.on("close", () => passed.destroy());
    asked.pipe(passed);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    server: `http://127.0.0.1:${port}`,
    take() {
      const taken = seen;
      seen = [];
      return taken;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      agent.destroy();
    },
  };
}
