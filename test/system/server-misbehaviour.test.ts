// The original's misbehaving clients, each cut in its own way while a well-behaved one is kept beside it.
import { equal, match, ok } from "node:assert/strict";
import { connect } from "node:net";
import { describe, test } from "node:test";
import { eventually, GoClients, manyKeys, serve, withoutGoClient } from "../kit/serving.ts";

const options = { skip: withoutGoClient };
// Long enough for a client that behaves, on a machine that is busy with something else for a moment.
const limits = { handshakeTimeoutMs: 3000, pingIntervalMs: 100, pongTimeoutMs: 3000 };
const expectClose = ["--expect-close", "60s"];

const cases: { name: string; flags: string[]; code: string }[] = [
  { name: "hello never sent", flags: ["--no-hello"], code: "WIRE_HANDSHAKE_TIMEOUT" },
  { name: "bad syncer type", flags: ["--type", "no-such-syncer"], code: "WIRE_UNKNOWN_SYNCER" },
  { name: "unexpected first message: a pong", flags: ["--first-message", "pong"], code: "WIRE_UNEXPECTED_MESSAGE" },
  { name: "unexpected first message: an ack", flags: ["--first-message", "ack"], code: "WIRE_UNEXPECTED_MESSAGE" },
  { name: "nil message", flags: ["--nil-message"], code: "WIRE_NIL_MESSAGE" },
  { name: "a value of an unexpected type (42)", flags: ["--bad-type"], code: "WIRE_UNEXPECTED_MESSAGE" },
  { name: "unresponsive client: no pong", flags: ["--no-pong"], code: "WIRE_PONG_TIMEOUT" },
  { name: "never acknowledges a restart", flags: ["--no-ack"], code: "WIRE_ACK_TIMEOUT" },
  { name: "a second hello", flags: ["--then-message", "hello"], code: "WIRE_UNEXPECTED_MESSAGE" },
  { name: "a pong in place of an ack", flags: ["--then-message", "pong"], code: "WIRE_UNEXPECTED_MESSAGE" },
  { name: "nil after the hello", flags: ["--then-message", "nil"], code: "WIRE_NIL_MESSAGE" },
  {
    name: "an ack while streaming",
    flags: ["--no-restart", "--then-message", "ack"],
    code: "WIRE_UNEXPECTED_MESSAGE",
  },
];

// Side by side, because the most part of it is waiting for timeouts.
describe("cut", { ...options, concurrency: 4 }, () => {
  for (const { name, flags, code } of cases) {
    test(`cut: ${name}`, options, async () => {
      await using server = await serve({ limits });
      server.set(manyKeys(10, () => "v"));
      server.status(2);
      await using good = new GoClients(server, []);
      await good.inSync();
      await using bad = new GoClients(server, [...expectClose, ...flags]);
      equal(await bad.exited, 0, bad.stderr);
      await eventually(
        () => server.lines.some(({ fields }) => fields.code === code),
        () => `${code}; logged ${JSON.stringify(server.lines.map(({ fields }) => fields.code))}`,
      );
      await eventually(() => server.activeCount === 1, "the other is still there");
      server.set({ "/calico/v1/config/still": "served" });
      await good.until(() => good.state["/calico/v1/config/still"] === "served", "the good client's next update");
    });
  }

  test("a responsive client is kept for several pong timeouts", options, async () => {
    const timeouts = { pingIntervalMs: 100, pongTimeoutMs: 2000 };
    await using server = await serve({ limits: timeouts });
    server.status(2);
    await using client = new GoClients(server, []);
    await client.inSync();
    const startedMs = performance.now();
    const pongs = (): number =>
      (server.metrics.observed.get("typha_ping_latency{felix}") ?? []).reduce((sum, { times }) => sum + times, 0);
    await eventually(() => performance.now() - startedMs > 2.5 * timeouts.pongTimeoutMs, "several pong timeouts");
    const heard = pongs();
    await eventually(() => pongs() > heard, "another pong");
    equal(server.activeCount, 1);
  });
});

test("a client that has said hello and acknowledges nothing is shown and counted as what it is", options, async () => {
  await using server = await serve();
  await using _client = new GoClients(server, ["--no-ack", "--hostname", "node-a", "--type", "bgp"]);
  await eventually(async () => {
    const [report] = await server.clients();
    return report?.node === "node-a" && report.syncer === "bgp" && report.phase === "acknowledging";
  }, "its report");
  await eventually(() => server.metrics.get("typha_connections_streaming{bgp}") === 1, "the gauge");
  ok(server.lines.some(({ message, fields }) => message === "client hello received" && fields.node === "node-a"));
});

test("cut: garbage", options, async () => {
  await using server = await serve({ limits });
  await using bad = new GoClients(server, [...expectClose, "--garbage", "1000"]);
  equal(await bad.exited, 0, bad.stderr);
  await eventually(() => server.activeCount === 0, "nobody left");
});

test("no modern policy keys: served here, with the keys that such a client knows", options, async () => {
  await using server = await serve({
    legacyForm: (update) => (update.path.startsWith("/calico/v1/policy/") ? { ...update, path: "/legacy" } : update),
  });
  server.set({ "/calico/v1/policy/GlobalNetworkPolicy//p": "1", "/calico/v1/config/a": "1" });
  server.status(2);
  await using client = new GoClients(server, ["--legacy-keys"]);
  await client.inSync();
  equal(JSON.stringify(Object.keys(client.state).sort()), '["/calico/v1/config/a","/legacy"]');
});

describe("inbound messages over 1 MiB", () => {
  // A gob length prefix: the count of its bytes, negated, then the length.
  const lengths = [2 ** 20 + 1, 2 ** 21, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1];
  for (const length of lengths) {
    test(`a message that says it has ${length} bytes is refused before they come`, async () => {
      await using server = await serve({ limits });
      const socket = connect(server.address.port, "127.0.0.1");
      const closed = new Promise((resolve) => socket.on("close", resolve));
      socket.on("error", () => undefined);
      socket.resume();
      const prefix = Buffer.alloc(5);
      prefix[0] = 0xfc;
      prefix.writeUInt32BE(length, 1);
      socket.write(prefix);
      await closed;
      await eventually(() => server.lines.some(({ fields }) => fields.code === "WIRE_MESSAGE_TOO_LONG"), "the reason");
    });
  }
});

test("a client's hello cannot forge log lines or grow them", options, async () => {
  await using server = await serve();
  server.status(2);
  await using client = new GoClients(server, ["--hostname", `evil\n\u001b[31m${"x".repeat(5000)}`]);
  await client.inSync();
  const [report] = await server.clients();
  ok((report?.node.length ?? 0) <= 256);
  const line = server.lines.find(({ message }) => message === "client hello received");
  match(String(line?.fields.node), /^evil/);
  ok(String(line?.fields.node).length <= 256);
});

test("unknown syncer types make no metric of their own", options, async () => {
  await using server = await serve({ limits });
  await using clients = new GoClients(server, ["--clients", "50", "--type", "x%d", ...expectClose, "--stats"]);
  await clients.exited;
  await eventually(() => server.activeCount === 0, "all gone");
  await eventually(() => server.metrics.get("typha_connections_accepted") === 50, "counted");
  ok([...server.metrics.values.keys()].every((key) => !key.includes("{x")));
});
