// Real TLS handshakes on loopback: who is let in, who is not, and which check is named.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectPlain } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { type ConnectionOptions, connect, createServer, type Server, type TLSSocket } from "node:tls";
import { testAuthority } from "../../../../test/kit/certificates.ts";
import {
  admitPeers,
  type CertifiedKey,
  type PeerRequirement,
  type Refusal,
  renewCertificate,
  tlsPolicy,
  tlsServerOptions,
} from "../index.ts";
import type { PeerCheck } from "./verify-peer.ts";

const goodCn = "typha-peer";
const badCn = "impostor";
const goodUri = "spiffe://k8s.example.com/typha-peer";
const badUri = "spiffe://k8s.example.com/impostor";

const first = testAuthority("CA1");
const second = testAuthority("CA2");
const untrusted = testAuthority("CAUntrusted");
const serverPair = first.server();

type Gate = AsyncDisposable & { port: number; refusals: Refusal[]; admitted: TLSSocket[]; server: Server };

async function openGate(
  requirement: PeerRequirement,
  ca: string,
  { policy = tlsPolicy(), handshakeTimeoutMs = 60_000 } = {},
): Promise<Gate> {
  const server = createServer(
    tlsServerOptions({ cert: serverPair.certPem, key: serverPair.keyPem, ca }, policy, { handshakeTimeoutMs }),
  );
  const refusals: Refusal[] = [];
  const admitted: TLSSocket[] = [];
  admitPeers(server, {
    requirement,
    admit: (socket) => {
      admitted.push(socket);
      socket.on("error", () => undefined);
      socket.end("welcome");
    },
    refuse: (refusal) => refusals.push(refusal),
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    refusals,
    admitted,
    server,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** What the client was sent before the connection ended. */
function dial(port: number, options: ConnectionOptions): Promise<{ received: string; isReused: boolean | undefined }> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, ca: first.pair.certPem, ...options });
    let received = "";
    let isReused: boolean | undefined;
    socket.on("data", (chunk) => (received += chunk));
    socket.on("error", () => undefined);
    socket.on("secureConnect", () => (isReused = socket.isSessionReused()));
    socket.on("close", () => resolve({ received, isReused }));
  });
}

const as = (pair: CertifiedKey): ConnectionOptions => ({ cert: pair.certPem, key: pair.keyPem });

type Row = { signature: string; cn: string; uri: string };
const rows: Row[] = ["CA1", "CA2", "untrusted"].flatMap((signature) =>
  ["", goodCn, badCn].flatMap((cn) => ["", goodUri, badUri].map((uri) => ({ signature, cn, uri }))),
);
const certificates = rows.map((row) => {
  const authority = row.signature === "CA1" ? first : row.signature === "CA2" ? second : untrusted;
  return authority.client({ names: { commonName: row.cn, uriSans: row.uri === "" ? [] : [row.uri] } });
});
const trusts: { name: string; ca: string; trusts: string[] }[] = [
  { name: "no CA of any client", ca: testAuthority("CA3").pair.certPem, trusts: [] },
  { name: "CA1", ca: first.pair.certPem, trusts: ["CA1"] },
  { name: "CA2", ca: second.pair.certPem, trusts: ["CA2"] },
  { name: "CA1 and CA2", ca: first.pair.certPem + second.pair.certPem, trusts: ["CA1", "CA2"] },
];

function expected(row: Row, trusted: string[], requirement: Required<PeerRequirement>): PeerCheck | "admitted" {
  if (!trusted.includes(row.signature)) return "untrusted-ca";
  const { commonName, uriSan } = requirement;
  if (commonName !== "" && row.cn === commonName) return "admitted";
  if (uriSan !== "" && row.uri === uriSan) return "admitted";
  if (commonName !== "" && uriSan !== "") return "common-name-or-uri-san";
  if (commonName !== "") return "common-name";
  return uriSan === "" ? "admitted" : "uri-san";
}

let combinations = 0;
for (const trust of trusts) {
  for (const commonName of ["", goodCn]) {
    for (const uriSan of ["", goodUri]) {
      test(`trusting ${trust.name}, asking for CN "${commonName}" and URI "${uriSan}": 27 clients`, async () => {
        await using gate = await openGate({ commonName, uriSan }, trust.ca);
        for (const [at, row] of rows.entries()) {
          const pair = certificates[at];
          ok(pair);
          const { received } = await dial(gate.port, as(pair));
          const want = expected(row, trust.trusts, { commonName, uriSan });
          const got = received === "welcome" ? "admitted" : gate.refusals.at(-1)?.check;
          equal(got, want, JSON.stringify(row));
          if (want !== "admitted") equal(gate.refusals.pop()?.certificate?.commonName, row.cn);
          equal(gate.refusals.length, 0);
          combinations += 1;
        }
      });
    }
  }
}
after(() => equal(combinations, 432, "every combination was tried"));

/** A pair of the first CA with the names and extensions of a certificate that openssl made. */
function likeVector(name: string): CertifiedKey {
  const certPem = readFileSync(`test/vectors/certificates/${name}.crt`, "utf8");
  return renewCertificate({ authority: first.pair, certPem, nowMs: Date.now() });
}

test("a client with an extension of its own, whose value is no DER, is admitted", async () => {
  await using gate = await openGate({ commonName: "calico-node" }, first.pair.certPem);
  equal((await dial(gate.port, as(likeVector("private-extension")))).received, "welcome");
});

test("a client whose key usage lacks digitalSignature is refused, and both reasons it may have are named", async () => {
  await using gate = await openGate({ commonName: "calico-node" }, first.pair.certPem);
  equal((await dial(gate.port, as(likeVector("key-encipherment")))).received, "");
  match(gate.refusals[0]?.says ?? "", /key usage \(needs digitalSignature\) or its extended key usage/);
});

const weak = "ALL:@SECLEVEL=0";
const refusedCases: { name: string; options: ConnectionOptions; check: PeerCheck }[] = [
  { name: "no certificate, TLS 1.3", options: { minVersion: "TLSv1.3" }, check: "no-certificate" },
  { name: "no certificate, TLS 1.2", options: { maxVersion: "TLSv1.2" }, check: "no-certificate" },
  { name: "a server's certificate", options: as(first.client({ role: "server" })), check: "extended-key-usage" },
  {
    name: "an expired certificate",
    options: as(first.client({ nowMs: Date.now() - 3_600_000, notAfterMs: Date.now() - 1_000 })),
    check: "expired",
  },
  {
    name: "a certificate for next month",
    options: as(first.client({ nowMs: Date.now() + 30 * 86_400_000 })),
    check: "not-yet-valid",
  },
  {
    name: "TLS 1.1",
    options: { ...as(first.client()), minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: weak },
    check: "tls-version",
  },
  {
    name: "no common cipher suite",
    options: { ...as(first.client()), maxVersion: "TLSv1.2", ciphers: "AES128-SHA" },
    check: "tls-version",
  },
];
for (const { name, options, check } of refusedCases) {
  test(`${name} is refused with "${check}" and sent nothing`, async () => {
    await using gate = await openGate({ commonName: "calico-node" }, first.pair.certPem);
    const { received } = await dial(gate.port, options);
    equal(received, "");
    deepEqual(
      gate.refusals.map((refusal) => refusal.check),
      [check],
    );
    equal(gate.refusals[0]?.address, "127.0.0.1");
    equal(gate.admitted.length, 0);
  });
}

test("a client that does not trust our certificate is told apart", async (context) => {
  await using gate = await openGate({ commonName: "calico-node" }, first.pair.certPem);
  const client = first.client();
  const folder = mkdtempSync(join(tmpdir(), "cattail-alert-"));
  try {
    // Node's own client verifies after the handshake and sends no alert; openssl and Go send one.
    writeFileSync(join(folder, "client.pem"), client.certPem + client.keyPem);
    writeFileSync(join(folder, "ca.pem"), untrusted.pair.certPem);
    const connecting = [
      "s_client",
      "-connect",
      `127.0.0.1:${gate.port}`,
      "-verify_return_error",
      "-CAfile",
      "ca.pem",
      "-cert",
      "client.pem",
    ];
    await new Promise((resolve) =>
      execFile("openssl", connecting, { cwd: folder, timeout: 30_000 }, resolve).stdin?.end(),
    );
    if (gate.refusals.length === 0) return context.skip("openssl is not installed");
    equal(gate.refusals[0]?.check, "refused-by-peer");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a client that speaks no TLS is refused", async () => {
  await using gate = await openGate({ commonName: "calico-node" }, first.pair.certPem);
  await new Promise((resolve) => {
    const socket = connectPlain(gate.port, "127.0.0.1", () => socket.write("GET / HTTP/1.1\r\n\r\n"));
    socket.on("error", resolve).on("close", resolve).resume();
  });
  deepEqual(
    gate.refusals.map((refusal) => refusal.check),
    ["not-tls"],
  );
});

test("a client that never finishes the handshake is cut off", async () => {
  await using gate = await openGate({ commonName: "calico-node" }, first.pair.certPem, { handshakeTimeoutMs: 50 });
  await new Promise((resolve) =>
    connectPlain(gate.port, "127.0.0.1").on("error", resolve).on("close", resolve).resume(),
  );
  equal(gate.refusals[0]?.check, "handshake-timeout");
});

for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
  test(`${version}: a session is never resumed`, async () => {
    await using gate = await openGate({ commonName: "calico-node" }, first.pair.certPem);
    const options = { ...as(first.client()), minVersion: version, maxVersion: version };
    const sessions: Buffer[] = [];
    const socket = connect({ host: "127.0.0.1", port: gate.port, ca: first.pair.certPem, ...options });
    socket.on("session", (session) => sessions.push(session)).resume();
    await new Promise((resolve) => socket.on("close", resolve));
    const held = sessions.at(-1) ?? socket.getSession();
    if (held === undefined) return;
    const again = await dial(gate.port, { ...options, session: held });
    equal(again.received, "welcome");
    equal(again.isReused, false);
    // The ticket alone, without the certificate, opens nothing.
    const bare = await dial(gate.port, { minVersion: version, maxVersion: version, session: held });
    equal(bare.received, "");
  });
}

test("TLS 1.3 is what able peers agree on, and 1.2 still works", async () => {
  await using gate = await openGate({ commonName: "calico-node" }, first.pair.certPem);
  const versions: (string | null)[] = [];
  gate.server.prependListener("secureConnection", (socket) => versions.push(socket.getProtocol()));
  await dial(gate.port, as(first.client()));
  await dial(gate.port, { ...as(first.client()), maxVersion: "TLSv1.2" });
  deepEqual(versions, ["TLSv1.3", "TLSv1.2"]);
});

test("after setSecureContext with the same options the minimum version still holds", async () => {
  const policy = tlsPolicy({ minVersion: "1.3" });
  await using gate = await openGate({ commonName: "calico-node" }, first.pair.certPem, { policy });
  const next = second.server();
  gate.server.setSecureContext(
    tlsServerOptions({ cert: next.certPem, key: next.keyPem, ca: second.pair.certPem }, policy),
  );
  const options = { ...as(second.client()), ca: second.pair.certPem };
  equal((await dial(gate.port, { ...options, maxVersion: "TLSv1.2" })).received, "");
  equal((await dial(gate.port, options)).received, "welcome");
  // The old CA's clients are out at the next handshake.
  equal((await dial(gate.port, { ...as(first.client()), ca: second.pair.certPem })).received, "");
});
