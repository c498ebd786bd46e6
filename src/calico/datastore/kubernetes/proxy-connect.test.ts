// Real proxies between the datastore and a server over TLS: who is asked for what, and what they never see.
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { testAuthority } from "../../../../test/kit/certificates.ts";
import { startFakeApi } from "../../../../test/kit/fake-api.ts";
import { startHttpProxy, startSocksProxy } from "../../../../test/kit/way-through.ts";
import { silentLog, systemClock } from "../../../base/lib/index.ts";
import type { WatchEvent } from "../datastore.ts";
import { DatastoreError } from "../errors.ts";
import { type KubernetesSettings, openKubernetes } from "./kubernetes-datastore.ts";
import { revisionOf } from "./read-object.ts";

const edge = { clock: systemClock, log: silentLog };
const tier = { metadata: { name: "a", resourceVersion: "7" } };
const authority = testAuthority();
let folder = "";
let server: Server;
let asked: string[] = [];
/** A name that only the proxies know. */
let host = "";

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "cattail-proxy-"));
  await writeFile(join(folder, "ca.crt"), authority.pair.certPem);
  const { certPem: cert, keyPem: key } = authority.server({ names: { commonName: "api", dnsSans: ["api.test"] } });
  server = createServer({ cert, key }, (request, response) => {
    asked.push(`${request.url} ${request.headers.authorization}`);
    response.end(`${JSON.stringify(request.url?.includes("watch") ? { type: "ADDED", object: tier } : tier)}\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  host = `api.test:${(server.address() as AddressInfo).port}`;
});
after(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

const settings = (more: KubernetesSettings): KubernetesSettings => ({
  apiEndpoint: `https://${host}`,
  caFile: join(folder, "ca.crt"),
  apiToken: "secret",
  apiGroup: "crd.projectcalico.org/v1",
  ...more,
});

async function readAndWatch(more: KubernetesSettings): Promise<WatchEvent[]> {
  asked = [];
  await using datastore = await openKubernetes(settings(more), edge);
  equal((await datastore.get("Tier", { namespace: "", name: "a" }))?.revision, "7");
  const events: WatchEvent[] = [];
  const { signal } = new AbortController();
  for await (const event of datastore.watch("Tier", { from: revisionOf(tier), signal })) events.push(...[event].flat());
  return events;
}

test("HTTPS_PROXY: one tunnel for all requests, in which the proxy sees no token", async () => {
  await using proxy = await startHttpProxy({ authorization: "me:pa:ss" });
  const events = await readAndWatch({ httpsProxy: `http://me:pa%3Ass@${proxy.address}` });
  equal(events.length, 1);
  deepEqual(proxy.asked, [host]);
  match(asked.join(), /tiers\/a Bearer secret,.*watch=true.* Bearer secret$/);
});

test("a kubeconfig's proxy-url comes before the environment", async () => {
  await using proxy = await startHttpProxy();
  await using unused = await startHttpProxy();
  const kubeconfig = join(folder, "kubeconfig");
  const cluster = { server: `https://${host}`, "proxy-url": `http://${proxy.address}` };
  const config = {
    clusters: [{ name: "c", cluster }],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    users: [{ name: "u", user: {} }],
    "current-context": "c",
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  await readAndWatch({ kubeconfig, apiEndpoint: "", allowProxy: true, httpsProxy: `http://${unused.address}` });
  deepEqual([proxy.asked, unused.asked], [[host], []]);
});

test("a SOCKS proxy is gone through, and the settings' CA counts there, too", async () => {
  await using proxy = await startSocksProxy();
  equal((await readAndWatch({ httpsProxy: `socks5h://${proxy.address}` })).length, 1);
  deepEqual(proxy.asked[0], host);
  await using stranger = await openKubernetes(settings({ httpsProxy: `socks5h://${proxy.address}`, caFile: "" }), edge);
  await rejects(stranger.get("Tier", { namespace: "", name: "a" }), /certificate/);
});

test("HTTP_PROXY: a server without TLS is asked for through it by its URL", async () => {
  await using api = await startFakeApi([{ body: tier }]);
  await using proxy = await startHttpProxy();
  const apiEndpoint = api.url.replace("127.0.0.1", "api.test");
  await using datastore = await openKubernetes(settings({ apiEndpoint, httpProxy: proxy.address }), edge);
  await datastore.get("Tier", { namespace: "", name: "a" });
  deepEqual(proxy.asked, [`${apiEndpoint}/apis/crd.projectcalico.org/v1/tiers/a`]);
});

test("a proxy that refuses us is named, without the password", async () => {
  await using proxy = await startHttpProxy({ authorization: "me:other" });
  await using datastore = await openKubernetes(settings({ httpsProxy: `http://me:hunter2@${proxy.address}` }), edge);
  await rejects(datastore.get("Tier", { namespace: "", name: "a" }), (error: unknown) => {
    match(String(error), /407/);
    equal(String(error).includes("hunter2"), false);
    return error instanceof DatastoreError && error.code === "unavailable";
  });
});

test("a proxy of no kind that there is stops the start", async () => {
  await rejects(openKubernetes(settings({ httpsProxy: "ftp://me:hunter2@proxy" }), edge), (error: unknown) => {
    match(String(error), /KUBERNETES_PROXY|not of the form/);
    return !String(error).includes("hunter2");
  });
});
