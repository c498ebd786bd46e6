// Parsed once, whoever shows it; bounded, whatever is shown.
import { deepEqual, equal, notEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import { certificatesInPem, issueAuthority, parseCertificate } from "../index.ts";
import { KnownCertificates } from "./known-certificates.ts";

const nowMs = Date.UTC(2026, 10, 15, 8);
const [der = Buffer.alloc(0)] = certificatesInPem(issueAuthority({ commonName: "shared", nowMs }).certPem);

// The serial number is not looked at by anyone here: other bytes in it make another certificate.
function another(number: number): Buffer {
  const copy = Buffer.from(der);
  const serialAt = copy.indexOf(Buffer.from(parseCertificate(der).serial, "hex"));
  copy.writeUInt32BE(number, serialAt + 1);
  return copy;
}

test("what many peers show is parsed once, and says what it says", () => {
  const known = new KnownCertificates();
  const facts = known.parse(der);
  deepEqual(facts, parseCertificate(der));
  equal(known.parse(Buffer.from(der)), facts);
  const other = known.parse(another(1));
  notEqual(other, facts);
  equal(other.serial, parseCertificate(another(1)).serial);
});

test("the one that has not been shown for longest makes room", () => {
  const known = new KnownCertificates();
  const facts = known.parse(der);
  const first = known.parse(another(0));
  for (let number = 1; number < 200; number += 1) {
    known.parse(another(number));
    equal(known.parse(der), facts); // shown again and again
  }
  equal(known.size, 128);
  notEqual(known.parse(another(0)), first);
});

test("what is no certificate, or a very large one, is not kept", () => {
  const known = new KnownCertificates();
  throws(() => known.parse(der.subarray(0, 100)));
  throws(() => known.parse(Buffer.alloc(5000)));
  equal(known.size, 0);
});
