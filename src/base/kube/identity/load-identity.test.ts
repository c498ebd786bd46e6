import { deepEqual, equal, rejects } from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, test } from "node:test";
import { loadIdentity } from "./load-identity.ts";

let dir = "";
before(async () => {
  dir = await mkdtemp(join(tmpdir(), "cattail-kubeconfig-"));
  await writeFile(join(dir, "token"), "from-file\n");
  await writeFile(join(dir, "ca.crt"), "CA");
  await writeFile(join(dir, "other.crt"), "OTHER");
  await writeFile(join(dir, "client.crt"), "CERT");
  await writeFile(join(dir, "client.key"), "KEY");
});
after(() => rm(dir, { recursive: true }));

async function kubeconfig(user: object, cluster: object = {}, extra: object = {}): Promise<string> {
  const path = join(dir, "kubeconfig");
  const text = JSON.stringify({
    clusters: [
      { name: "c", cluster: { server: "https://10.0.0.1:6443/", "certificate-authority": "ca.crt", ...cluster } },
    ],
    users: [{ name: "u", user }],
    contexts: [
      { name: "c", context: { cluster: "c", user: "u" } },
      { name: "broken", context: { cluster: "none", user: "u" } },
    ],
    "current-context": "c",
    ...extra,
  });
  await writeFile(path, text);
  return path;
}

const authorizations: { name: string; user: () => object; settings?: object; expected: string | undefined }[] = [
  { name: "a token", user: () => ({ token: "inline" }), expected: "Bearer inline" },
  {
    name: "a token in a file, which wins",
    user: () => ({ token: "x", tokenFile: join(dir, "token") }),
    expected: "Bearer from-file",
  },
  { name: "a name and a password", user: () => ({ username: "me", password: "p" }), expected: `Basic ${btoa("me:p")}` },
  { name: "nothing", user: () => ({}), expected: undefined },
  {
    name: "the token of the settings, which wins",
    user: () => ({ token: "x" }),
    settings: { apiToken: "set" },
    expected: "Bearer set",
  },
  {
    name: "a program, where programs are allowed",
    user: () => ({ exec: execSaying({ status: { token: "from-program" } }) }),
    settings: { allowExec: true },
    expected: "Bearer from-program",
  },
];

function execSaying(credential: object): object {
  const args = ["-e", `process.stdout.write(${JSON.stringify(JSON.stringify(credential))})`];
  return { apiVersion: "client.authentication.k8s.io/v1", command: process.execPath, args };
}

for (const { name, user, settings = {}, expected } of authorizations) {
  test(`a kubeconfig's user with ${name}`, async () => {
    const identity = await loadIdentity({ kubeconfig: await kubeconfig(user()), ...settings });
    equal(identity.headers.authorization, expected);
  });
}

test("files are found beside the kubeconfig, and the server keeps its path", async () => {
  const user = { "client-certificate": "client.crt", "client-key": "./client.key", tokenFile: "token" };
  const { server, tls, headers } = await loadIdentity({
    kubeconfig: await kubeconfig(user, { server: "https://proxy/k8s/clusters/c-1" }),
  });
  deepEqual([server.href, tls.rejectUnauthorized], ["https://proxy/k8s/clusters/c-1", true]);
  deepEqual([tls.ca, tls.cert, tls.key, headers.authorization].map(String), ["CA", "CERT", "KEY", "Bearer from-file"]);
});

test("of several kubeconfigs, each finds its files beside itself", async () => {
  await mkdir(join(dir, "elsewhere"));
  await writeFile(join(dir, "elsewhere", "token"), "from-elsewhere");
  const users = [{ name: "u", user: { tokenFile: "token" } }];
  await writeFile(join(dir, "elsewhere", "users"), JSON.stringify({ users }));
  const clusters = await kubeconfig({}, {}, { users: [] });
  const { headers, tls } = await loadIdentity({
    kubeconfig: [clusters, join(dir, "elsewhere", "users")].join(delimiter),
  });
  deepEqual([headers.authorization, `${tls.ca}`], ["Bearer from-elsewhere", "CA"]);
});

test("settings replace what the kubeconfig says", async () => {
  const { server, tls } = await loadIdentity({
    kubeconfig: await kubeconfig({}),
    apiEndpoint: "https://192.0.2.1:443",
    caFile: join(dir, "other.crt"),
    insecureSkipTlsVerify: true,
  });
  deepEqual([server.origin, `${tls.ca}`, tls.rejectUnauthorized], ["https://192.0.2.1", "OTHER", false]);
});

test("a pod's service account is found, with the server that Kubernetes names", async (context) => {
  const account = join(dir, "pod/var/run/secrets/kubernetes.io/serviceaccount");
  await mkdir(account, { recursive: true });
  for (const [name, text] of Object.entries({ token: "sa\n", "ca.crt": "POD-CA", namespace: "calico-system" })) {
    await writeFile(join(account, name), text);
  }
  const before = { ...process.env };
  context.after(() => {
    process.env = before;
  });
  Object.assign(process.env, { HOME: dir, KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" });
  const { server, tls, headers } = await loadIdentity({ serviceAccountRoot: join(dir, "pod") });
  deepEqual([server.href, `${tls.ca}`, headers.authorization], ["https://[fd00::1]/", "POD-CA", "Bearer sa"]);
});

const refusals: { name: string; load: () => Promise<unknown>; code: string }[] = [
  {
    name: "a program to run",
    load: async () => loadIdentity({ kubeconfig: await kubeconfig({ exec: { command: "/bin/false" } }) }),
    code: "KUBECONFIG_EXEC",
  },
  {
    name: "an old style plugin, which may run one too",
    load: async () => loadIdentity({ kubeconfig: await kubeconfig({ "auth-provider": { name: "gcp", config: {} } }) }),
    code: "KUBECONFIG_EXEC",
  },
  {
    name: "a proxy",
    load: async () => loadIdentity({ kubeconfig: await kubeconfig({}, { "proxy-url": "http://evil:1" }) }),
    code: "KUBECONFIG_PROXY",
  },
  {
    name: "a context without a cluster",
    load: async () => loadIdentity({ kubeconfig: await kubeconfig({}), currentContext: "broken" }),
    code: "KUBECONFIG_UNUSABLE",
  },
  {
    name: "a certificate that is not there",
    load: async () => loadIdentity({ kubeconfig: await kubeconfig({ "client-certificate": "none.crt" }) }),
    code: "KUBECONFIG_UNUSABLE",
  },
  {
    name: "a missing file",
    load: () => loadIdentity({ kubeconfig: join(dir, "none") }),
    code: "KUBECONFIG_UNUSABLE",
  },
];

for (const { name, load, code } of refusals) {
  test(`refused unless asked for, or for ever: ${name}`, () => rejects(load(), { code }));
}
