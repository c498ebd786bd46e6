// The TLS settings of the original's environment, TLS_MIN_VERSION and TLS_CIPHER_SUITES: IANA names to the ones OpenSSL
// knows. One table; an unknown name is an error that shows it.
import { CattailError } from "../../lib/index.ts";

type Suite = { readonly openssl: string; readonly version: "1.2" | "1.3"; readonly byDefault: boolean };

const suite = (openssl: string, byDefault = true): Suite => ({ openssl, version: "1.2", byDefault });
const suite13 = (name: string): Suite => ({ openssl: name, version: "1.3", byDefault: true });

export const cipherSuites: ReadonlyMap<string, Suite> = new Map([
  ["TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", suite("ECDHE-ECDSA-AES256-GCM-SHA384")],
  ["TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", suite("ECDHE-RSA-AES256-GCM-SHA384")],
  ["TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", suite("ECDHE-RSA-CHACHA20-POLY1305")],
  ["TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", suite("ECDHE-ECDSA-CHACHA20-POLY1305")],
  ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", suite("ECDHE-RSA-AES128-GCM-SHA256")],
  ["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", suite("ECDHE-ECDSA-AES128-GCM-SHA256")],
  ["TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", suite("ECDHE-ECDSA-AES256-SHA")],
  ["TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", suite("ECDHE-RSA-AES256-SHA")],
  ["TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", suite("ECDHE-RSA-AES128-SHA")],
  // Without forward secrecy: only for those who ask for them by name.
  ["TLS_RSA_WITH_AES_256_GCM_SHA384", suite("AES256-GCM-SHA384", false)],
  ["TLS_RSA_WITH_AES_128_GCM_SHA256", suite("AES128-GCM-SHA256", false)],
  // As Go's servers prefer it: as safe for this use, and a fifth less CPU for every byte of every snapshot.
  ["TLS_AES_128_GCM_SHA256", suite13("TLS_AES_128_GCM_SHA256")],
  ["TLS_AES_256_GCM_SHA384", suite13("TLS_AES_256_GCM_SHA384")],
  ["TLS_CHACHA20_POLY1305_SHA256", suite13("TLS_CHACHA20_POLY1305_SHA256")],
]);

/** What both TLS settings come to. Plain data, so that it can be sent to a worker thread. */
export type TlsPolicy = { readonly minVersion: "TLSv1.2" | "TLSv1.3"; readonly ciphers: string };

export function tlsPolicy(settings: { minVersion?: string; cipherSuites?: readonly string[] } = {}): TlsPolicy {
  const { minVersion = "", cipherSuites: names = [] } = settings;
  if (minVersion !== "" && minVersion !== "1.2" && minVersion !== "1.3") {
    throw new CattailError("TLS_MIN_VERSION", {
      problem: `TLS_MIN_VERSION is ${JSON.stringify(minVersion)}, which is not supported`,
      next: "Set it to 1.2 or 1.3, or leave it unset for 1.2",
    });
  }
  const wanted = names.map((name) => name.trim()).filter((name) => name !== "");
  const chosen =
    wanted.length === 0 ? [...cipherSuites.values()].filter((one) => one.byDefault) : wanted.map(suiteNamed);
  const older = chosen.filter((one) => one.version === "1.2");
  // TLS 1.3's own suites cannot be narrowed, as in Go. They come first, so that 1.3 is what two able peers agree on.
  const newer = [...cipherSuites.values()].filter((one) => one.version === "1.3");
  return {
    // A list with no suite of TLS 1.2 leaves nothing that a 1.2 handshake could agree on.
    minVersion: minVersion === "1.3" || older.length === 0 ? "TLSv1.3" : "TLSv1.2",
    ciphers: [...newer, ...older].map((one) => one.openssl).join(":"),
  };
}

function suiteNamed(name: string): Suite {
  const found = cipherSuites.get(name);
  if (found !== undefined) return found;
  throw new CattailError("TLS_CIPHER_SUITES", {
    problem: `TLS_CIPHER_SUITES names ${JSON.stringify(name)}, which is not a supported cipher suite`,
    next: `Use a comma-separated list of: ${[...cipherSuites.keys()].join(", ")}`,
  });
}
