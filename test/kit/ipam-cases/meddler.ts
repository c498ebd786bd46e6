// A proxy before an API server that makes races happen on purpose: before (or instead of) passing on the nth request that fits a rule,
// it changes the datastore as another program would, or answers with an error. Plain HTTP, over which clients send no token: it adds one.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Agent, request } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Cluster } from "../cluster.ts";
import type { Interference, Race } from "./case.ts";
import { applyAll } from "./case-store.ts";
import type { KubeStore } from "./kube-store.ts";

const reasons = { 403: "Forbidden", 500: "InternalError", 503: "ServiceUnavailable" } as const;

export type Meddler = AsyncDisposable & {
  readonly server: string;
  /** From now on; what was asked so far is forgotten. */
  arm(rules: readonly Race[]): void;
  /** As "PUT ipamblocks/10-244-5-0-26". */
  readonly seen: readonly string[];
};

export async function startMeddler(cluster: Cluster, store: KubeStore, token: string): Promise<Meddler> {
  const agent = new Agent({ keepAlive: true, ca: readFileSync(join(cluster.dir, "ca.crt")) });
  let rules: { race: Race; left: number; again: number }[] = [];
  let seen: string[] = [];

  async function act({ apply = [], edit, take, delete: gone, pod, labels = {} }: Interference): Promise<void> {
    if (gone !== undefined) await store.delete(gone);
    if (pod !== undefined) await store.labelPod(pod, labels);
    await applyAll(store, apply);
    if (edit !== undefined) await store.edit(edit);
    if (take !== undefined) await store.take(take);
  }

  /** The status to answer with instead of passing on. */
  async function meddle(method: string, path: string): Promise<Race["answer"]> {
    for (const rule of rules) {
      const { race } = rule;
      if (rule.left <= 0 || !new RegExp(`^(${race.method})$`).test(method) || !new RegExp(race.path).test(path))
        continue;
      rule.left -= 1;
      if (rule.left > 0) continue;
      for (const each of race.do ?? []) await act(each);
      if (rule.again > 0) {
        rule.again -= 1;
        rule.left = 1;
      }
      if (race.answer !== undefined) return race.answer;
    }
    return undefined;
  }

  async function serve(asked: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(asked);
    const { method = "", url = "" } = asked;
    const path = url.split("?")[0] ?? "";
    seen.push(`${method} ${path.split("/v1/").at(-1)}`);
    const code = await meddle(method, path);
    if (code !== undefined) {
      const message = `refused on purpose (${code})`;
      const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code, reason: reasons[code] };
      response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify({ ...status, message }));
      return;
    }
    const { host: _, connection: __, authorization: ___, ...kept } = asked.headers;
    const headers = { ...kept, authorization: `Bearer ${token}` };
    const passed = request(`${cluster.server}${url}`, { agent, method, headers });
    passed.end(body);
    const [answer] = (await once(passed, "response")) as [IncomingMessage];
    const type = answer.headers["content-type"] ?? "application/json";
    response.writeHead(answer.statusCode ?? 502, { "content-type": type }).end(await buffer(answer));
  }

  const server = createServer((asked, response) => {
    serve(asked, response).catch((error: unknown) => response.writeHead(502).end(String(error)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arm(races) {
      rules = races.map((race) => ({ race, left: race.nth ?? 1, again: race.again ?? 0 }));
      seen = [];
    },
    get seen() {
      return seen;
    },
    async [Symbol.asyncDispose]() {
      agent.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}
