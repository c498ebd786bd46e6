import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { silentLog, systemClock } from "../../lib/index.ts";
import { profileRoutes, startHttp } from "../index.ts";

test("a CPU profile whose reader hangs up makes way for the next", async () => {
  const { signal } = new AbortController();
  const errors: string[] = [];
  const log = { ...silentLog, error: (message: string) => void errors.push(message) };
  const began = Promise.withResolvers<void>();
  const clock = {
    ...systemClock,
    sleep: (_ms: number, stop?: AbortSignal) =>
      new Promise<void>((_, reject) => {
        stop?.addEventListener("abort", () => reject(stop.reason));
        began.resolve();
      }),
  };
  const routes = profileRoutes({ clock, signal });
  const edge = { clock: systemClock, log, signal };
  await using server = startHttp({ ...edge, name: "debug", host: "127.0.0.1", port: 0, routes, guard: { hosts: [] } });
  await server.listening;
  const base = `http://127.0.0.1:${server.addresses[0]?.port}/debug/pprof`;
  const hangUp = new AbortController();
  const profiling = fetch(`${base}/profile?seconds=60`, { signal: hangUp.signal }).catch(() => "hung up");
  await began.promise;
  equal((await fetch(`${base}/heap`, { method: "HEAD" })).status, 409);
  hangUp.abort();
  equal(await profiling, "hung up");
  while ((await fetch(`${base}/heap`, { method: "HEAD" })).status === 409); // until the server has seen it
  deepEqual(errors, []);
});

test("a CPU profile and a heap snapshot can be had, one at a time", async () => {
  const { signal } = new AbortController();
  let release: () => void = () => undefined;
  // The profile lasts until the test says so, not for a time.
  const clock = { ...systemClock, sleep: () => new Promise<void>((resolve) => (release = resolve)) };
  await using server = startHttp({
    name: "debug",
    host: "127.0.0.1",
    port: 0,
    routes: profileRoutes({ clock, signal }),
    guard: { hosts: [] },
    clock: systemClock,
    log: silentLog,
    signal,
  });
  await server.listening;
  const base = `http://127.0.0.1:${server.addresses[0]?.port}/debug/pprof`;
  equal((await fetch(`${base}/`)).status, 200);
  equal((await fetch(`${base}/profile?seconds=0`)).status, 400);
  equal((await fetch(`${base}/profile?seconds=x`)).status, 400);
  equal((await fetch(`${base}/profile?seconds=3600`)).status, 400);
  const profiling = fetch(`${base}/profile?seconds=1`);
  let second = await fetch(`${base}/heap`, { method: "HEAD" });
  while (second.status === 200) second = await fetch(`${base}/heap`, { method: "HEAD" }); // until the first has begun
  equal(second.status, 409);
  release();
  const profile = (await (await profiling).json()) as { nodes: unknown[] };
  ok(profile.nodes.length > 0);
});
