// The original's shutdown cases: nobody connected, at once; else one connection at a time over the configured time.
import { equal, ok } from "node:assert/strict";
import { connect } from "node:net";
import { describe, test } from "node:test";
import { GoClients, serve, withoutGoClient } from "../kit/serving.ts";

const options = { skip: withoutGoClient };

test("with no clients it ends at once, and repeated requests are the same one", { timeout: 300_000 }, async () => {
  const server = await serve({ limits: { shutdownTimeoutMs: 3_600_000, shutdownMaxIntervalMs: 3_600_000 } });
  await Promise.all([server.shutdown(), server.shutdown()]);
});

describe("with five clients", options, () => {
  const cases = [
    {
      name: "one each maximum interval",
      limits: { shutdownTimeoutMs: 300_000, shutdownMaxIntervalMs: 200 },
      stepMs: 200,
    },
    { name: "all within the timeout where that is shorter", limits: { shutdownTimeoutMs: 500 }, stepMs: 95 },
  ];
  for (const workers of [0, 2]) {
    for (const { name, limits, stepMs } of cases) {
      test(`drops ${name} (${workers} workers)`, options, async () => {
        await using server = await serve({ workers, limits });
        server.status(2);
        await using clients = new GoClients(server, [
          "--clients",
          "5",
          "--hostname",
          "node-%d",
          "--expect-close",
          "60s",
        ]);
        await clients.inSync(5);
        const startedMs = performance.now();
        const ending = server.shutdown();
        await clients.until((events) => events.filter(({ closed }) => closed).length === 5 || undefined, "all closed");
        const tookMs = performance.now() - startedMs;
        await ending;
        ok(tookMs >= 5 * stepMs * 0.9, `took ${tookMs} ms for five steps of ${stepMs} ms`);
        equal(server.metrics.get("typha_connections_dropped"), 0);
        equal(await clients.exited, 0);
      });
    }
  }

  test("nobody new is let in meanwhile", options, async () => {
    await using server = await serve({ limits: { shutdownMaxIntervalMs: 300 } });
    server.status(2);
    await using clients = new GoClients(server, ["--clients", "2", "--expect-close", "60s"]);
    await clients.inSync(2);
    const ending = server.shutdown();
    const socket = connect(server.address.port, "127.0.0.1");
    const outcome = await new Promise((resolve) => {
      socket.on("connect", () => resolve("connected"));
      socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code));
    });
    socket.destroy();
    equal(outcome, "ECONNREFUSED");
    await ending;
  });
});
