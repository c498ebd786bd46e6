// What issue.ts makes, read back by ourselves and judged by openssl. Go's judgement: test/peers/certificates.test.ts.
import { deepEqual, equal, match, ok, rejects, throws } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { clientNames, serverNames } from "../../../../test/kit/certificates.ts";
import {
  certificatesInPem,
  describeInspected,
  inspectPem,
  issueAuthority,
  issueCertificate,
  type KeyKind,
  parseCertificate,
  parseTlsMaterial,
  tlsProblems,
} from "../index.ts";
import { renewCertificate } from "./issue.ts";
import { pairFiles, writePair } from "./pair-files.ts";

const nowMs = Date.UTC(2026, 10, 15, 8);
const dayMs = 86_400_000;

function hasOpenssl(): boolean {
  try {
    execFileSync("openssl", ["version"]);
    return true;
  } catch {
    return false;
  }
}
const withoutOpenssl = hasOpenssl() ? {} : { skip: "openssl is not installed" };

function factsOf(pem: string) {
  const [der = Buffer.alloc(0)] = certificatesInPem(pem);
  return parseCertificate(der);
}

for (const keyKind of ["ecdsa-p256", "rsa-2048"] satisfies KeyKind[]) {
  const authority = issueAuthority({ commonName: "our CA", nowMs, keyKind });
  for (const role of ["server", "client"] as const) {
    const names = role === "server" ? serverNames : clientNames;
    const leaf = issueCertificate({ authority, role, names, nowMs, keyKind });

    test(`${keyKind}: a ${role}'s certificate says what was asked for`, () => {
      const facts = factsOf(leaf.certPem);
      equal(facts.commonName, names.commonName);
      deepEqual(facts.uriSans, names.uriSans);
      deepEqual(facts.ipSans, names.ipSans ?? []);
      equal(facts.issuer, "CN=our CA");
      equal(facts.notAfterMs, nowMs + 365 * dayMs);
      equal(facts.isAuthority, false);
      const material = parseTlsMaterial({ cert: leaf.certPem, key: leaf.keyPem, ca: authority.certPem });
      deepEqual(tlsProblems(material, { nowMs, role }), []);
    });

    test(`${keyKind}: openssl verifies a ${role}'s certificate, for its purpose and no other`, withoutOpenssl, () => {
      const folder = mkdtempSync(join(tmpdir(), "cattail-issue-"));
      try {
        writeFileSync(join(folder, "ca.crt"), authority.certPem);
        writeFileSync(join(folder, "leaf.crt"), leaf.certPem);
        const verify = (purpose: string) =>
          execFileSync(
            "openssl",
            [
              "verify",
              "-x509_strict",
              "-attime",
              String(nowMs / 1000),
              "-purpose",
              purpose,
              "-CAfile",
              "ca.crt",
              "leaf.crt",
            ],
            {
              cwd: folder,
              encoding: "utf8",
              stdio: "pipe",
            },
          );
        match(verify(role === "server" ? "sslserver" : "sslclient"), /leaf.crt: OK/);
        let refused = "";
        try {
          verify(role === "server" ? "sslclient" : "sslserver");
        } catch (error) {
          refused = String((error as { stderr?: unknown }).stderr);
        }
        match(refused, /unsuitable certificate purpose|unsupported certificate purpose/);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  }
}

test("serials are random, positive and 16 bytes", () => {
  const authority = issueAuthority({ commonName: "our CA", nowMs });
  const serials = new Set<string>();
  for (let i = 0; i < 50; i++) {
    serials.add(factsOf(issueCertificate({ authority, role: "client", names: clientNames, nowMs }).certPem).serial);
  }
  equal(serials.size, 50);
  for (const serial of serials) match(serial, /^[4-7][0-9a-f]{31}$/);
});

test("a certificate never outlives its CA", () => {
  const authority = issueAuthority({ commonName: "our CA", nowMs, days: 10 });
  const leaf = issueCertificate({ authority, role: "client", names: clientNames, nowMs, days: 365 });
  equal(factsOf(leaf.certPem).notAfterMs, nowMs + 10 * dayMs);
});

test("an expired CA issues nothing", async () => {
  for (const agoMs of [0, 180_000, 10 * dayMs]) {
    const authority = issueAuthority({ commonName: "our CA", nowMs: nowMs - 10 * dayMs - agoMs, days: 10 });
    await rejects(async () => issueCertificate({ authority, role: "client", names: clientNames, nowMs }), {
      code: "CERTS_CA_EXPIRED",
    });
  }
});

test("of several CAs in the file, as in a change of CA, the one that the key belongs to signs", () => {
  const [one, other] = [
    issueAuthority({ commonName: "our CA", nowMs }),
    issueAuthority({ commonName: "Calico Typha CA", nowMs }),
  ];
  for (const certPem of [one.certPem + other.certPem, other.certPem + one.certPem]) {
    const authority = { certPem, keyPem: other.keyPem };
    const leaf = new X509Certificate(
      issueCertificate({ authority, role: "client", names: clientNames, nowMs }).certPem,
    );
    ok(leaf.checkIssued(new X509Certificate(other.certPem)));
    ok(!leaf.checkIssued(new X509Certificate(one.certPem)));
  }
  const stranger = { certPem: one.certPem, keyPem: other.keyPem };
  throws(() => issueCertificate({ authority: stranger, role: "client", names: clientNames, nowMs }), {
    code: "CERTS_CA_KEY",
  });
});

for (const keeps of [true, false]) {
  test(`renewing ${keeps ? "with the same" : "with a new"} key keeps the names and moves the period`, () => {
    const authority = issueAuthority({ commonName: "our CA", nowMs });
    const leaf = issueCertificate({ authority, role: "server", names: serverNames, nowMs });
    const laterMs = nowMs + 300 * dayMs;
    const renewed = renewCertificate({
      authority,
      certPem: leaf.certPem,
      nowMs: laterMs,
      ...(keeps ? { keyPem: leaf.keyPem } : {}),
    });
    const { serial: before, notAfterMs: _a, notBeforeMs: _b, ...names } = factsOf(leaf.certPem);
    const { serial: after, notAfterMs, notBeforeMs: _c, ...renewedNames } = factsOf(renewed.certPem);
    deepEqual(renewedNames, names);
    equal(notAfterMs, laterMs + 365 * dayMs);
    equal(before === after, false);
    equal(new X509Certificate(leaf.certPem).checkPrivateKey(createPrivateKey(renewed.keyPem)), keeps);
    const material = parseTlsMaterial({ cert: renewed.certPem, key: renewed.keyPem, ca: authority.certPem });
    deepEqual(tlsProblems(material, { nowMs: laterMs, role: "server" }), []);
  });
}

test("names and addresses of every shape are written so that Node reads them back", () => {
  const authority = issueAuthority({ nowMs, commonName: 'Odd, "CA" \\ = ü' });
  const ipSans = ["10.1.2.3", "::1", "fd00:1::", "2001:db8:0:1:2:3:4:5", "::ffff:1.2.3.4"];
  const leaf = issueCertificate({
    authority,
    role: "server",
    names: { commonName: "ü,=", ipSans, dnsSans: ["a.b"] },
    nowMs,
  });
  const facts = factsOf(leaf.certPem);
  equal(facts.commonName, "ü,=");
  equal(facts.issuer, 'CN=Odd, "CA" \\ = ü');
  const x509 = new X509Certificate(leaf.certPem);
  for (const address of ipSans) equal(x509.checkIP(address), address);
  deepEqual(facts.ipSans, ["10.1.2.3", "::1", "fd00:1::", "2001:db8:0:1:2:3:4:5", "::ffff:102:304"]);
});

test("an address that is none is refused by name", () => {
  const authority = issueAuthority({ commonName: "our CA", nowMs });
  const names = { commonName: "x", ipSans: ["localhost"] };
  throws(() => issueCertificate({ authority, role: "server", names, nowMs }), { code: "CERTS_ADDRESS" });
});

test("a pair is written with a private key, never over another unless forced, and leaves no parts", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cattail-pair-"));
  try {
    const files = pairFiles(join(folder, "new"), "typhaca");
    const authority = issueAuthority({ commonName: "our CA", nowMs });
    await writePair(authority, files);
    equal(statSync(files.keyFile).mode & 0o777, 0o600);
    equal(statSync(files.certFile).mode & 0o777, 0o644);
    await rejects(writePair(issueAuthority({ commonName: "our CA", nowMs }), files), {
      code: "CERTS_FILE_EXISTS",
      message: /--force/,
    });
    equal(readFileSync(files.certFile, "utf8"), authority.certPem);
    await writePair(issueAuthority({ commonName: "our CA", nowMs }), files, { force: true });
    deepEqual(readdirSync(join(folder, "new")).sort(), ["typhaca.crt", "typhaca.key"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("inspecting shows names as they are spelled, with what would steer a terminal or begin a line of its own", () => {
  const { certPem } = issueAuthority({ commonName: "evil\u001b[2J\n  issuer:  CN=trusted", nowMs });
  const text = inspectPem(certPem, nowMs).map(describeInspected).join("\n");
  match(text, /^certificate: CN=evil\\u001b\[2J\\u000a/);
  equal(text.split("\n").length, 7);
});

test("inspecting shows names, use and days left", () => {
  const authority = issueAuthority({ commonName: "our CA", nowMs });
  const leaf = issueCertificate({ authority, role: "client", names: clientNames, nowMs, days: 20 });
  const [first, second] = inspectPem(leaf.certPem + leaf.keyPem, nowMs + dayMs);
  equal(first?.is === "certificate" && first.daysLeft, 19);
  equal(first?.is === "certificate" && first.status, "expires soon");
  match(
    first === undefined ? "" : describeInspected(first),
    /CN=calico-node\n.*in 19 days \(expires soon\)\n.*clients/s,
  );
  deepEqual(second, { is: "private key", keyType: "ECDSA P-256" });
  deepEqual(inspectPem("hello", nowMs), [{ is: "unreadable", why: "it holds no PEM certificate or private key" }]);
});
