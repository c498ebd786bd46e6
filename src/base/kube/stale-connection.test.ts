// A server that closes kept connections just as they are used again.
import { equal, rejects } from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { silentLog, systemClock } from "../lib/index.ts";
import { ApiClient } from "./api-client.ts";

test("one stale connection is passed over, a second is an answer: unavailable", async (t) => {
  let stale = 0;
  const server = createServer((request, response) => {
    if (stale === 0) {
      // Only together, so that each is on a connection of its own.
      waiting.push(() => response.end("{}"));
      if (waiting.length === 2) for (const answer of waiting.splice(0)) answer();
      return;
    }
    stale -= 1;
    request.socket.resetAndDestroy();
  });
  const waiting: (() => void)[] = [];
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo; // a TCP server's address
  using client = new ApiClient({ apiEndpoint: `http://127.0.0.1:${port}` }, { clock: systemClock, log: silentLog });
  const ask = () => client.json({ method: "GET", path: "/api" });
  await Promise.all([ask(), ask()]);
  stale = 2;
  await rejects(ask(), { name: "KubeError", code: "unavailable" });
  equal(stale, 0);
});
