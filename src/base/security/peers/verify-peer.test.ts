import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parseCertificate, renderUri } from "../certificates/certificate.ts";
import { certificatesInPem, type PeerRequirement, verifyPeer } from "../index.ts";
import type { PeerCheck } from "./verify-peer.ts";

function vector(name: string): Buffer {
  const [der] = certificatesInPem(readFileSync(`test/vectors/certificates/${name}.crt`, "utf8"));
  ok(der);
  return der;
}

const cases: {
  name: string;
  file: string;
  requirement: PeerRequirement;
  role?: "server";
  want: PeerCheck | "accepted";
}[] = [
  {
    name: "a certificate with no extensions may be used",
    file: "no-extensions",
    requirement: { commonName: "calico-node" },
    want: "accepted",
  },
  {
    name: "the comparison is case-sensitive",
    file: "no-extensions",
    requirement: { commonName: "Calico-Node" },
    want: "common-name",
  },
  {
    name: "a part of the name is not the name",
    file: "no-extensions",
    requirement: { commonName: "calico" },
    want: "common-name",
  },
  {
    name: "of several common names the last counts",
    file: "two-names",
    requirement: { commonName: "last" },
    want: "accepted",
  },
  {
    name: "of several common names the first does not",
    file: "two-names",
    requirement: { commonName: "first" },
    want: "common-name",
  },
  {
    name: "a common name inside a multi-valued part counts",
    file: "multi-value",
    requirement: { commonName: "inner" },
    want: "accepted",
  },
  {
    name: "the wildcard usage is accepted",
    file: "any-usage",
    requirement: { commonName: "calico-node" },
    want: "accepted",
  },
  {
    name: "both usages are accepted",
    file: "both-usages",
    requirement: { commonName: "calico-node" },
    want: "accepted",
  },
  {
    name: "an extension of somebody's own may hold anything",
    file: "private-extension",
    requirement: { commonName: "calico-node" },
    want: "accepted",
  },
  {
    name: "a server's certificate is no client's",
    file: "server-usage",
    requirement: { commonName: "calico-node" },
    want: "extended-key-usage",
  },
  {
    name: "a server's certificate is a server's",
    file: "server-usage",
    requirement: { commonName: "calico-node" },
    role: "server",
    want: "accepted",
  },
  {
    name: "a client's certificate is no server's",
    file: "two-names",
    requirement: { commonName: "last" },
    role: "server",
    want: "extended-key-usage",
  },
  {
    name: "a URI's scheme is compared in lower case",
    file: "upper-scheme",
    requirement: { uriSan: "spiffe://Cluster.Local/NS/a" },
    want: "accepted",
  },
  {
    name: "a setting with an upper-case scheme matches nothing",
    file: "upper-scheme",
    requirement: { uriSan: "SPIFFE://Cluster.Local/NS/a" },
    want: "uri-san",
  },
  {
    name: "a URI's host keeps its case",
    file: "upper-scheme",
    requirement: { uriSan: "spiffe://cluster.local/NS/a" },
    want: "uri-san",
  },
  { name: "any of several URIs is enough", file: "upper-scheme", requirement: { uriSan: "urn:b" }, want: "accepted" },
  {
    name: "either name is enough",
    file: "upper-scheme",
    requirement: { commonName: "other", uriSan: "urn:b" },
    want: "accepted",
  },
  {
    name: "DNS names do not stand in for the common name",
    file: "upper-scheme",
    requirement: { commonName: "calico-node" },
    want: "common-name",
  },
  {
    name: "a URI that looks like two names is one",
    file: "uri-with-comma",
    requirement: { uriSan: "spiffe://a/b" },
    want: "uri-san",
  },
  {
    name: "neither name is enough",
    file: "uri-with-comma",
    requirement: { commonName: "a", uriSan: "b" },
    want: "common-name-or-uri-san",
  },
  {
    name: "an empty requirement asks for nothing",
    file: "no-extensions",
    requirement: { commonName: "", uriSan: "" },
    want: "accepted",
  },
];
for (const { name, file, requirement, role = "client", want } of cases) {
  test(`peer: ${name}`, () => {
    const verdict = verifyPeer(vector(file), { requirement, role });
    equal(verdict.accepted ? "accepted" : verdict.check, want);
  });
}

test("peer: no certificate at all is refused", () => {
  const verdict = verifyPeer(undefined, { requirement: {}, role: "client" });
  equal(verdict.accepted ? "accepted" : verdict.check, "no-certificate");
});

test("every truncation and every flipped byte of a certificate is a verdict, never a crash", () => {
  const der = vector("upper-scheme");
  for (let at = 0; at < der.length; at++) {
    verifyPeer(der.subarray(0, at), { requirement: { commonName: "x" }, role: "client" });
    for (const flip of [0x01, 0x80, 0xff]) {
      const broken = Buffer.from(der);
      broken[at] = (broken[at] ?? 0) ^ flip;
      verifyPeer(broken, { requirement: { commonName: "x" }, role: "client" });
    }
  }
});

test("a certificate larger than any real one is not read", () => {
  throws(() => parseCertificate(Buffer.alloc(1 << 20)), /1048576 bytes/);
});

test("what a key may do is read", () => {
  deepEqual(parseCertificate(vector("key-encipherment")).keyUsages, ["keyEncipherment", "dataEncipherment"]);
  equal(parseCertificate(vector("no-extensions")).keyUsages, undefined);
});

test("bytes after a certificate make it none", () => {
  throws(() => parseCertificate(Buffer.concat([vector("two-names"), Buffer.alloc(1)])), /after its end/);
});

test("all kinds of names are read", () => {
  const facts = parseCertificate(vector("upper-scheme"));
  deepEqual(facts.ipSans, ["10.0.0.1", "fd00::1"]);
  deepEqual(facts.dnsSans, ["calico-node"]);
  equal(facts.subject, "CN=x");
  equal(facts.issuer, "CN=Vector CA");
  equal(facts.isAuthority, false);
});

const uris: { uri: string; go: string }[] = [
  { uri: "SPIFFE://A/B", go: "spiffe://A/B" },
  { uri: "Https://Host/%7Ea?Q=1#F", go: "https://Host/%7Ea?Q=1#F" },
  { uri: "https://host/#", go: "https://host/" },
  { uri: "1a://x", go: "1a://x" },
  { uri: "spiffe://c/a b", go: "spiffe://c/a%20b" },
  { uri: "spiffe://c/a%20b", go: "spiffe://c/a%20b" },
  { uri: "spiffe://c/%7ea", go: "spiffe://c/%7ea" },
  { uri: "spiffe://c/%7ea b(c)", go: "spiffe://c/~a%20b%28c%29" },
  { uri: `spiffe://c/{x}|"^\\`, go: "spiffe://c/%7Bx%7D%7C%22%5E%5C" },
  { uri: "spiffe://c/a'(b)*[c]", go: "spiffe://c/a'(b)*[c]" },
  { uri: "spiffe://c/a?b c", go: "spiffe://c/a?b c" },
  { uri: "spiffe://c?", go: "spiffe://c?" },
  { uri: "spiffe://c/a#b c(d)", go: "spiffe://c/a#b%20c(d)" },
  { uri: "urn:a b", go: "urn:a b" },
  { uri: "spiffe://", go: "spiffe:" },
  { uri: "spiffe:///x", go: "spiffe:///x" },
];
for (const { uri, go } of uris) test(`${uri} is rendered as Go renders it`, () => equal(renderUri(uri), go));
