// Real programs as plugins: what they are told, what they may print, and how long that counts.
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { runExecPlugin } from "./exec-plugin.ts";
import type { ExecPlugin } from "./kubeconfig.ts";
import { identityLoader, loadIdentity } from "./load-identity.ts";

const v1 = "client.authentication.k8s.io/v1";
let folder = "";
before(async () => (folder = await mkdtemp(join(tmpdir(), "cattail-plugin-"))));
after(() => rm(folder, { recursive: true }));

const plugin = (script: string, more: Partial<ExecPlugin> = {}): ExecPlugin => ({
  where: 'config: user "u": exec',
  apiVersion: v1,
  command: process.execPath,
  args: ["-e", script],
  env: {},
  interactiveMode: "IfAvailable",
  provideClusterInfo: false,
  ...more,
});
const saying = (credential: unknown) => `process.stdout.write(${JSON.stringify(JSON.stringify(credential))})`;
const credential = (status: object, apiVersion = v1) => ({ apiVersion, kind: "ExecCredential", status });

test("a plugin is told the version, whether it may ask, and the cluster only where it wants to know", async () => {
  const tells = `process.stdout.write(JSON.stringify({ status: { token: process.env.KUBERNETES_EXEC_INFO } }))`;
  const cluster = { server: "https://a" };
  const told = async (more: Partial<ExecPlugin>) =>
    JSON.parse((await runExecPlugin(plugin(tells, more), { cluster })).token ?? "");
  deepEqual(await told({}), { kind: "ExecCredential", apiVersion: v1, spec: { interactive: false } });
  deepEqual((await told({ provideClusterInfo: true })).spec, { interactive: false, cluster });
});

test("a plugin has our environment, and its own variables before ours", async () => {
  const tells = `process.stdout.write(JSON.stringify({ status: { token: process.env.PATH + process.env.MINE } }))`;
  const { token } = await runExecPlugin(plugin(tells, { env: { MINE: "x" } }), { cluster: {} });
  equal(token, `${process.env.PATH}x`);
});

const good: { name: string; status: object; apiVersion?: string; expected: object }[] = [
  { name: "a token", status: { token: "t" }, expected: { token: "t" } },
  {
    name: "a certificate",
    status: { clientCertificateData: "C", clientKeyData: "K" },
    expected: { cert: "C", key: "K" },
  },
  {
    name: "an expiry, in v1beta1",
    status: { token: "t", expirationTimestamp: "2030-01-01T00:00:00Z" },
    apiVersion: "client.authentication.k8s.io/v1beta1",
    expected: { token: "t", expiresAtMs: 1_893_456_000_000 },
  },
];
for (const { name, status, apiVersion = v1, expected } of good)
  test(`a plugin's answer: ${name}`, async () => {
    const script = saying(credential(status, apiVersion));
    deepEqual(await runExecPlugin(plugin(script, { apiVersion }), { cluster: {} }), expected);
  });

const bad: { name: string; script: string; more?: Partial<ExecPlugin>; patienceMs?: number; says: RegExp }[] = [
  { name: "no JSON", script: "console.log('hello, secret')", says: /printed no JSON object\. It must print/ },
  { name: "another kind", script: saying({ kind: "Pod" }), says: /printed kind "Pod"/ },
  { name: "another version", script: saying(credential({}, "v9")), says: /printed apiVersion "v9", not client/ },
  { name: "no status", script: saying({ apiVersion: v1 }), says: /printed no status/ },
  { name: "nothing in it", script: saying(credential({})), says: /neither a token nor a certificate/ },
  { name: "a number as token", script: saying(credential({ token: 7 })), says: /credentials that are not text/ },
  {
    name: "a certificate without its key",
    script: saying(credential({ clientCertificateData: "C" })),
    says: /a certificate or a key without the other/,
  },
  {
    name: "an expiry that is no time",
    script: saying(credential({ token: "t", expirationTimestamp: "soon" })),
    says: /an expirationTimestamp that is no time/,
  },
  {
    name: "a failure, with what it said",
    script: "console.error('log in first'); process.exit(3)",
    says: /failed with exit code 3: log in first\. Run it by hand/,
  },
  { name: "no end", script: "setInterval(() => 0, 1000)", patienceMs: 300, says: /gave no answer within 0.3 s/ },
  {
    name: "too much",
    script: "process.stdout.write('x'.repeat(2 << 20)); setInterval(() => 0, 1000)",
    says: /printed more than 1048576 bytes/,
  },
  {
    name: "no such program, with its own hint",
    script: "",
    more: { command: "/no/such/program", installHint: "Get it from example.com" },
    says: /user "u": exec: \/no\/such\/program is not there\. Get it from example\.com/,
  },
  {
    name: "an old version",
    script: "",
    more: { apiVersion: "client.authentication.k8s.io/v1alpha1" },
    says: /v1alpha1/,
  },
  { name: "no version", script: "", more: { apiVersion: "" }, says: /says no apiVersion\. Write one of/ },
  {
    name: "a question without a terminal",
    script: "",
    more: { interactiveMode: "Always" },
    says: /there is no terminal/,
  },
];
for (const { name, script, more, patienceMs = 60_000, says } of bad)
  test(`a plugin's failure: ${name}`, () =>
    rejects(runExecPlugin(plugin(script, more), { cluster: {}, patienceMs }), (error: Error & { code?: string }) => {
      match(error.message, says);
      return error.code === "KUBECONFIG_EXEC_FAILED" && !error.message.includes("secret");
    }));

async function withPlugin(
  status: (runs: string) => string,
): Promise<{ kubeconfig: string; runs: () => Promise<number> }> {
  const counter = join(await mkdtemp(join(folder, "runs-")), "runs");
  await writeFile(counter, "");
  const script = `const fs = require("fs"); fs.appendFileSync(${JSON.stringify(counter)}, "x");
    const runs = fs.readFileSync(${JSON.stringify(counter)}).length;
    process.stdout.write(JSON.stringify({ status: ${status("runs")} }))`;
  const kubeconfig = `${counter}.kubeconfig`;
  const exec = { apiVersion: v1, command: process.execPath, args: ["-e", script] };
  const extensions = [{ name: "client.authentication.k8s.io/exec", extension: { audience: "x" } }];
  await writeFile(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: "c", cluster: { server: "https://a", "certificate-authority-data": btoa("CA"), extensions } }],
      users: [{ name: "u", user: { exec: { ...exec, provideClusterInfo: true } } }],
      contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
      "current-context": "c",
    }),
  );
  return { kubeconfig, runs: async () => (await readFile(counter, "utf8")).length };
}

test("a plugin runs again when what it said expires or is refused, and not before", async () => {
  const clock = new FakeClock();
  const expiry = JSON.stringify(new Date(clock.wallMs() + 3_600_000).toISOString());
  const { kubeconfig, runs } = await withPlugin((n) => `{ token: "t" + ${n}, expirationTimestamp: ${expiry} }`);
  const load = identityLoader({ kubeconfig, allowExec: true }, clock);
  const token = async (isRefused = false) => (await load({ isRefused })).headers.authorization;
  deepEqual([await token(), await token(), await runs()], ["Bearer t1", "Bearer t1", 1]);
  deepEqual([await token(true), await token(), await runs()], ["Bearer t2", "Bearer t2", 2]);
  await clock.advance(3_600_000);
  deepEqual([await token(), await runs()], ["Bearer t3", 3]);
});

test("a cluster tells its plugin what is meant for it, with the CA as data", async () => {
  const { kubeconfig } = await withPlugin(() => "{ token: process.env.KUBERNETES_EXEC_INFO }");
  const { headers } = await loadIdentity({ kubeconfig, allowExec: true });
  const { cluster } = JSON.parse(`${headers.authorization}`.replace("Bearer ", "")).spec;
  deepEqual(cluster, {
    server: "https://a",
    "certificate-authority-data": btoa("CA"),
    config: { audience: "x" },
  });
});
