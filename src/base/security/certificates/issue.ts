// Makes what the guides make with openssl: a CA, the server's certificate and the clients'. Keys and signatures are
// node:crypto's; only the certificate around them is put together here. (The usual library for it was left out: it
// needs a global Reflect polyfill and brings a dependency container; docs/decisions/0012-tls-rules.md.)
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from "node:crypto";
import { isIP } from "node:net";
import { CattailError } from "../../lib/index.ts";
import { certificateParts, oids, parseCertificate, usages } from "./certificate.ts";
import { children, childrenOf, encode, encodeOid, encodeTime, readNode, sequence, tags } from "./der.ts";
import { certificatesInPem, toPem } from "./pem.ts";

export type KeyKind = "ecdsa-p256" | "rsa-2048" | "rsa-4096";
export type CertifiedKey = { readonly certPem: string; readonly keyPem: string };

const dayMs = 86_400_000;
// Machines whose clock is a little behind must not find the certificate "not yet valid".
const backdateMs = 5 * 60_000;

export const lifetimes = { authorityDays: 3650, leafDays: 365 } as const;

export function issueAuthority(options: {
  nowMs: number;
  commonName: string;
  days?: number;
  keyKind?: KeyKind;
}): CertifiedKey {
  const { nowMs, commonName, days = lifetimes.authorityDays, keyKind = "ecdsa-p256" } = options;
  const key = makeKey(keyKind);
  const subject = commonNameDer(commonName);
  const extensions = [
    extension(oids.basicConstraints, sequence(encode(tags.boolean, Buffer.from([0xff]))), "critical"),
    extension(oids.keyUsage, keyUsage(0b0000_0110, 1), "critical"), // keyCertSign, cRLSign
    extension(oids.subjectKeyIdentifier, encode(tags.octetString, keyId(key))),
  ];
  const der = certificateDer({ subject, issuer: subject, key, signer: key, extensions, ...validity(nowMs, days) });
  return { certPem: toPem("CERTIFICATE", der), keyPem: keyPem(key) };
}

export type LeafNames = {
  readonly commonName: string;
  readonly uriSans?: readonly string[];
  readonly dnsSans?: readonly string[];
  readonly ipSans?: readonly string[];
};

export function issueCertificate(options: {
  authority: CertifiedKey;
  role: "server" | "client";
  /** Of a server that asks its neighbours and nodes things, and of a node that is asked: there one is the client who is the server elsewhere. */
  isForBothRoles?: boolean;
  names: LeafNames;
  nowMs: number;
  days?: number;
  /** Sub-day lifetimes, for tests that watch one expire. */
  notAfterMs?: number;
  keyKind?: KeyKind;
}): CertifiedKey {
  const { authority, role, names, nowMs, days = lifetimes.leafDays, keyKind = "ecdsa-p256" } = options;
  const key = makeKey(keyKind);
  const sans = subjectAltName(names);
  const uses = [
    ...(role === "server" || options.isForBothRoles === true ? [usages.serverAuth] : []),
    ...(role === "client" || options.isForBothRoles === true ? [usages.clientAuth] : []),
  ];
  const extensions = [
    extension(oids.basicConstraints, sequence(), "critical"),
    // digitalSignature; RSA keys also keyEncipherment, for those who chose a suite without forward secrecy.
    extension(
      oids.keyUsage,
      keyUsage(keyKind === "ecdsa-p256" ? 0x80 : 0xa0, keyKind === "ecdsa-p256" ? 7 : 5),
      "critical",
    ),
    extension(oids.extendedKeyUsage, sequence(...uses.map(encodeOid))),
    ...(sans === undefined ? [] : [extension(oids.subjectAltName, sans)]),
  ];
  const wanted = validity(nowMs, days);
  const period = { ...wanted, notAfterMs: options.notAfterMs ?? wanted.notAfterMs };
  return signLeaf({ authority, subject: commonNameDer(names.commonName), extensions, key, nowMs, period });
}

/**
 * The same certificate with a new period: names and uses are kept byte for byte, the key is when `keyPem` is given. A new
 * one is of the old one's kind unless `keyKind` says otherwise.
 */
export function renewCertificate(options: {
  authority: CertifiedKey;
  certPem: string;
  keyPem?: string;
  nowMs: number;
  days?: number;
  keyKind?: KeyKind;
}): CertifiedKey {
  const { authority, certPem, nowMs, days = lifetimes.leafDays, keyKind } = options;
  const der = firstCertificate(certPem);
  const [{ subject, extensions }, old] = readable(() => [certificateParts(der), new X509Certificate(der).publicKey]);
  const key =
    options.keyPem !== undefined
      ? readKey(options.keyPem, "the key to keep")
      : keyKind === undefined
        ? makeKeyLike(old)
        : makeKey(keyKind);
  const remade: string[] = [oids.subjectKeyIdentifier, oids.authorityKeyIdentifier];
  const kept = [...extensions].filter(([id]) => !remade.includes(id)).map(([, der]) => der);
  return signLeaf({ authority, subject, extensions: kept, key, nowMs, period: validity(nowMs, days) });
}

type Period = { notBeforeMs: number; notAfterMs: number };

function signLeaf(of: {
  authority: CertifiedKey;
  subject: Buffer;
  extensions: Buffer[];
  key: KeyObject;
  nowMs: number;
  period: Period;
}): CertifiedKey {
  const signer = readKey(of.authority.keyPem, "the CA's key");
  const authorityDer = certificateOf(signer, of.authority.certPem);
  const parts = certificateParts(authorityDer);
  const authorityEndsMs = parseCertificate(authorityDer).notAfterMs;
  const { notBeforeMs } = of.period;
  if (authorityEndsMs <= of.nowMs) {
    throw new CattailError("CERTS_CA_EXPIRED", {
      problem: `the CA expired on ${new Date(authorityEndsMs).toISOString()}`,
      next: `Make a new CA with "cattail certs init", and give its certificate to every node before you use it`,
    });
  }
  const extensions = [
    ...of.extensions,
    extension(oids.subjectKeyIdentifier, encode(tags.octetString, keyId(of.key))),
    extension(oids.authorityKeyIdentifier, sequence(encode(0x80, authorityKeyId(parts.extensions, signer)))),
  ];
  // A certificate that outlives its CA only promises what it cannot keep.
  const notAfterMs = Math.min(of.period.notAfterMs, authorityEndsMs);
  const { subject, key } = of;
  const der = certificateDer({ subject, issuer: parts.subject, key, signer, extensions, notBeforeMs, notAfterMs });
  return { certPem: toPem("CERTIFICATE", der), keyPem: keyPem(key) };
}

function certificateDer(
  of: Period & { subject: Buffer; issuer: Buffer; key: KeyObject; signer: KeyObject; extensions: Buffer[] },
): Buffer {
  const algorithm = signatureAlgorithm(of.signer);
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40; // positive, and never shortened by a leading zero
  const body = sequence(
    encode(0xa0, encode(tags.integer, Buffer.from([2]))),
    encode(tags.integer, serial),
    algorithm.der,
    of.issuer,
    sequence(encodeTime(of.notBeforeMs), encodeTime(of.notAfterMs)),
    of.subject,
    publicKeyDer(of.key),
    encode(0xa3, sequence(...of.extensions)),
  );
  const signature = sign(algorithm.hash, body, of.signer);
  return sequence(body, algorithm.der, encode(tags.bitString, Buffer.from([0]), signature));
}

function signatureAlgorithm(key: KeyObject): { der: Buffer; hash: string | null } {
  switch (key.asymmetricKeyType) {
    case "ec":
      return { der: sequence(encodeOid("1.2.840.10045.4.3.2")), hash: "sha256" };
    case "rsa":
      return { der: sequence(encodeOid("1.2.840.113549.1.1.11"), Buffer.from([0x05, 0x00])), hash: "sha256" };
    case "ed25519":
      return { der: sequence(encodeOid("1.3.101.112")), hash: null };
    default:
      throw new CattailError("CERTS_KEY_TYPE", {
        problem: `the CA's key is of type ${key.asymmetricKeyType ?? "unknown"}`,
        next: "Use an ECDSA, RSA or Ed25519 key",
      });
  }
}

function makeKey(kind: KeyKind): KeyObject {
  if (kind === "ecdsa-p256") return generateKeyPairSync("ec", { namedCurve: "prime256v1" }).privateKey;
  return generateKeyPairSync("rsa", { modulusLength: kind === "rsa-2048" ? 2048 : 4096 }).privateKey;
}

/** Of the same kind and size; never so small that no TLS library takes it. */
function makeKeyLike(old: KeyObject): KeyObject {
  const { namedCurve = "prime256v1", modulusLength = 2048 } = old.asymmetricKeyDetails ?? {};
  switch (old.asymmetricKeyType) {
    case "rsa":
      return generateKeyPairSync("rsa", { modulusLength: Math.max(modulusLength, 2048) }).privateKey;
    case "ec":
      return generateKeyPairSync("ec", { namedCurve }).privateKey;
    case "ed25519":
      return generateKeyPairSync("ed25519").privateKey;
    default:
      return makeKey("ecdsa-p256");
  }
}

function readKey(pem: string, whose: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw new CattailError("CERTS_KEY_UNREADABLE", {
      problem: `${whose} cannot be read: it is encrypted, or it is not a private key`,
      next: `It must be an unencrypted PEM key; "openssl pkey -in FILE" removes a passphrase, "cattail certs inspect FILE" shows what is in a file`,
      cause: error,
    });
  }
}

function keyPem(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

function publicKeyDer(key: KeyObject): Buffer {
  return createPublicKey(key).export({ type: "spki", format: "der" });
}

/** The usual identifier: SHA-1 of the public key's bits. It names a key and protects nothing. */
function keyId(key: KeyObject): Buffer {
  const bits = childrenOf(readNode(publicKeyDer(key)), tags.sequence)[1];
  return createHash("sha1")
    .update(bits?.content.subarray(1) ?? Buffer.alloc(0))
    .digest();
}

function authorityKeyId(extensions: ReadonlyMap<string, Buffer>, signer: KeyObject): Buffer {
  const stated = extensions.get(oids.subjectKeyIdentifier);
  if (stated === undefined) return keyId(signer);
  const value = children(readNode(stated)).at(-1);
  return Buffer.from(value === undefined ? keyId(signer) : readNode(value.content).content);
}

function validity(nowMs: number, days: number): Period {
  return { notBeforeMs: nowMs - backdateMs, notAfterMs: nowMs + days * dayMs };
}

function commonNameDer(commonName: string): Buffer {
  const name = sequence(encodeOid(oids.commonName), encode(tags.utf8String, Buffer.from(commonName)));
  return commonName === "" ? sequence() : sequence(encode(tags.set, name));
}

function extension(oid: string, value: Buffer, critical?: "critical"): Buffer {
  const flag = critical === undefined ? [] : [encode(tags.boolean, Buffer.from([0xff]))];
  return sequence(encodeOid(oid), ...flag, encode(tags.octetString, value));
}

function keyUsage(bits: number, unusedBits: number): Buffer {
  return encode(tags.bitString, Buffer.from([unusedBits, bits]));
}

function subjectAltName(names: LeafNames): Buffer | undefined {
  const parts = [
    ...(names.dnsSans ?? []).map((name) => encode(0x82, Buffer.from(name))),
    ...(names.ipSans ?? []).map((address) => encode(0x87, addressBytes(address))),
    ...(names.uriSans ?? []).map((uri) => encode(0x86, Buffer.from(uri))),
  ];
  return parts.length === 0 ? undefined : sequence(...parts);
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split(".").map(Number));
  if (isIP(address) !== 6 || address.includes("%")) {
    throw new CattailError("CERTS_ADDRESS", {
      problem: `${JSON.stringify(address)} is not an IP address`,
      next: "Give an IPv4 or IPv6 address; use the DNS names for host names",
    });
  }
  // An embedded IPv4 tail is two groups; the gap of "::" is filled with zero groups.
  const plain = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) =>
    [Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)].map((group) => group.toString(16)).join(":"),
  );
  const [head = "", tail] = plain.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill("0"), ...after];
  const bytes = Buffer.alloc(16);
  for (const [at, group] of groups.entries()) bytes.writeUInt16BE(Number.parseInt(group, 16), at * 2);
  return bytes;
}

/** While a CA is changed for another the file holds both, in any order. */
function certificateOf(key: KeyObject, pem: string): Buffer {
  const all = [firstCertificate(pem), ...certificatesInPem(pem).slice(1)];
  const found = readable(() => all.find((der) => new X509Certificate(der).checkPrivateKey(key)));
  if (found !== undefined) return found;
  throw new CattailError("CERTS_CA_KEY", {
    problem: "the CA's key does not belong to any certificate in the CA's file",
    next: `Put the certificate that belongs to the key back into the file; "cattail certs inspect FILE" shows what is in it`,
  });
}

function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new CattailError("CERTS_NOT_A_CERTIFICATE", {
      problem: "a certificate in the folder cannot be read",
      next: `"cattail certs inspect FILE" shows which one; restore it from a backup, or make a new one with --force`,
      cause: error,
    });
  }
}

function firstCertificate(pem: string): Buffer {
  const [der] = certificatesInPem(pem);
  if (der !== undefined) return der;
  throw new CattailError("CERTS_NOT_A_CERTIFICATE", {
    problem: "the file contains no PEM certificate",
    next: `"cattail certs inspect FILE" shows what is in a file`,
  });
}
