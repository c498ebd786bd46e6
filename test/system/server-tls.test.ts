// Mutual TLS with Go's crypto/tls on the other end: the original's 18 combinations, what is refused before any gob, half-open
// handshakes, and material that changes under a running server.
import { deepEqual, equal, ok } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { type CertifiedKey, tlsPolicy } from "../../src/base/security/index.ts";
import { clientNames, testAuthority } from "../kit/certificates.ts";
import { eventually, GoClients, serve, type TestServer, withoutGoClient } from "../kit/serving.ts";

const options = { skip: withoutGoClient };
const authority = testAuthority();
const stranger = testAuthority("Another CA");
const folder = mkdtempSync(join(tmpdir(), "cattail-server-tls-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const uri = clientNames.uriSans?.[0] ?? "";
const wrong = { commonName: "somebody", uriSans: ["spiffe://cluster.local/ns/other/sa/other"] };
const requirements = {
  "CN or URI": { commonName: clientNames.commonName, uriSan: uri },
  CN: { commonName: clientNames.commonName },
  URI: { uriSan: uri },
};
const clients: { [name: string]: CertifiedKey | "plaintext" } = {
  plaintext: "plaintext",
  untrusted: stranger.client(),
  "good CN": authority.client({ names: { uriSans: wrong.uriSans } }),
  "good URI": authority.client({ names: { commonName: wrong.commonName } }),
  both: authority.client(),
  bad: authority.client({ names: wrong }),
};
const accepted: { [requirement: string]: string[] } = {
  "CN or URI": ["good CN", "good URI", "both"],
  CN: ["good CN", "both"],
  URI: ["good URI", "both"],
};

let written = 0;
function clientFlags(pair: CertifiedKey, ca = authority.pair.certPem): string[] {
  written += 1;
  const path = (name: string) => join(folder, `${written}-${name}`);
  writeFileSync(path("cert"), pair.certPem);
  writeFileSync(path("key"), pair.keyPem);
  writeFileSync(path("ca"), ca);
  return ["--ca", path("ca"), "--cert", path("cert"), "--key", path("key"), "--server-cn", "calico-typha"];
}

async function serveTls(extra: Parameters<typeof serve>[0] = {}, requirement = requirements["CN or URI"]) {
  const server = await serve({
    tls: { material: authority.serverMaterial(), policy: tlsPolicy(), requirement },
    ...extra,
  });
  server.set({ "/calico/v1/config/a": "1" });
  server.status(2);
  return server;
}

for (const [requirement, names] of Object.entries(requirements)) {
  describe(`requirement ${requirement}`, options, () => {
    for (const [name, certificate] of Object.entries(clients)) {
      const isAccepted = accepted[requirement]?.includes(name) ?? false;
      test(`${name} is ${isAccepted ? "served" : "refused, and nothing is sent"}`, options, async () => {
        await using server = await serveTls({}, names as (typeof requirements)["CN or URI"]);
        const flags = certificate === "plaintext" ? [] : clientFlags(certificate);
        await using client = new GoClients(server, isAccepted ? flags : [...flags, "--timeout", "20s"]);
        if (isAccepted) {
          await client.inSync();
          deepEqual(client.state, { "/calico/v1/config/a": "1" });
          return;
        }
        equal(await client.exited, 1);
        deepEqual(client.events, []);
        await eventually(() => server.activeCount === 0, "the connection is gone");
        await eventually(() => refusals(server).length > 0, "the refusal is logged");
      });
    }
  });
}

function refusals(server: TestServer): string[] {
  return server.lines
    .filter(({ message }) => message === "Refused connection")
    .map(({ fields }) => String(fields.check));
}

describe("the client refuses the server", options, () => {
  const cases: { name: string; server: CertifiedKey; ca?: string }[] = [
    { name: "of another CA", server: stranger.server() },
    { name: "with another name", server: authority.server({ names: { commonName: "impostor", uriSans: [] } }) },
    { name: "whose certificate is a client's", server: authority.server({ role: "client" }) },
    { name: "whose certificate has expired", server: authority.server({ notAfterMs: Date.now() - 1000 }) },
  ];
  for (const { name, server: pair } of cases) {
    test(name, options, async () => {
      const material = { cert: pair.certPem, key: pair.keyPem, ca: authority.pair.certPem };
      const tls = { material, policy: tlsPolicy(), requirement: requirements.CN };
      await using server = await serve({ tls });
      server.status(2);
      await using client = new GoClients(server, clientFlags(authority.client()));
      equal(await client.exited, 1);
      deepEqual(client.events, []);
    });
  }
});

describe("who is refused before any gob", () => {
  const good = authority.client();
  const cases: { name: string; connection: object; check: string }[] = [
    { name: "no certificate, TLS 1.3", connection: { minVersion: "TLSv1.3" }, check: "no-certificate" },
    { name: "no certificate, TLS 1.2", connection: { maxVersion: "TLSv1.2" }, check: "no-certificate" },
    {
      name: "TLS 1.1",
      connection: { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0", ...pairOf(good) },
      check: "tls-version",
    },
    {
      name: "a server's certificate",
      connection: pairOf(authority.client({ role: "server" })),
      check: "extended-key-usage",
    },
    {
      name: "an expired certificate",
      connection: pairOf(authority.client({ notAfterMs: Date.now() - 1000 })),
      check: "expired",
    },
  ];
  for (const { name, connection, check } of cases) {
    test(name, async () => {
      await using server = await serveTls();
      const socket = connectTls({
        port: server.address.port,
        host: "127.0.0.1",
        ca: authority.pair.certPem,
        checkServerIdentity: () => undefined,
        ...connection,
      });
      let received = 0;
      socket.on("data", (bytes: Buffer) => {
        received += bytes.length;
      });
      socket.on("error", () => undefined);
      await new Promise((resolve) => socket.on("close", resolve));
      equal(received, 0);
      await eventually(
        () => refusals(server).includes(check),
        () => `${check}, logged ${refusals(server)}`,
      );
    });
  }
});

function pairOf(pair: CertifiedKey): { cert: string; key: string } {
  return { cert: pair.certPem, key: pair.keyPem };
}

test("no ticket is given out, and renegotiation is refused", async () => {
  await using server = await serveTls();
  const base = {
    port: server.address.port,
    host: "127.0.0.1",
    ca: authority.pair.certPem,
    ...pairOf(authority.client()),
  };
  const first = connectTls({ ...base, maxVersion: "TLSv1.2", checkServerIdentity: () => undefined });
  first.on("error", () => undefined);
  await new Promise((resolve) => first.on("secureConnect", resolve));
  equal(first.getTLSTicket(), undefined);
  const outcome = await new Promise((resolve) => {
    first.on("close", () => resolve("closed"));
    first.renegotiate({}, (error) => resolve(error === null ? "renegotiated" : "refused"));
  });
  ok(outcome !== "renegotiated");
  first.destroy();
});

describe("half-open handshakes", options, () => {
  for (const firstBytes of ["", "\u0016\u0003\u0001"]) {
    test(`one that sent ${firstBytes.length} bytes is cut at the timeout`, options, async () => {
      await using server = await serveTls({ limits: { handshakeTimeoutMs: 500 } });
      const startedMs = performance.now();
      const socket = connectTcp(server.address.port, "127.0.0.1");
      socket.on("error", () => undefined);
      if (firstBytes !== "") socket.write(firstBytes, "latin1");
      await new Promise((resolve) => socket.resume().on("close", resolve));
      ok(performance.now() - startedMs >= 490);
      await eventually(() => server.activeCount === 0, "nobody left");
    });
  }

  test("others connect meanwhile, without waiting for it", options, async () => {
    await using server = await serveTls({ limits: { handshakeTimeoutMs: 60_000 } });
    const sockets = Array.from({ length: 50 }, () => connectTcp(server.address.port, "127.0.0.1"));
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.on("connect", resolve))));
    await using client = new GoClients(server, clientFlags(authority.client()));
    await client.inSync();
    for (const socket of sockets) socket.destroy();
  });

  test("a hello that drips in byte by byte does not stretch the timeout", options, async () => {
    await using server = await serveTls({ limits: { handshakeTimeoutMs: 600 } });
    const socket = connectTcp(server.address.port, "127.0.0.1");
    socket.on("error", () => undefined);
    // A record that announces 512 bytes of client hello, which then come one at a time.
    socket.write(Buffer.from("1603010200010001fc0303", "hex"));
    const startedMs = performance.now();
    const drip = setInterval(() => socket.write(Buffer.from([0])), 50);
    await new Promise((resolve) => socket.resume().on("close", resolve));
    clearInterval(drip);
    const tookMs = performance.now() - startedMs;
    ok(tookMs >= 550, `cut after ${tookMs} ms`);
    await eventually(() => server.activeCount === 0, "nobody left");
  });
});

for (const workers of [0, 2]) {
  test(
    `a new CA: who is connected stays, the old CA's clients are refused from then on (${workers} workers)`,
    options,
    async () => {
      await using server = await serveTls({ workers });
      await using old = new GoClients(server, clientFlags(authority.client()));
      await old.inSync();
      server.setTlsMaterial(stranger.serverMaterial());
      // A thread has the new material once it has let in a client of the new CA; several reach every thread.
      const newFlags = clientFlags(stranger.client(), stranger.pair.certPem);
      await eventually(async () => {
        await using late = new GoClients(server, [...newFlags, "--clients", "10", "--stats", "--until-in-sync"]);
        return (await late.exited) === 0 && (await late.statsAtLast()).inSync === 10;
      }, "new CA");
      for (let attempt = 0; attempt < 6; attempt += 1) {
        await using late = new GoClients(server, clientFlags(authority.client(), stranger.pair.certPem));
        equal(await late.exited, 1);
      }
      server.set({ "/calico/v1/config/b": "2" });
      await old.until(() => old.state["/calico/v1/config/b"] === "2", "the old connection's next update");
    },
  );
}
