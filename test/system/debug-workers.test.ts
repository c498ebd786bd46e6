// What worker threads know of their clients reaches the main thread: reports, and when changes were written.
import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { syncStatus } from "../../src/calico/model/index.ts";
import { follow } from "../../src/typha/client/index.ts";
import { eventually, serve } from "../kit/serving.ts";

test("a worker tells when it wrote a change, and to how many", async () => {
  await using server = await serve({ workers: 1 });
  const ending = new AbortController();
  server.set({ "/calico/v1/config/a": "1" });
  server.status(syncStatus.inSync);
  const servers = `127.0.0.1:${server.address.port}`;
  const updates = follow({ servers, type: "felix", hostname: "node-1", signal: ending.signal });
  const reading = (async () => {
    for await (const update of updates) if (update.is === "set" && update.path === "/calico/v1/config/b") return;
  })();
  await eventually(async () => (await server.clients())[0]?.phase === "streaming", "a client that streams");
  const before = Date.now();
  server.set({ "/calico/v1/config/b": "2" });
  const position = server.cache("felix")?.find("/calico/v1/config/b")?.position ?? 0;
  await reading;
  const writes = await server.writesSince("felix", position - 1);
  const write = writes.find(({ from, to }) => from < position && position <= to);
  equal(write?.clients, 1);
  ok((write?.firstAtMs ?? 0) >= before && (write?.lastAtMs ?? 0) >= (write?.firstAtMs ?? 0));
  equal((await server.writesSince("felix", position)).length, 0);
  ending.abort();
});
