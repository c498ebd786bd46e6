import { equal, match, throws } from "node:assert/strict";
import { test } from "node:test";
import { createSecureContext } from "node:tls";
import { cipherSuites, tlsPolicy } from "./cipher-suites.ts";

test("the default is TLS 1.2 and up with the original's suites, those of 1.3 first", () => {
  const { minVersion, ciphers } = tlsPolicy();
  equal(minVersion, "TLSv1.2");
  equal(
    ciphers,
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:" +
      "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-CHACHA20-POLY1305:" +
      "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256:" +
      "ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA:ECDHE-RSA-AES128-SHA",
  );
});

const cases: { name: string; minVersion?: string; suites?: string[]; wantMin: string; wantCiphers?: RegExp }[] = [
  { name: "1.3 alone", minVersion: "1.3", wantMin: "TLSv1.3" },
  { name: "1.2 said out loud", minVersion: "1.2", wantMin: "TLSv1.2" },
  {
    name: "one suite of 1.2, with blanks around it",
    suites: [" TLS_RSA_WITH_AES_128_GCM_SHA256 ", ""],
    wantMin: "TLSv1.2",
    wantCiphers: /^TLS_AES_128_GCM_SHA256:.*:AES128-GCM-SHA256$/,
  },
  { name: "only suites of 1.3 leave nothing for 1.2", suites: ["TLS_AES_128_GCM_SHA256"], wantMin: "TLSv1.3" },
];
for (const { name, minVersion, suites, wantMin, wantCiphers } of cases) {
  test(`TLS policy: ${name}`, () => {
    const policy = tlsPolicy({ ...(minVersion && { minVersion }), ...(suites && { cipherSuites: suites }) });
    equal(policy.minVersion, wantMin);
    if (wantCiphers !== undefined) match(policy.ciphers, wantCiphers);
  });
}

test("an unknown suite is an error that names it and what there is", () => {
  throws(() => tlsPolicy({ cipherSuites: ["TLS_RSA_WITH_RC4_128_SHA"] }), {
    code: "TLS_CIPHER_SUITES",
    message: /TLS_RSA_WITH_RC4_128_SHA.*TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384/s,
  });
});

test("an unknown version is an error that names it", () => {
  throws(() => tlsPolicy({ minVersion: "1.1" }), { code: "TLS_MIN_VERSION", message: /"1\.1".*1\.2 or 1\.3/s });
});

for (const [name, suite] of cipherSuites) {
  test(`OpenSSL knows ${name}`, () => {
    const others = suite.version === "1.3" ? ":ECDHE-RSA-AES128-GCM-SHA256" : "";
    createSecureContext({ ciphers: suite.openssl + others });
  });
}
