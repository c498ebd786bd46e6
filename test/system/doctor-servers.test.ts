// The doctor in front of running servers: what each sort of failure is called, and whether servers that differ are told
// from servers that do not.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { test } from "node:test";
import { systemClock } from "../../src/base/lib/index.ts";
import { examineServers, type Finding, type ServersOptions } from "../../src/programs/doctor/index.ts";
import { type CertificateFolder, certificateFolder, type TestAuthority, testAuthority } from "../kit/certificates.ts";
import { freePort } from "../kit/free-port.ts";
import { manyKeys, serve } from "../kit/serving.ts";

const quick = {
  tls: undefined,
  type: "felix",
  policyKeys: "modern",
  timeoutMs: 60_000,
  observeMs: 50,
  clock: systemClock,
} as const satisfies Omit<ServersOptions, "servers">;

async function examine(ports: readonly number[], options: Partial<ServersOptions> = {}) {
  const servers = ports.map((port) => ({ host: "127.0.0.1", port }));
  const { sections, ...rest } = await examineServers({ ...quick, ...options, servers });
  const findings: Finding[] = sections.flatMap((section) => section.findings);
  const problems = findings.flatMap((finding) => (finding.level === "ok" ? [] : [finding]));
  return { ...rest, sections, findings, problems, codes: problems.map(({ code }) => code) };
}

const clientTls = (folder: CertificateFolder, server = { commonName: "calico-typha" }) => ({
  ...folder.client,
  server,
});

test("doctor: a healthy server, step by step", async () => {
  const authority = testAuthority();
  using folder = certificateFolder(authority);
  await using server = await serve({ tls: authority.serverTls() });
  server.set(manyKeys(1500, (index) => `${index}`));
  server.status(2);
  const { codes, findings, views } = await examine([server.address.port], { tls: clientTls(folder) });
  deepEqual(codes, []);
  const steps = [/chain to/, /valid \d+ days/, /^TCP/, /^TLSv1.3 with/, /^its certificate is/, /^hello: version test/];
  steps.push(/^snapshot in \d+ ms, in sync after \d+ ms: 1500 keys/, /^keys: 1500 GlobalConfig$/, /changes in/);
  equal(findings.length, steps.length);
  for (const [index, step] of steps.entries()) match(findings[index]?.what ?? "", step);
  equal(views[0]?.keys.size, 1500);
});

const dayMs = 86_400_000;
type TlsCase = {
  name: string;
  code: string;
  server?: Parameters<TestAuthority["serverMaterial"]>[0];
  serverAuthority?: "another";
  client?: Parameters<TestAuthority["client"]>[0];
  asks?: { commonName: string };
};
const tlsCases: TlsCase[] = [
  { name: "a server of another CA", serverAuthority: "another", code: "SERVER_UNTRUSTED" },
  {
    name: "an expired server",
    server: { nowMs: Date.now() - 20 * dayMs, notAfterMs: Date.now() - dayMs },
    code: "SERVER_CERTIFICATE_EXPIRED",
  },
  {
    name: "a server that expires in a week",
    server: { notAfterMs: Date.now() + 7 * dayMs },
    code: "SERVER_CERTIFICATE_EXPIRES_SOON",
  },
  { name: "a server of another name", server: { names: { commonName: "typha" } }, code: "SERVER_NAME" },
  { name: "a server we ask for another name", asks: { commonName: "someone" }, code: "SERVER_NAME" },
  { name: "a client's certificate as the server's", server: { role: "client" }, code: "SERVER_NAME" },
  { name: "a name of ours the server does not take", client: { names: { commonName: "x" } }, code: "CLIENT_REFUSED" },
];
for (const { name, code, server: serverOptions, serverAuthority, client, asks } of tlsCases) {
  test(`doctor: ${name} is ${code}`, async () => {
    const authority = testAuthority();
    using folder = certificateFolder(authority);
    if (client !== undefined) {
      const pair = authority.client(client);
      writeFileSync(folder.client.certFile, pair.certPem);
      writeFileSync(folder.client.keyFile, pair.keyPem);
    }
    const issuer = serverAuthority === "another" ? testAuthority("Another CA") : authority;
    await using server = await serve({ tls: issuer.serverTls(serverOptions) });
    server.set({ "/calico/v1/config/a": "1" });
    server.status(2);
    const { codes } = await examine([server.address.port], { tls: clientTls(folder, asks) });
    deepEqual(codes, [code]);
  });
}

test("doctor: files that nobody could accept are found before any server is asked", async () => {
  const authority = testAuthority();
  using folder = certificateFolder(authority);
  writeFileSync(folder.client.keyFile, authority.client().keyPem);
  const { codes } = await examine([1], { tls: clientTls(folder) });
  deepEqual(codes, ["TLS_KEY_MISMATCH"]);
});

test("doctor: TLS where there is none, and none where there is", async () => {
  const authority = testAuthority();
  using folder = certificateFolder(authority);
  await using plain = await serve();
  await using secure = await serve({ tls: authority.serverTls() });
  deepEqual((await examine([plain.address.port], { tls: clientTls(folder) })).codes, ["SERVER_NOT_TLS"]);
  deepEqual((await examine([secure.address.port])).codes, ["SERVER_WANTS_TLS"]);
});

test("doctor: nobody there", async () => {
  const { codes, problems } = await examine([await freePort()]);
  deepEqual(codes, ["SERVER_UNREACHABLE"]);
  match(problems[0]?.what ?? "", /nobody listens there/);
});

test("doctor: a server that accepts and says nothing", async () => {
  await using listener = await listen((socket) => socket.resume());
  deepEqual((await examine([listener.port], { timeoutMs: 3000 })).codes, ["SERVER_SILENT"]);
});

test("doctor: a server that waits for its datastore, and one that has nothing", async () => {
  await using waiting = await serve();
  waiting.set({ "/calico/v1/config/a": "1" });
  waiting.status(1);
  deepEqual((await examine([waiting.address.port], { timeoutMs: 3000 })).codes, ["SERVER_NOT_IN_SYNC"]);
  await using empty = await serve();
  empty.status(2);
  deepEqual((await examine([empty.address.port])).codes, ["SERVER_EMPTY"]);
});

test("doctor: a server that is no Typha", async () => {
  await using listener = await listen((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n"));
  deepEqual((await examine([listener.port])).codes, ["SERVER_PROTOCOL"]);
});

test("doctor: servers that serve the same are said to, with their lag", async () => {
  await using one = await serve();
  await using other = await serve();
  for (const server of [one, other]) {
    server.set(manyKeys(100, (index) => `${index}`));
    server.status(2);
  }
  const examining = examine([one.address.port, other.address.port], { observeMs: 1500 });
  let round = 0;
  const changing = setInterval(() => {
    round += 1;
    for (const server of [one, other]) server.set({ "/calico/v1/config/key-1": `round ${round}` });
  }, 50);
  const { codes, findings, lags } = await examining;
  clearInterval(changing);
  deepEqual(codes, []);
  ok(findings.some(({ what }) => what.startsWith("2 servers have the same 100 keys")));
  equal(lags.size, 2);
});

test("doctor: servers that differ in keys, revisions, values and versions", async () => {
  await using one = await serve({ version: "v1" });
  await using other = await serve({ version: "v2" });
  one.set({ "/calico/v1/config/a": "same", "/calico/v1/config/b": "one", "/calico/v1/config/c": "new" });
  other.set({ "/calico/v1/config/a": "same", "/calico/v1/config/b": "other" });
  other.set({ "/calico/v1/config/x": "a revision more" });
  other.delete(["/calico/v1/config/x"]);
  other.set({ "/calico/v1/config/c": "new", "/calico/v1/config/d": "only here" });
  for (const server of [one, other]) server.status(2);
  const { codes, problems } = await examine([one.address.port, other.address.port]);
  deepEqual(codes, [
    "SERVERS_DIFFER_KEYS",
    "SERVERS_DIFFER_REVISIONS",
    "SERVERS_DIFFER_VALUES",
    "SERVERS_DIFFER_VERSIONS",
  ]);
  match(problems[0]?.what ?? "", /lacks \/calico\/v1\/config\/d$/);
  match(problems[1]?.what ?? "", /\/calico\/v1\/config\/c$/);
  match(problems[2]?.what ?? "", /\/calico\/v1\/config\/b$/);
});

async function listen(serveSocket: (socket: Socket) => unknown): Promise<AsyncDisposable & { port: number }> {
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined)); // the doctor leaves when it has seen enough
    serveSocket(socket);
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const address = listener.address();
  if (address === null || typeof address === "string") throw new Error("it listens on no port");
  return {
    port: address.port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}
