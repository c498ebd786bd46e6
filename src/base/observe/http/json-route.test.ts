import { equal } from "node:assert/strict";
import { test } from "node:test";
import { silentLog, systemClock } from "../../lib/index.ts";
import { jsonRoute, startHttp } from "../index.ts";

test("debug pages answer in JSON, 404 where there is nothing, 403 to a foreign Host, 405 to a POST", async () => {
  const { signal } = new AbortController();
  const routes = {
    "/things": jsonRoute(() => ({ id: 2n ** 60n, names: new Set(["a"]), by: new Map([["x", 1]]) })),
    "/things/*": jsonRoute((url) => (url.pathname === "/things/a" ? { name: "a" } : undefined)),
  };
  await using server = startHttp({
    name: "debug",
    host: "127.0.0.1",
    port: 0,
    routes,
    guard: { hosts: [] },
    clock: systemClock,
    log: silentLog,
    signal,
  });
  await server.listening;
  const base = `http://127.0.0.1:${server.addresses[0]?.port}`;
  equal(await (await fetch(`${base}/things`)).text(), '{"id":"1152921504606846976","names":["a"],"by":{"x":1}}\n');
  equal((await fetch(`${base}/things/a`)).status, 200);
  equal((await fetch(`${base}/things/b`)).status, 404);
  equal((await fetch(`${base}/things`, { method: "POST" })).status, 405);
  const { get } = await import("node:http");
  const foreign = await new Promise((resolve) => {
    get(`${base}/things`, { headers: { host: "evil.example" } }, (response) => resolve(response.resume().statusCode));
  });
  equal(foreign, 403);
});
