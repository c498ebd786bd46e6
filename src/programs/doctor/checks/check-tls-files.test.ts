import { deepEqual, match } from "node:assert/strict";
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import {
  type CertificateFolder,
  certificateFolder,
  type TestAuthority,
  testAuthority,
} from "../../../../test/kit/certificates.ts";
import { renewCertificate } from "../../../base/security/index.ts";
import { isProblem } from "../finding.ts";
import { checkTlsFiles } from "./check-tls-files.ts";

const dayMs = 86_400_000;

type Case = {
  name: string;
  spoil: (folder: CertificateFolder, authority: TestAuthority) => void;
  codes: string[];
};

const replace = (folder: CertificateFolder, pair: { certPem: string; keyPem: string }) => {
  writeFileSync(folder.server.certFile, pair.certPem);
  writeFileSync(folder.server.keyFile, pair.keyPem);
};

const cases: Case[] = [
  { name: "a good set has no problem", spoil: () => undefined, codes: [] },
  {
    name: "a file that is not there",
    spoil: ({ server }) => rmSync(server.caFile),
    codes: ["TLS_FILE_UNREADABLE"],
  },
  {
    name: "a certificate file that holds something else",
    spoil: ({ server }) => writeFileSync(server.certFile, "hello"),
    codes: ["TLS_CERTIFICATE_INVALID"],
  },
  {
    name: "a key file that holds something else",
    spoil: ({ server }) => writeFileSync(server.keyFile, "hello"),
    codes: ["TLS_KEY_INVALID"],
  },
  {
    name: "another certificate's key",
    spoil: ({ server }, authority) => writeFileSync(server.keyFile, authority.server().keyPem),
    codes: ["TLS_KEY_MISMATCH"],
  },
  {
    name: "an expired certificate",
    spoil: (folder, authority) =>
      replace(folder, authority.server({ nowMs: Date.now() - 20 * dayMs, notAfterMs: Date.now() - dayMs })),
    codes: ["TLS_CERTIFICATE_EXPIRED"],
  },
  {
    name: "a certificate of tomorrow",
    spoil: (folder, authority) => replace(folder, authority.server({ nowMs: Date.now() + 2 * dayMs })),
    codes: ["TLS_CERTIFICATE_NOT_YET_VALID"],
  },
  {
    name: "a certificate that expires in ten days",
    spoil: (folder, authority) => replace(folder, authority.server({ notAfterMs: Date.now() + 10 * dayMs })),
    codes: ["TLS_CERTIFICATE_EXPIRES_SOON"],
  },
  {
    name: "a certificate of another CA",
    spoil: (folder) => replace(folder, testAuthority("Another CA").server()),
    codes: ["TLS_NO_CHAIN"],
  },
  {
    name: "a client's certificate for the server",
    spoil: (folder, authority) => replace(folder, authority.server({ role: "client" })),
    codes: ["TLS_PURPOSE"],
  },
  {
    name: "a name that nodes do not ask for",
    spoil: (folder, authority) => replace(folder, authority.server({ names: { commonName: "typha" } })),
    codes: ["TLS_UNUSUAL_NAME"],
  },
  {
    name: "a key that its group can read, as a Secret's with fsGroup, is fine",
    spoil: ({ server }) => chmodSync(server.keyFile, 0o440),
    codes: [],
  },
  {
    name: "a key that everybody can read",
    spoil: ({ server }) => chmodSync(server.keyFile, 0o644),
    codes: ["TLS_KEY_PERMISSIONS"],
  },
  {
    name: "a certificate that is torn",
    spoil: ({ server }, authority) => writeFileSync(server.certFile, authority.server().certPem.slice(0, -5)),
    codes: ["TLS_CERTIFICATE_INVALID"],
  },
  {
    name: "a CA file that is torn",
    spoil: ({ server }, authority) => writeFileSync(server.caFile, authority.pair.certPem.slice(0, -5)),
    codes: ["TLS_CERTIFICATE_INVALID"],
  },
  {
    name: "a CA file of which a part is torn",
    spoil: ({ server }, authority) =>
      writeFileSync(server.caFile, authority.pair.certPem + testAuthority().pair.certPem.slice(0, -5)),
    codes: ["TLS_CA_PARTLY_UNREADABLE"],
  },
  {
    name: "a CA file without a root",
    spoil: ({ server }, authority) => writeFileSync(server.caFile, authority.server().certPem),
    codes: ["TLS_CA_NO_ROOT", "TLS_NO_CHAIN"],
  },
];
for (const { name, spoil, codes } of cases) {
  test(`TLS files: ${name}`, async () => {
    const authority = testAuthority();
    using folder = certificateFolder(authority);
    spoil(folder, authority);
    const expected = { commonName: "calico-typha" };
    const found = await checkTlsFiles({ files: folder.server, role: "server", nowMs: Date.now(), expected });
    deepEqual(
      found.filter(isProblem).map(({ code }) => code),
      codes,
    );
  });
}

test("TLS files: a client's key that may not sign is found", async () => {
  const authority = testAuthority();
  using folder = certificateFolder(authority);
  const certPem = readFileSync("test/vectors/certificates/key-encipherment.crt", "utf8");
  const pair = renewCertificate({ authority: authority.pair, certPem, nowMs: Date.now() });
  writeFileSync(folder.client.certFile, pair.certPem);
  writeFileSync(folder.client.keyFile, pair.keyPem);
  const found = await checkTlsFiles({ files: folder.client, role: "client", nowMs: Date.now() });
  const [only, ...more] = found.filter(isProblem);
  deepEqual([only?.code, more], ["TLS_PURPOSE", []]);
  match(only?.what ?? "", /\(keyEncipherment, dataEncipherment\) lacks digitalSignature/);
});
