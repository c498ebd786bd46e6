// TLS files that OpenSSL cannot load, put before a running server: it keeps serving with the last good ones, says why, and
// takes the next good ones.
import { equal, match, rejects } from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { connect } from "node:tls";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { type CertifiedKey, renewCertificate } from "../../src/base/security/index.ts";
import { openTls } from "../../src/typha/server/listening/server-tls.ts";
import { readSettings } from "../../src/typha/settings/index.ts";
import { type CertificateFolder, certificateFolder, testAuthority } from "../kit/certificates.ts";
import { eventually, serve } from "../kit/serving.ts";
import { tlsSettings } from "../kit/typha-settings.ts";

const authority = testAuthority();
const client = authority.client();

function smallKeyPair(): CertifiedKey {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
  const keyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const { certPem } = authority.server();
  return renewCertificate({ authority: authority.pair, certPem, keyPem, nowMs: Date.now() });
}

type Contents = { certPem?: string; keyPem?: string; ca?: string };
const { certPem, keyPem } = authority.server();
const ca = authority.pair.certPem;
const cuts = Array.from({ length: 40 }, (_, index) => index + 2);
const unusable: { name: string; contents: Contents }[] = [
  ...cuts.map((bytes) => ({
    name: `certificate cut by ${bytes}`,
    contents: { certPem: certPem.slice(0, -bytes) },
  })),
  ...cuts.map((bytes) => ({ name: `key cut by ${bytes}`, contents: { keyPem: keyPem.slice(0, -bytes) } })),
  ...cuts.map((bytes) => ({ name: `CA cut by ${bytes}`, contents: { ca: ca.slice(0, -bytes) } })),
  { name: "indented certificate", contents: { certPem: certPem.replaceAll(/^/gm, " ") } },
  { name: "indented CA", contents: { ca: ca.replaceAll(/^/gm, " ") } },
  { name: "CA with CR line ends", contents: { ca: ca.replaceAll("\n", "\r") } },
  { name: "RSA key of 1024 bits", contents: smallKeyPair() },
];

/** A good pair and its CA, but for what is wrong with one of them. */
function write({ server }: CertificateFolder, contents: Contents): void {
  const all = { certPem, keyPem, ca, ...contents };
  writeFileSync(server.certFile, all.certPem);
  writeFileSync(server.keyFile, all.keyPem);
  writeFileSync(server.caFile, all.ca);
}

function openFiles(files: CertificateFolder, signal: AbortSignal) {
  const { values } = readSettings({ environment: tlsSettings(files), checks: { exists: () => true } });
  return openTls(values, { log: silentLog, clock: systemClock, signal });
}

describe("TLS files that cannot be used", () => {
  for (const workers of [0, 1]) {
    test(`never reach a server with ${workers} workers`, async () => {
      using files = certificateFolder(authority);
      const stop = new AbortController();
      const tls = await openFiles(files, stop.signal);
      if (tls === undefined) throw new Error("no TLS");
      await using _ = tls;
      await using server = await serve({ tls: tls.setup(), workers });
      const following = tls.follow(server, stop.signal);
      const first = await shownSerial(server.address.port);
      for (const { name, contents } of unusable) {
        write(files, contents);
        await tls.reload();
        equal(await shownSerial(server.address.port), first, name);
        match(tls.problem() ?? "", /typha/, name);
      }
      equal(tls.state().reloads, 0);
      write(files, {});
      await tls.reload();
      equal(tls.problem(), undefined);
      await eventually(async () => (await shownSerial(server.address.port)) !== first, "the next good pair is served");
      stop.abort();
      await following;
    });
  }

  test("stop a start with what to do about it", async () => {
    for (const { name, contents } of unusable) {
      using files = certificateFolder(authority);
      write(files, contents);
      await rejects(openFiles(files, new AbortController().signal), { name: "CattailError", code: /^TLS_/ }, name);
    }
  });
});

/** Of the certificate that the server shows to a node that it lets in. */
async function shownSerial(port: number): Promise<string | undefined> {
  const socket = connect({ port, host: "127.0.0.1", ca, cert: client.certPem, key: client.keyPem });
  await once(socket, "secureConnect");
  const serial = socket.getPeerX509Certificate()?.serialNumber;
  socket.destroy();
  return serial;
}
