// The ordinary mistakes of somebody at a command line: each is told what is wrong and what to do, never a stack.
import { equal, match, rejects } from "node:assert/strict";
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { testAuthority } from "../../../test/kit/certificates.ts";
import { describeInspected, inspectPem, type KeyKind, renewCertificate } from "../../base/security/index.ts";
import { filesOf, makeAuthority, makePair, renewPair } from "./index.ts";

const nowMs = Date.now();
const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
const encrypted = privateKey
  .export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "secret" })
  .toString();
const encryptedOld = privateKey
  .export({ type: "sec1", format: "pem", cipher: "aes-256-cbc", passphrase: "secret" })
  .toString();

const isRoot = process.getuid?.() === 0;
const cannotBeTold = isRoot ? "root may write everywhere" : false;

type Mistake = { name: string; make: (folder: string) => Promise<unknown>; code: string; skip?: string | false };
const mistakes: Mistake[] = [
  {
    name: "a folder that is a file",
    make: (folder) => {
      writeFileSync(join(folder, "file"), "");
      return makeAuthority({ folder: join(folder, "file"), nowMs });
    },
    code: "CERTS_WRITE",
  },
  {
    name: "a folder below a file",
    make: (folder) => {
      writeFileSync(join(folder, "file"), "");
      return makeAuthority({ folder: join(folder, "file", "sub"), nowMs });
    },
    code: "CERTS_WRITE",
  },
  {
    name: "a folder that cannot be made",
    make: () => makeAuthority({ folder: "/proc/nope/x", nowMs }),
    code: "CERTS_WRITE",
    skip: existsSync("/proc/self") ? false : "there is no /proc",
  },
  {
    name: "a folder that is not ours",
    make: (folder) => {
      chmodSync(folder, 0o500);
      return makeAuthority({ folder: join(folder, "sub"), nowMs });
    },
    code: "CERTS_WRITE",
    skip: cannotBeTold,
  },
  ...[encrypted, encryptedOld, "hello"].map((keyPem) => ({
    name: `a CA's key that is ${JSON.stringify(keyPem.slice(0, 30))}`,
    make: async (folder: string) => {
      await makeAuthority({ folder, nowMs });
      writeFileSync(filesOf("authority", folder).keyFile, keyPem);
      await makePair("server", { folder, nowMs });
    },
    code: "CERTS_KEY_UNREADABLE",
  })),
  ...["hello", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"].map((text) => ({
    name: `a certificate to renew that is ${JSON.stringify(text.slice(0, 30))}`,
    make: async (folder: string) => {
      await makeAuthority({ folder, nowMs });
      await makePair("server", { folder, nowMs });
      writeFileSync(filesOf("server", folder).certFile, text);
      await renewPair("server", { folder, nowMs, keepKey: false });
    },
    code: "CERTS_NOT_A_CERTIFICATE",
  })),
  {
    name: "a CA's certificate that is none",
    make: async (folder) => {
      await makeAuthority({ folder, nowMs });
      writeFileSync(
        filesOf("authority", folder).certFile,
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
      );
      await makePair("server", { folder, nowMs });
    },
    code: "CERTS_NOT_A_CERTIFICATE",
  },
  {
    name: "a folder in place of a file",
    make: async (folder) => {
      const { certFile, keyFile } = filesOf("authority", folder);
      mkdirSync(certFile);
      writeFileSync(keyFile, "");
      await makePair("server", { folder, nowMs });
    },
    code: "CERTS_FILE_UNREADABLE",
  },
];
for (const { name, make, code, skip = false } of mistakes) {
  test(`certificates: ${name} is said in words`, { skip }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "cattail-folder-"));
    try {
      await rejects(make(folder), { name: "CattailError", code });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

const kinds: { made: KeyKind; asked?: KeyKind; renewed: string }[] = [
  { made: "ecdsa-p256", renewed: "ec prime256v1" },
  { made: "rsa-2048", renewed: "rsa 2048" },
  { made: "rsa-4096", renewed: "rsa 4096" },
  { made: "rsa-2048", asked: "ecdsa-p256", renewed: "ec prime256v1" },
];
for (const { made, asked, renewed } of kinds) {
  test(`renewing a pair of ${made}${asked === undefined ? "" : ` as ${asked}`} makes a key of ${renewed}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "cattail-folder-"));
    try {
      await makeAuthority({ folder, nowMs });
      await makePair("client", { folder, nowMs, keyKind: made });
      const files = filesOf("client", folder);
      const before = readFileSync(files.keyFile, "utf8");
      await renewPair("client", { folder, nowMs, keepKey: false, ...(asked === undefined ? {} : { keyKind: asked }) });
      const after = readFileSync(files.keyFile, "utf8");
      equal(before === after, false);
      equal(kindText(after), renewed);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

test("renewing keeps a curve that we would not have chosen", () => {
  const { pair, client } = testAuthority();
  const { certPem } = client();
  const old = generateKeyPairSync("ec", { namedCurve: "secp384r1" }).privateKey;
  const keyPem = old.export({ type: "pkcs8", format: "pem" }).toString();
  const first = renewCertificate({ authority: pair, certPem, keyPem, nowMs });
  equal(kindText(renewCertificate({ authority: pair, certPem: first.certPem, nowMs }).keyPem), "ec secp384r1");
});

for (const [name, pem] of Object.entries({ encrypted, encryptedOld })) {
  test(`inspecting says of a key that it is encrypted: ${name}`, () => {
    match(inspectPem(pem, nowMs).map(describeInspected).join(), /^unreadable: a private key that is encrypted/);
  });
}

test("inspecting a torn file says so", () => {
  const torn = testAuthority().pair.certPem.slice(0, -5);
  match(inspectPem(torn, nowMs).map(describeInspected).join(), /only a part of a PEM block/);
});

test("inspecting names what is neither a certificate nor a key", () => {
  const request = "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n";
  match(inspectPem(request, nowMs).map(describeInspected).join(), /no PEM certificate or .*: CERTIFICATE REQUEST$/);
});

const minuteMs = 60_000;
const dayMs = 86_400_000;
const ends: { inMs: number; says: string }[] = [
  { inMs: -3 * minuteMs, says: "less than a day ago (expired)" },
  { inMs: -dayMs - minuteMs, says: "1 day ago (expired)" },
  { inMs: -2 * dayMs - minuteMs, says: "2 days ago (expired)" },
  { inMs: 3 * minuteMs, says: "in less than a day (expires soon)" },
  { inMs: dayMs + minuteMs, says: "in 1 day (expires soon)" },
  { inMs: 2 * dayMs + minuteMs, says: "in 2 days (expires soon)" },
];
for (const { inMs, says } of ends) {
  test(`inspecting counts days: ${says}`, () => {
    // Certificates are dated in whole seconds.
    const secondMs = Math.floor(nowMs / 1000) * 1000;
    const { certPem } = testAuthority().client({ notAfterMs: secondMs + inMs, nowMs: secondMs - 9 * dayMs });
    const [found] = inspectPem(certPem, secondMs);
    equal(found === undefined ? "" : describeInspected(found).includes(`, ${says}\n`), true);
  });
}

function kindText(keyPem: string): string {
  const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(keyPem);
  return `${asymmetricKeyType} ${asymmetricKeyDetails?.namedCurve ?? asymmetricKeyDetails?.modulusLength}`;
}
