import { deepEqual, equal, match, rejects, throws } from "node:assert/strict";
import { test } from "node:test";
import { type ApiClient, KubeError } from "../../base/kube/index.ts";
import { readQuickly, readWord } from "../../base/yaml/index.ts";
import { cniKubeconfig } from "./kubeconfig.ts";
import { cniServiceAccount, requestToken } from "./request-token.ts";
import { refreshAfterMs } from "./token-part.ts";

test("the kubeconfig says what the plugin needs, and every reader of YAML reads it", () => {
  const text = cniKubeconfig({ server: "https://10.96.0.1:443", token: "a.b-c_d", ca: "PEM" });
  deepEqual(readQuickly(text, readWord)?.value, {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "local", cluster: { server: "https://10.96.0.1", "certificate-authority-data": "UEVN" } }],
    users: [{ name: "calico", user: { token: "a.b-c_d" } }],
    contexts: [{ name: "calico-context", context: { cluster: "local", user: "calico" } }],
    "current-context": "calico-context",
  });
});

test("where the certificate is not to be checked, the kubeconfig says so and names no CA", () => {
  const text = cniKubeconfig({ server: "https://[fd00::1]:6443", token: "t", ca: "PEM", skipTlsVerify: true });
  match(text, /^ {4}insecure-skip-tls-verify: true$/m);
  equal(text.includes("certificate-authority"), false);
  match(text, /server: "https:\/\/\[fd00::1\]:6443"/);
});

const hostile: { name: string; server: string; token: string }[] = [
  { name: "a token with a line of its own", server: "https://a", token: 't"\nusers: []' },
  { name: "a server that is none", server: "10.96.0.1:443\n", token: "t" },
  { name: "a server with a password", server: "https://a:b@c", token: "t" },
  { name: "an empty token", server: "https://a", token: "" },
];
for (const { name, server, token } of hostile)
  test(`${name} is refused`, () => throws(() => cniKubeconfig({ server, token }), { code: "CNI_KUBECONFIG" }));

const hour = 3_600_000;
const waits: { name: string; leftMs?: number; interval?: number; random: number; waitMs: number }[] = [
  { name: "a quarter of a day's token, without chance", leftMs: 24 * hour, random: 0, waitMs: 6 * hour },
  { name: "and as long again, with all of it", leftMs: 24 * hour, random: 1, waitMs: 12 * hour },
  { name: "an interval that is set wins", leftMs: 24 * hour, interval: 60_000, random: 0, waitMs: 60_000 },
  { name: "but is no shorter than five seconds", leftMs: 24 * hour, interval: 10, random: 0, waitMs: 5_000 },
  { name: "a token that ends soon is renewed soon", leftMs: 19_000, interval: hour, random: 0, waitMs: 5_000 },
  { name: "no token: soon again", random: 0.5, waitMs: 7_500 },
];
for (const { name, leftMs, interval, random, waitMs } of waits)
  test(`renewed after: ${name}`, () => {
    const token = leftMs === undefined ? undefined : { token: "t", expiresAtMs: 1_000 + leftMs };
    equal(refreshAfterMs({ nowMs: 1_000, token, interval, random: () => random }), waitMs);
  });

const refusals: { name: string; error: Error; says: RegExp }[] = [
  { name: "nobody listens", error: new KubeError("unavailable", "nobody listens there"), says: /can be reached/ },
  {
    name: "nobody answers in time",
    error: new DOMException("The operation timed out", "TimeoutError"),
    says: /readyz/,
  },
  { name: "no such account", error: new KubeError("not-found", "none"), says: /cattail manifests cni/ },
  { name: "not allowed", error: new KubeError("forbidden", "no"), says: /serviceaccounts\/token/ },
];
for (const { name, error, says } of refusals)
  test(`no token, because ${name}: said with what to do`, async () => {
    const api = { json: () => Promise.reject(error) } as unknown as ApiClient; // all that is asked of it
    const asked = requestToken(api, { namespace: "kube-system", serviceAccount: "calico-cni-plugin" });
    await rejects(asked, { code: "CNI_TOKEN", message: says });
    await rejects(asked, { message: new RegExp(error.message) });
  });

test("the service account is the original's unless it is named", () => {
  equal(cniServiceAccount({}), "calico-cni-plugin");
  equal(cniServiceAccount({ CALICO_CNI_SERVICE_ACCOUNT: "mine" }), "mine");
});
