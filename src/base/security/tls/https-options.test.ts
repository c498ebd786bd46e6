import { equal } from "node:assert/strict";
import { createServer, request } from "node:https";
import { test } from "node:test";
import { testAuthority } from "../../../../test/kit/certificates.ts";
import {
  admitHttpsPeers,
  type CertifiedKey,
  certificatesInPem,
  httpsServerOptions,
  isStillTrusted,
  parseTlsMaterial,
  tlsPolicy,
} from "../index.ts";
import type { ClientAuth } from "./https-options.ts";

const trusted = testAuthority("Trusted");
const stranger = testAuthority("Stranger");
const none = undefined;
const good = trusted.client();
const bad = stranger.client();

const cases: { mode: ClientAuth; client: CertifiedKey | undefined; name: string; admitted: boolean }[] = [
  { mode: "NoClientCert", client: none, name: "no certificate", admitted: true },
  { mode: "NoClientCert", client: bad, name: "a stranger's certificate", admitted: true },
  { mode: "RequireAnyClientCert", client: none, name: "no certificate", admitted: false },
  { mode: "RequireAnyClientCert", client: bad, name: "a stranger's certificate", admitted: true },
  { mode: "RequireAnyClientCert", client: good, name: "a trusted certificate", admitted: true },
  { mode: "VerifyClientCertIfGiven", client: none, name: "no certificate", admitted: true },
  { mode: "VerifyClientCertIfGiven", client: bad, name: "a stranger's certificate", admitted: false },
  { mode: "VerifyClientCertIfGiven", client: good, name: "a trusted certificate", admitted: true },
  { mode: "RequireAndVerifyClientCert", client: none, name: "no certificate", admitted: false },
  { mode: "RequireAndVerifyClientCert", client: bad, name: "a stranger's certificate", admitted: false },
  { mode: "RequireAndVerifyClientCert", client: good, name: "a trusted certificate", admitted: true },
];
for (const { mode, client, name, admitted } of cases) {
  for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
    test(`${mode}, ${maxVersion}: ${name} is ${admitted ? "admitted" : "refused"}`, async () => {
      const server = createServer(
        httpsServerOptions(trusted.serverMaterial(), tlsPolicy(), mode),
        (_request, response) => {
          response.end("metrics");
        },
      );
      admitHttpsPeers(server, mode);
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      try {
        const address = server.address();
        const port = typeof address === "object" ? address?.port : undefined;
        const answer = await new Promise<string>((resolve) => {
          const own = client === undefined ? {} : { cert: client.certPem, key: client.keyPem };
          const asked = request({
            host: "localhost",
            family: 4,
            port,
            ca: trusted.pair.certPem,
            agent: false,
            maxVersion,
            ...own,
          });
          asked.on("response", async (response) => resolve(Buffer.concat(await response.toArray()).toString()));
          asked.on("error", () => resolve("refused"));
          asked.end();
        });
        equal(answer, admitted ? "metrics" : "refused");
      } finally {
        server.closeAllConnections();
        server.close();
      }
    });
  }
}

test("without a CA file a pair is enough where nobody is asked for a certificate", () => {
  const pair = trusted.server();
  const files = { certFile: "a", keyFile: "b", caFile: "" };
  const material = parseTlsMaterial({ cert: pair.certPem, key: pair.keyPem, ca: "" }, files);
  equal(material.authorities.length, 0);
});

test("what stands beside the PEM means nothing: comments, and headers that do not encrypt", () => {
  const { certPem, keyPem } = trusted.server();
  const key = keyPem.replace("-----\n", "-----\nComment: mine\n\n");
  const ca = `# from -----BEGIN CERTIFICATE----- on\n${trusted.pair.certPem}`;
  const material = parseTlsMaterial({ cert: certPem, key, ca }, { certFile: "a", keyFile: "b", caFile: "c" });
  equal(material.authorities.length, 1);
  equal(material.unreadableAuthorities, 0);
});

test("a peer stays trusted until it expires or its CA goes", () => {
  const nowMs = Date.now();
  const [der = Buffer.alloc(0)] = certificatesInPem(trusted.client({ notAfterMs: nowMs + 60_000 }).certPem);
  const peer = { leaf: der, sent: [] };
  equal(isStillTrusted(peer, { ca: stranger.pair.certPem + trusted.pair.certPem }, nowMs), true);
  equal(isStillTrusted(peer, { ca: trusted.pair.certPem }, nowMs + 61_000), false);
  equal(isStillTrusted(peer, { ca: stranger.pair.certPem }, nowMs), false);
  const junk = [Buffer.alloc(100_000, 0x30), Buffer.from("no certificate")];
  equal(isStillTrusted({ ...peer, sent: junk }, { ca: trusted.pair.certPem }, nowMs), true, "whatever it sent along");
});
