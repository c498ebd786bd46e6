// Go's crypto/tls accepts the certificates we issue, on both ends of a mutual handshake, in TLS 1.2 and 1.3.
import { equal } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { issueAuthority, issueCertificate, type KeyKind } from "../../src/base/security/index.ts";
import { clientNames, serverNames } from "../kit/certificates.ts";
import { goPeer } from "../kit/go.ts";

const peer = await goPeer("test/peers/certificates");

for (const keyKind of ["ecdsa-p256", "rsa-2048"] satisfies KeyKind[]) {
  test(`Go accepts our ${keyKind} certificates`, peer.missing === undefined ? {} : { skip: peer.missing }, () => {
    const folder = mkdtempSync(join(tmpdir(), "cattail-go-certs-"));
    try {
      const nowMs = Date.now();
      const authority = issueAuthority({ nowMs, keyKind, commonName: "a CA" });
      const server = issueCertificate({ authority, role: "server", names: serverNames, nowMs, keyKind });
      const client = issueCertificate({ authority, role: "client", names: clientNames, nowMs, keyKind });
      const files = [authority.certPem, server.certPem, server.keyPem, client.certPem, client.keyPem].map(
        (text, at) => {
          writeFileSync(join(folder, `${at}.pem`), text);
          return join(folder, `${at}.pem`);
        },
      );
      const seen = execFileSync(peer.path ?? "", files, { encoding: "utf8" });
      const line = `${serverNames.commonName} [${serverNames.uriSans}] ${clientNames.commonName} [${clientNames.uriSans}]\n`;
      equal(seen, line + line);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}
