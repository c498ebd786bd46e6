// A plain HTTP server in front of a real kube-apiserver: it passes requests on as the cluster's admin, but for those that a
// test wants answered otherwise: refused, told to come later, cut off in the middle of the answer, or done without an answer.
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Agent, request } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Cluster } from "./cluster.ts";

export type HttpFault =
  | { readonly does: "answer"; readonly status: number; readonly message?: string; readonly retryAfter?: number }
  /** The answer ends after so many bytes, as when the server dies. */
  | { readonly does: "cut"; readonly afterBytes: number }
  /** The server gets the request and does it, and nobody hears of it. */
  | { readonly does: "lose" }
  | { readonly does: "hang" };

/** "POST /apis/..." in, fault out; undefined: it passes. */
export type ChooseFault = (asked: string) => HttpFault | undefined;

export type HttpFaults = AsyncDisposable & {
  readonly url: string;
  readonly asked: string[];
  set(choose: ChooseFault): void;
  /** Ends every connection, as a server that stops does. */
  cutAll(): void;
};

export async function startHttpFaults(cluster: Cluster): Promise<HttpFaults> {
  const file = (name: string) => readFileSync(join(cluster.dir, name));
  const agent = new Agent({ keepAlive: true, ca: file("ca.crt"), cert: file("admin.crt"), key: file("admin.key") });
  const asked: string[] = [];
  let choose: ChooseFault = () => undefined;
  const server = createServer((incoming, answer) => {
    const what = `${incoming.method} ${incoming.url}`;
    asked.push(what);
    const fault = choose(what);
    if (fault?.does === "hang") return;
    if (fault?.does === "answer") return void refuse(incoming, answer, fault);
    pass(incoming, answer, { cluster, agent, fault });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // a TCP server's address has one
    asked,
    set(next) {
      asked.length = 0;
      choose = next;
    },
    cutAll: () => server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      agent.destroy();
    },
  };
}

function refuse(
  incoming: IncomingMessage,
  answer: ServerResponse,
  { status, message = "as the test wants it", retryAfter }: Extract<HttpFault, { does: "answer" }>,
): void {
  incoming.resume();
  const later = retryAfter === undefined ? {} : { "retry-after": `${retryAfter}` };
  answer.writeHead(status, { "content-type": "application/json", ...later });
  answer.end(JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", message, code: status }));
}

function pass(
  incoming: IncomingMessage,
  answer: ServerResponse,
  { cluster, agent, fault }: { cluster: Cluster; agent: Agent; fault: HttpFault | undefined },
): void {
  const { method, url = "", headers } = incoming;
  const onward = request(`${cluster.server}${url}`, { agent, method, headers }, (response) => {
    if (fault?.does === "lose") {
      response.resume();
      response.on("end", () => answer.destroy());
      return;
    }
    answer.writeHead(response.statusCode ?? 500, response.headers);
    if (fault?.does !== "cut") return void response.pipe(answer);
    let left = fault.afterBytes;
    response.on("data", (chunk: Buffer) => {
      answer.write(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) setImmediate(() => answer.destroy());
    });
  });
  onward.on("error", () => answer.destroy());
  answer.on("close", () => onward.destroy());
  incoming.pipe(onward);
}
