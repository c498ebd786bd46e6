// Every way of showing an API server who we are, asked of a real kube-apiserver: it says whom it has seen.
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { stringify } from "yaml";
import { ApiClient, type KubeSettings } from "../../src/base/kube/index.ts";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { type Cluster, clusterPeer, startCluster } from "../kit/cluster.ts";
import { startHttpProxy, startSocksProxy } from "../kit/way-through.ts";

const skip = (await clusterPeer()).missing ?? false;
let cluster: Cluster;
let certificate = { cert: "", key: "", ca: "" };
const account = (name: string) => `system:serviceaccount:default:${name}`;

before(async () => {
  if (skip) return;
  cluster = await startCluster();
  await cluster.makeUser("zoe");
  const base64 = async (name: string) => (await readFile(join(cluster.dir, name))).toString("base64");
  certificate = { cert: await base64("zoe.crt"), key: await base64("zoe.key"), ca: await base64("ca.crt") };
});
after(async () => {
  if (!skip) await cluster[Symbol.asyncDispose]();
});

type Seen = { readonly username: string; readonly groups: readonly string[]; readonly extra?: object };

/** One client for as long as `ask` is used. */
function open(settings: KubeSettings, clock = systemClock) {
  const client = new ApiClient({ allowExec: true, allowProxy: true, ...settings }, { clock, log: silentLog });
  const apiVersion = "authentication.k8s.io/v1";
  return {
    [Symbol.dispose]: () => client[Symbol.dispose](),
    async seen(): Promise<Seen> {
      const body = { apiVersion, kind: "SelfSubjectReview" };
      const answer = await client.json({ method: "POST", path: `/apis/${apiVersion}/selfsubjectreviews`, body });
      return (answer as { status: { userInfo: Seen } }).status.userInfo;
    },
  };
}

let count = 0;
async function kubeconfig(user: object, clusterFields: object = {}): Promise<string> {
  const path = join(cluster.dir, `identity-${count++}`);
  const fields = { server: cluster.server, "certificate-authority": "ca.crt", ...clusterFields };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: fields }],
    users: [{ name: "u", user }],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    "current-context": "c",
  };
  await writeFile(path, stringify(config));
  return path;
}

async function whoIs(user: object, clusterFields: object = {}): Promise<Seen> {
  using client = open({ kubeconfig: await kubeconfig(user, clusterFields) });
  return client.seen();
}

const inline = () => ({ "client-certificate-data": certificate.cert, "client-key-data": certificate.key });

test("a certificate in files, and one in the kubeconfig itself", { skip }, async () => {
  equal((await whoIs({ "client-certificate": "zoe.crt", "client-key": "zoe.key" })).username, "zoe");
  equal(
    (await whoIs(inline(), { "certificate-authority": "", "certificate-authority-data": certificate.ca })).username,
    "zoe",
  );
});

test("a token", { skip }, async () => {
  equal((await whoIs({ token: await cluster.makeToken("ann") })).username, account("ann"));
});

test("a token in a file, which is read again when the server no longer knows the old one", { skip }, async () => {
  const file = join(cluster.dir, "rotating-token");
  await writeFile(file, `${await cluster.makeToken("ben")}\n`);
  using client = open({ kubeconfig: await kubeconfig({ tokenFile: "rotating-token" }) });
  equal((await client.seen()).username, account("ben"));
  await cluster.must("DELETE", "/api/v1/namespaces/default/serviceaccounts/ben"); // with it goes its token
  await writeFile(`${file}.new`, await cluster.makeToken("eva"));
  await rename(`${file}.new`, file);
  const deadlineMs = performance.now() + 60_000; // the server believes a token for some seconds
  while ((await client.seen()).username !== account("eva") && performance.now() < deadlineMs)
    await systemClock.sleep(200);
  equal((await client.seen()).username, account("eva"));
});

test("a plugin that gives a token, and one that gives a certificate", { skip }, async () => {
  const plugin = (status: object) => {
    const answer = { apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status };
    const args = ["-e", `process.stdout.write(${JSON.stringify(JSON.stringify(answer))})`];
    return { exec: { apiVersion: answer.apiVersion, interactiveMode: "Never", command: process.execPath, args } };
  };
  equal((await whoIs(plugin({ token: await cluster.makeToken("joe") }))).username, account("joe"));
  const [clientCertificateData, clientKeyData] = [certificate.cert, certificate.key].map(atob);
  equal((await whoIs(plugin({ clientCertificateData, clientKeyData }))).username, "zoe");
});

test("somebody else, with groups and more, where that is allowed", { skip }, async () => {
  const admin = { "client-certificate": "admin.crt", "client-key": "admin.key" };
  const extra = { "example.com/Reason": ["a", "b"] };
  const seen = await whoIs({ ...admin, as: "lea", "as-groups": ["red", "blue"], "as-user-extra": extra });
  deepEqual(
    [seen.username, seen.groups, seen.extra],
    ["lea", ["red", "blue", "system:authenticated"], { "example.com/reason": ["a", "b"] }],
  );
});

test("the name in the server's certificate is checked, or another where tls-server-name says so", {
  skip,
}, async () => {
  const byName = { "tls-server-name": "localhost" };
  equal((await whoIs(inline(), byName)).username, "zoe");
  await rejects(whoIs(inline(), { "tls-server-name": "other.example.com" }), /altname|does not match/i);
  await rejects(whoIs(inline(), { "certificate-authority": "" }), /certificate/);
  equal((await whoIs(inline(), { "certificate-authority": "", "insecure-skip-tls-verify": true })).username, "zoe");
});

test("through a proxy of HTTP, and one of SOCKS", { skip }, async () => {
  await using http = await startHttpProxy();
  await using socks = await startSocksProxy();
  const server = `https://api.test:${cluster.port}`; // only the proxies know it
  const tls = { server, "tls-server-name": "localhost" };
  equal((await whoIs(inline(), { ...tls, "proxy-url": `http://${http.address}` })).username, "zoe");
  equal((await whoIs(inline(), { ...tls, "proxy-url": `socks5://${socks.address}` })).username, "zoe");
  match(`${http.asked} ${socks.asked}`, /^api\.test:\d+ api\.test:\d+$/);
});

test("of two files, each with its part", { skip }, async () => {
  const whole = await kubeconfig({ token: await cluster.makeToken("kim") });
  const other = await kubeconfig({ token: "not this one" });
  using client = open({ kubeconfig: `${whole}:${other}` });
  equal((await client.seen()).username, account("kim"));
});
