// What happens to a client over its life: servers that hang, certificates that are replaced, consumers that are slow,
// and leaving.
import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { test } from "node:test";
import { promisify } from "node:util";
import { type FollowOptions, follow, followBatches, Snapshot } from "../../src/typha/client/index.ts";
import { certificateFolder, testAuthority } from "../kit/certificates.ts";
import { Followed } from "../kit/followed.ts";
import { startProxy } from "../kit/proxy.ts";
import { manyKeys, serve } from "../kit/serving.ts";

const run = promisify(execFile);

test("a server that says nothing for the read timeout is left for the next", async () => {
  await using first = await serve();
  await using second = await serve();
  for (const server of [first, second]) {
    server.set({ "/calico/v1/config/a": "1" });
    server.status(2);
  }
  second.set({ "/calico/v1/config/b": "2" });
  await using proxy = await startProxy(first.address.port);
  const servers = [`127.0.0.1:${proxy.port}`, `127.0.0.1:${second.address.port}`];
  // The servers ping every ten seconds, so after a second of silence both are silent: each reconnect finds the state.
  await using client = new Followed({ servers, readTimeoutMs: 1000 });
  await client.inSync();
  proxy.halfOpen();
  await client.until(() => client.state.has("/calico/v1/config/b"), "the second server's key");
  equal(client.state.get("/calico/v1/config/a"), "1");
});

test("a server that drips bytes which never become a message is left after the read timeout", async () => {
  const dripping = createServer((socket) => {
    socket.on("error", () => undefined); // the client leaves
    socket.write(Uint8Array.of(0xfd, 0x0f, 0x00, 0x00)); // a message of a million bytes, which never comes
    const timer = setInterval(() => socket.write(Uint8Array.of(0)), 20);
    socket.on("close", () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => dripping.listen(0, "127.0.0.1", resolve));
  await using client = new Followed({ servers: `127.0.0.1:${portOf(dripping)}`, readTimeoutMs: 300, maxFailures: 1 });
  await client.until(() => client.failure !== undefined, "a failure").catch(() => undefined); // it is what we wait for
  match(String(client.failure), /WIRE_READ_TIMEOUT/);
  dripping.close();
});

test("certificate files are read again for every connection", async () => {
  const authority = testAuthority();
  using folder = certificateFolder(authority);
  await using server = await serve({ tls: authority.serverTls() });
  server.status(2);
  const wrong = authority.client({ names: { commonName: "somebody" } });
  writeFileSync(folder.client.certFile, wrong.certPem);
  writeFileSync(folder.client.keyFile, wrong.keyPem);
  const failures: unknown[] = [];
  const right = authority.client();
  const log = {
    debug: () => undefined,
    info: () => undefined,
    error: () => undefined,
    warn: (message: string, fields: unknown) => {
      failures.push({ message, fields });
      writeFileSync(folder.client.certFile, right.certPem);
      writeFileSync(folder.client.keyFile, right.keyPem);
    },
  };
  const servers = `127.0.0.1:${server.address.port}`;
  await using client = new Followed({
    servers,
    log,
    tls: { ...folder.client, server: { commonName: "calico-typha" } },
  });
  await client.inSync();
  ok(failures.length >= 1);
});

for (const transport of ["plain", "TLS"] as const) {
  test(`a slow consumer slows the server down instead of filling its own memory, ${transport}`, async () => {
    const authority = testAuthority();
    using folder = certificateFolder(authority);
    const isTls = transport === "TLS";
    await using server = await serve(isTls ? { tls: authority.serverTls() } : {});
    server.set(manyKeys(30_000, () => "x".repeat(2000)));
    server.status(2);
    await using relay = await startRelay(server.address.port);
    const tls = isTls ? { tls: { ...folder.client, server: { commonName: "calico-typha" } } } : {};
    let keys = 0;
    let held = 0;
    // Not compressed, so that the bytes on the wire are many: 60 MB.
    for await (const update of follow({ servers: `127.0.0.1:${relay.port}`, compression: [], ...tls })) {
      if (update.is === "status" && update.status === 2) break;
      if (update.is === "status") continue;
      keys += 1;
      if (keys === 1000) held = await settled(() => relay.answerBytes);
    }
    equal(keys, 30_000);
    // Two pairs of kernel buffers, the relay's and ours.
    ok(held < 30e6, `${held} of 60 MB were taken from the server while the consumer did nothing`);
  });
}

test("a Snapshot is a live map that survives the loss of its server", async () => {
  await using server = await serve();
  server.set(manyKeys(10, (index) => `${index}`));
  server.status(2);
  await using proxy = await startProxy(server.address.port);
  await using snapshot = Snapshot.open({ servers: `127.0.0.1:${proxy.port}` });
  await snapshot.inSync();
  equal(snapshot.values.size, 10);
  proxy.cut();
  server.delete(["/calico/v1/config/key-3"]);
  await snapshot.until((values) => values.size === 9);
  equal(snapshot.values.has("/calico/v1/config/key-3"), false);
});

test("a Snapshot that gave up, or was disposed of, has no connection and says so", async () => {
  await using server = await serve();
  server.set(manyKeys(10, (index) => `${index}`));
  server.status(2);
  const servers = `127.0.0.1:${server.address.port}`;
  const disposed = Snapshot.open({ servers });
  const left = Snapshot.open({ servers, maxFailures: 1 });
  for (const snapshot of [disposed, left]) {
    await snapshot.inSync();
    equal(snapshot.status, 2);
  }
  await disposed[Symbol.asyncDispose]();
  equal(disposed.status, 0);
  await server[Symbol.asyncDispose]();
  await rejects(left.until(() => false));
  equal(left.status, 0);
  equal(left.values.size, 10);
});

test("a connection that was in sync is no failure, however often it is lost", async () => {
  await using server = await serve();
  server.status(2);
  await using proxy = await startProxy(server.address.port);
  await using client = new Followed({ servers: `127.0.0.1:${proxy.port}`, maxFailures: 1 });
  for (let times = 1; times <= 3; times += 1) {
    await client.inSync(times);
    proxy.cut();
  }
  await client.inSync(4);
});

const forms: { name: string; words: (options: FollowOptions) => AsyncIterable<unknown> }[] = [
  { name: "follow", words: follow },
  { name: "followBatches", words: followBatches },
];
for (const { name, words } of forms) {
  test(`${name}: after the signal's abort there is not another word`, async () => {
    await using server = await serve();
    server.set(manyKeys(20_000, (index) => `${index}`));
    server.status(2);
    const stop = new AbortController();
    let heard = 0;
    for await (const _ of words({ servers: `127.0.0.1:${server.address.port}`, signal: stop.signal })) {
      heard += 1;
      if (heard === 2) stop.abort();
    }
    equal(heard, 2);
  });
}

const ways: { how: string; prints: RegExp; without?: "server" | "answer" }[] = [
  { how: "break in sync", prints: /^left$/m },
  { how: "break at the first word", prints: /^left$/m },
  { how: "throw", prints: /^the consumer's own\nleft$/m },
  { how: "abort at the first word", prints: /^left$/m },
  { how: "abort in sync", prints: /^left$/m },
  { how: "abort once connected", prints: /^left$/m },
  { how: "abort before the start", prints: /^left$/m },
  { how: "abort in the pause after a failure", prints: /^left$/m, without: "server" },
  { how: "abort while the server is silent", prints: /^left$/m, without: "answer" },
  { how: "give up", prints: /no connection to .*\nleft$/m, without: "server" },
];
for (const { how, prints, without } of ways) {
  test(`leaving leaves nothing behind: ${how}`, async () => {
    await using server = await serve();
    server.set(manyKeys(2000, (index) => `${index}`));
    server.status(2);
    const { port } = server.address;
    if (without === "server") await server[Symbol.asyncDispose]();
    await using proxy = await startProxy(port);
    if (without === "answer") proxy.freeze();
    const script = ["test/peers/client-leaves.ts", how, `127.0.0.1:${without === "answer" ? proxy.port : port}`];
    const { stdout, stderr } = await run(process.execPath, script, { timeout: 120_000 });
    match(stdout, prints);
    deepEqual(stderr, "");
  });
}

type Relay = AsyncDisposable & { readonly port: number; readonly answerBytes: number };

/** Passes bytes on with back-pressure, and counts those that left the server. */
async function startRelay(target: number): Promise<Relay> {
  const servers: Socket[] = [];
  const clients: Socket[] = [];
  const listener = createServer((client) => {
    const server = connect(target, "127.0.0.1");
    servers.push(server);
    clients.push(client);
    client.on("error", () => server.destroy()).on("close", () => server.destroy());
    server.on("error", () => client.destroy());
    client.pipe(server).pipe(client);
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  return {
    port: portOf(listener),
    get answerBytes() {
      return servers.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of [...servers, ...clients]) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

/** The count once it no longer moves. */
async function settled(count: () => number): Promise<number> {
  let last = -1;
  for (let same = 0; same < 20; ) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    same = count() === last ? same + 1 : 0;
    last = count();
  }
  return last;
}

function portOf(listener: Server): number {
  const address = listener.address();
  if (address === null || typeof address === "string") throw new Error("it listens on no port");
  return address.port;
}
