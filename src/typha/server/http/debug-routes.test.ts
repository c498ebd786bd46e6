// Two thousand clients are one question to each thread and one answer; how fast it is, bench/dashboard says.
import { equal } from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { test } from "node:test";
import type { ClientReport } from "../../fanout/index.ts";
import { type DebugParts, debugRoutes } from "./debug-routes.ts";

const report: ClientReport = {
  id: 2n ** 63n,
  address: "10.0.0.1:1234",
  node: "node-1",
  syncer: "felix",
  version: "v3.32.0",
  info: "",
  phase: "streaming",
  compression: "snappy",
  policyKeys: "modern",
  restartsDecoder: true,
  connectedAtMs: 0,
  position: 1,
  lagUpdates: 0,
  lagMs: 0.25,
  bytesSent: 1,
  queuedBytes: 0,
  pingMs: undefined,
  worker: 1,
};

test("2,000 clients are asked for once and answered in one piece", async () => {
  let asked = 0;
  const server = {
    clients: async () => {
      asked += 1;
      return Array.from({ length: 2000 }, () => report);
    },
  };
  const parts = { server, syncers: {}, introspection: {}, tls: undefined, options: {} } as unknown as DebugParts; // /clients looks at the server alone
  let body = "";
  const response = { writeHead: () => undefined, end: (text: string) => (body = text) } as unknown as ServerResponse; // all that the route uses of it
  await debugRoutes(parts)["/clients"]?.({} as IncomingMessage, response, new URL("http://host/clients"));
  const clients = JSON.parse(body) as { connectionId: string; pingMs: unknown; lagMs: number }[];
  equal(asked, 1);
  equal(clients.length, 2000);
  equal(clients[0]?.connectionId, "9223372036854775808");
  equal(clients[0]?.pingMs, null);
  equal(body.length < 1_000_000, true);
});
