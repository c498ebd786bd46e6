// A Go server's bytes, encoded by the standard library as the original's are, read by our client machine.
import { deepEqual, equal } from "node:assert/strict";
import { connect as connectPlain, type Socket } from "node:net";
import { test } from "node:test";
import { connect as connectTls } from "node:tls";
import { tlsClientOptions, tlsPolicy } from "../../src/base/security/index.ts";
import {
  type ClientEvent,
  ClientMachine,
  type ClientOptions,
  type SerializedUpdate,
} from "../../src/typha/wire/index.ts";
import { certificateFolder, testAuthority } from "../kit/certificates.ts";
import { clientHello } from "../kit/client-hello.ts";
import { withoutGoServer as skip, startGoServer } from "../kit/go-server.ts";

const authority = testAuthority();

const modern = { ...clientHello, clientConnId: 18_446_744_073_709_551_615n };
const snapshot = Array.from({ length: 2500 }, (_, index) => ({
  key: `/calico/v1/config/key-${String(index).padStart(5, "0")}`,
  value: `value ${index} ${"ü".repeat(index % 300)}`,
  revision: `${index}`,
  v3rv: index % 2 === 0 ? "" : `${index}`,
  ttl: index === 7 ? 1_500_000_000 : 0,
  type: 1,
}));
const changes = [
  { key: "/calico/v1/config/key-00001", value: "changed", revision: "9001", v3rv: "9001", ttl: 0, type: 2 },
  { key: "/calico/v1/config/key-00002", value: null, revision: "", v3rv: "", ttl: 0, type: 3 },
  { key: "/calico/v1/config/new", value: "new", revision: "9002", v3rv: "", ttl: 0, type: 1 },
];

const variants: { name: string; hello: Partial<ClientOptions["hello"]>; restarts: number }[] = [
  { name: "compressed", hello: {}, restarts: 2 },
  { name: "without compression", hello: { supportedCompressionAlgorithms: [] }, restarts: 0 },
  { name: "without decoder restart", hello: { supportsDecoderRestart: false }, restarts: 0 },
  { name: "without syncer type", hello: { syncerType: "" }, restarts: 2 },
  { name: "as bgp", hello: { syncerType: "bgp" }, restarts: 2 },
];
for (const { name, hello, restarts } of variants) {
  for (const isTls of [false, true]) {
    test(`our client reads a Go server ${name}, ${isTls ? "over TLS" : "in the clear"}`, {
      skip,
      timeout: 300_000,
    }, async () => {
      using folder = certificateFolder(authority);
      const { certFile, keyFile, caFile } = folder.server;
      const flags = isTls ? ["--cert", certFile, "--key", keyFile, "--ca", caFile] : [];
      await using go = await startGoServer(["--ping-interval", "100ms", ...flags]);
      go.say({ kvs: snapshot, status: 2 });
      const client = follow({ ...modern, ...hello }, go.port, isTls);
      await client.until(() => client.statuses.length > 0);
      deepEqual(client.updates.map(printed), snapshot);
      for (const kv of changes) go.say({ kv });
      await client.until(() => client.updates.length >= snapshot.length + changes.length);
      deepEqual(client.updates.slice(snapshot.length).map(printed), changes);
      // Two pings later the server has had a pong and kept us.
      await client.until(() => client.sent >= restarts + 2);
      equal(client.restarts, restarts);
      deepEqual(client.statuses, [2]);
      client.socket.destroy();
    });
  }
}

const refusals: { name: string; flags: string[]; why: string }[] = [
  { name: "that answers for another syncer", flags: ["--answer-type", "bgp"], why: "WIRE_SYNCER_MISMATCH" },
  { name: "older than v3.9", flags: ["--no-node-updates"], why: "WIRE_OLD_SERVER" },
];
for (const { name, flags, why } of refusals) {
  test(`our client leaves a Go server ${name}`, { skip, timeout: 300_000 }, async () => {
    await using go = await startGoServer(flags);
    const client = follow(modern, go.port, false);
    await client.until(() => client.closed !== undefined);
    equal(client.closed, why);
  });
}

test("our client is told when a Go server hangs up", { skip, timeout: 300_000 }, async () => {
  await using go = await startGoServer();
  const client = follow({ ...modern, syncerType: "nope" }, go.port, false);
  await client.until(() => client.closed !== undefined);
  equal(client.closed, "WIRE_PEER_CLOSED");
});

function printed(update: SerializedUpdate) {
  const { key, value = null, revision, v3ResourceVersion: v3rv, ttlNanos, updateType: type } = update;
  return { key, value, revision, v3rv, ttl: Number(ttlNanos), type };
}

type Followed = {
  socket: Socket;
  updates: SerializedUpdate[];
  statuses: number[];
  restarts: number;
  sent: number;
  closed: string | undefined;
  until(isReached: () => boolean): Promise<void>;
};

function follow(hello: ClientOptions["hello"], port: number, isTls: boolean): Followed {
  const machine = new ClientMachine({ hello }, performance.now());
  const tls = tlsClientOptions(authority.clientMaterial(), tlsPolicy({}), { commonName: "calico-typha" });
  const socket = isTls ? connectTls({ ...tls, port, host: "127.0.0.1" }) : connectPlain(port, "127.0.0.1");
  const waiting = new Set<() => void>();
  const client: Followed = {
    socket,
    updates: [],
    statuses: [],
    restarts: 0,
    sent: 0,
    closed: undefined,
    until: (isReached) =>
      new Promise((resolve) => {
        const check = () => {
          if (!isReached()) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
  };
  const act = (events: readonly ClientEvent[]): void => {
    for (const event of events) {
      if (event.is === "send") {
        client.sent += 1;
        socket.write(event.bytes);
      }
      if (event.is === "updates") client.updates.push(...event.updates);
      if (event.is === "status") client.statuses.push(event.status);
      if (event.is === "restart") client.restarts += 1;
      if (event.is === "close") {
        client.closed = event.why.code;
        socket.destroy();
      }
    }
    for (const check of [...waiting]) check();
  };
  socket.on("data", (bytes: Buffer) => act(machine.receive(bytes, performance.now())));
  socket.on("end", () => act(machine.end()));
  socket.on("error", () => act(machine.end()));
  socket.write(machine.opening());
  return client;
}
