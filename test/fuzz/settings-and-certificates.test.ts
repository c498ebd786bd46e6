// Random input to what reads other people's text and bytes: an answer every time, never a crash, never a second line.
import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { goQuote } from "../../src/base/observe/index.ts";
import { certificatesInPem, inspectPem, verifyPeer } from "../../src/base/security/index.ts";
import { readSettings, settingNames, settingsTable } from "../../src/typha/settings/index.ts";
import { testAuthority } from "../kit/certificates.ts";

const runs = Number(process.env.FUZZ_RUNS ?? 2_000);
const names = settingNames.flatMap((name): readonly string[] => settingsTable[name].env);
const anything = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.constantFrom("none", "", "0x", "-1", "1e999", "true"),
);

test("any environment and any file give settings or a list of problems", () => {
  const environment = fc.dictionary(
    fc.oneof(
      fc.constantFrom(...names),
      fc.string().map((text) => `TYPHA_${text}`),
    ),
    anything,
  );
  const line = fc.oneof(
    anything,
    fc.tuple(fc.constantFrom(...names), anything).map(([name, value]) => `${name.slice(6)} = ${value}`),
  );
  fc.assert(
    fc.property(environment, fc.array(line), (variables, lines) => {
      const read = readSettings({
        environment: variables,
        file: { path: "/f", text: lines.join("\n") },
        checks: { exists: (path) => path.length % 2 === 0 },
      });
      for (const name of settingNames) ok(read.values[name] !== undefined, name);
    }),
    { numRuns: runs },
  );
});

test("any bytes as a certificate are a verdict", () => {
  const [der = Buffer.alloc(0)] = certificatesInPem(testAuthority().client().certPem);
  const mutated = fc
    .array(fc.tuple(fc.nat(der.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 })
    .map((edits) => {
      const copy = Buffer.from(der);
      for (const [at, byte] of edits) copy[at] = byte;
      return copy;
    });
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 4096 }), mutated), (bytes) => {
      verifyPeer(bytes, { requirement: { commonName: "x", uriSan: "y" }, role: "client" });
    }),
    { numRuns: runs },
  );
});

test("any text as PEM is described", () => {
  const block = fc.string().map((text) => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`);
  fc.assert(
    fc.property(fc.oneof(fc.string(), block), (text) => {
      ok(inspectPem(text, 0).length > 0);
    }),
    { numRuns: runs },
  );
});

test("any text in quotes stays on its line and ends where it says", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const quoted = goQuote(text);
      equal(/^"(?:[^"\\\n\r]|\\.)*"$/su.test(quoted), true, quoted);
    }),
    { numRuns: runs },
  );
});
