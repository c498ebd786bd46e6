// What `calico -t` tells an installer.
import { deepEqual, match } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { type FakeAnswer, startFakeApi } from "../../../../test/kit/fake-api.ts";
import { systemClock } from "../../../base/lib/index.ts";
import { freshBacking } from "../backing.ts";
import { toCniError } from "../protocol/cni-error.ts";
import { testConnection } from "./test-connection.ts";

const folder = mkdtempSync(join(tmpdir(), "cattail-test-connection-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Undefined: all is well. */
async function said(stdin: string) {
  const edge = { clock: systemClock, random: Math.random, warn: () => undefined };
  const options = { ...edge, variables: {}, backing: freshBacking(edge), version: "v0", isOwnFile: () => false };
  try {
    return void (await testConnection(options, stdin));
  } catch (error) {
    const { code, message, details } = toCniError(error);
    deepEqual([code, message], [100, "data store connection failed"]);
    return details;
  }
}

async function ask(version: FakeAnswer, datastoreReady = true) {
  const information = { metadata: { name: "default", resourceVersion: "1" }, spec: { datastoreReady } };
  await using api = await startFakeApi([({ url }) => (url === "/version" ? version : { body: information })]);
  const kubeconfig = join(folder, "kubeconfig");
  const user = { clusters: [{ name: "c", cluster: { server: api.url } }], users: [{ name: "u", user: {} }] };
  const contexts = { contexts: [{ name: "c", context: { cluster: "c", user: "u" } }], "current-context": "c" };
  writeFileSync(kubeconfig, JSON.stringify({ ...user, ...contexts }));
  const plugin = { type: "calico", datastore_type: "kubernetes", kubernetes: { kubeconfig } };
  return await said(JSON.stringify({ name: "net", cniVersion: "1.0.0", plugins: [plugin] }));
}

test("a datastore that is ready, behind an API server that says its version", async () =>
  deepEqual(await ask({ body: { gitVersion: "v1" } }), undefined));

test("a datastore that is not ready", async () =>
  deepEqual(await ask({}, false), "Calico is currently not ready to process requests"));

test("an API server that refuses to say its version", async () =>
  match(String(await ask({ status: 403, body: { message: "no" } })), /^unable to connect to K8s server: .*403/));

test("an API server that does not answer is waited for for two seconds", async () =>
  match(String(await ask({ after: "never" })), /^unable to connect to K8s server: .*2 s/));

test("what is no configuration", async () =>
  deepEqual(await said("{"), "failed to load netconf: unexpected end of JSON input"));

test("a name that cannot be, and a setting", async () => {
  match(String(await said('{"name":"a b"}')), /^invalid characters detected in the given network name/);
  match(
    String(await said('{"name":"a","mtu":"x"}')),
    /^failed to load netconf: json: cannot unmarshal string into .* NetConf.mtu of type int/,
  );
});

test("a kubeconfig that is not there", async () => {
  const kubernetes = { kubeconfig: join(folder, "none") };
  const given = JSON.stringify({ name: "a", datastore_type: "kubernetes", kubernetes });
  deepEqual(await said(given), `stat ${join(folder, "none")}: no such file or directory`);
});
