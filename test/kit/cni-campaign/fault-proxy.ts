// The way from a node to the API server, inside the node's network namespace: it passes requests on until one is due to go wrong.
//
//   request ─▶ due? ─ refuse: an error status, nothing passed on      cut: the connection ends, nothing passed on
//                   ─ lose: passed on, but the answer is not          before/after: somebody is killed then
//
// Only requests that are answered at once are counted: a watch is a state, not a step.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { inNamespace } from "../../../src/base/linux/kernel.ts";
import type { Cluster } from "../cluster.ts";

export type ApiFault =
  | { readonly is: "refuse"; readonly status: 403 | 500 | 503 }
  | { readonly is: "cut" | "lose" }
  | { readonly is: "before" | "after"; readonly act: () => void };

export type FaultProxy = Disposable & {
  readonly server: string;
  /** The nth request from now on, the first being 1. */
  arm(nth: number, fault: ApiFault): void;
  /** Whether what was armed has not happened; it does not any more. */
  disarm(): boolean;
  /** Requests since it was armed. */
  readonly seen: number;
};

const reasons = { 403: "Forbidden", 500: "InternalError", 503: "ServiceUnavailable" } as const;

/** `token`: added to each request. The port is the same in every namespace. */
export function openFaultProxy(
  cluster: Cluster,
  options: { namespace: string; port: number; token: string },
): FaultProxy {
  const agent = new Agent({ keepAlive: true, ca: readFileSync(join(cluster.dir, "ca.crt")) });
  let armed: { nth: number; fault: ApiFault } | undefined;
  let seen = 0;

  function due(url: string): ApiFault | undefined {
    if (/[?&]watch=(true|1)/.test(url)) return undefined;
    seen += 1;
    if (armed === undefined || seen !== armed.nth) return undefined;
    const { fault } = armed;
    armed = undefined;
    return fault;
  }

  async function serve(asked: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(asked);
    const { method = "", url = "" } = asked;
    const fault = due(url);
    if (fault?.is === "refuse") return refuse(response, fault.status);
    if (fault?.is === "cut") return void response.destroy();
    if (fault?.is === "before") fault.act();
    const { host: _, connection: __, authorization: ___, ...kept } = asked.headers;
    const passed = request(`${cluster.server}${url}`, {
      agent,
      method,
      headers: { ...kept, authorization: `Bearer ${options.token}` },
    });
    response.on("close", () => passed.destroy());
    passed.end(body);
    const [answer] = (await once(passed, "response")) as [IncomingMessage];
    if (fault?.is === "after") fault.act();
    if (fault?.is === "lose" || fault?.is === "after") return void response.destroy();
    response.writeHead(answer.statusCode ?? 502, {
      "content-type": answer.headers["content-type"] ?? "application/json",
    });
    response.flushHeaders();
    answer.pipe(response);
    answer.on("error", () => response.destroy());
  }

  const server: Server = createServer((asked, response) => {
    serve(asked, response).catch(() => response.destroy()); // either side has gone
  });
  inNamespace(options.namespace, () => server.listen(options.port));
  return {
    server: `http://127.0.0.1:${options.port}`,
    arm(nth, fault) {
      seen = 0;
      armed = { nth, fault };
    },
    disarm() {
      const hasNotHappened = armed !== undefined;
      armed = undefined;
      return hasNotHappened;
    },
    get seen() {
      return seen;
    },
    [Symbol.dispose]() {
      agent.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}

function refuse(response: ServerResponse, code: 403 | 500 | 503): void {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code, reason: reasons[code] };
  response.writeHead(code, { "content-type": "application/json" });
  response.end(JSON.stringify({ ...status, message: `refused on purpose (${code})` }));
}
