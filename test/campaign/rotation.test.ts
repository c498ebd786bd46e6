// Campaign: certificates and CA rotated under connected clients, through files as Kubernetes swaps them. Nobody is dropped;
// nobody of an old CA is let in again. Whole: npm run campaign:rotation (200 rotations, 500 clients).
import { equal } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { tlsPolicy, watchTlsFiles } from "../../src/base/security/index.ts";
import { say, size } from "../kit/campaign.ts";
import { clientNames, type TestAuthority, testAuthority } from "../kit/certificates.ts";
import { MountedFolder } from "../kit/mounted-folder.ts";
import { eventually, GoClients, serve, withoutGoClient } from "../kit/serving.ts";

const rotations = size({ short: 4, long: 200 });
const clientCount = size({ short: 20, long: 500 });

test(`${rotations} rotations under ${clientCount} clients`, { skip: withoutGoClient }, async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "cattail-rotation-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const mounted = new MountedFolder(join(folder, "server"), 0o600);
  const publish = (authority: TestAuthority): void => {
    const { certPem, keyPem } = authority.server();
    mounted.put({ "tls.crt": certPem, "tls.key": keyPem, "ca.crt": authority.pair.certPem });
  };
  const flagsOf = (authority: TestAuthority, ca = authority): string[] => {
    const home = mkdtempSync(join(folder, "client-"));
    const { certPem, keyPem } = authority.client();
    writeAll(home, { cert: certPem, key: keyPem, ca: ca.pair.certPem });
    return ["--ca", join(home, "ca"), "--cert", join(home, "cert"), "--key", join(home, "key")];
  };
  let authority = testAuthority("CA 0");
  publish(authority);
  const files = {
    certFile: mounted.path("tls.crt"),
    keyFile: mounted.path("tls.key"),
    caFile: mounted.path("ca.crt"),
  };
  await using watcher = await watchTlsFiles(files, {
    role: "server",
    log: silentLog,
    clock: systemClock,
    debounceMs: 10,
  });
  const requirement = { commonName: clientNames.commonName };
  const material = watcher.state().material;
  await using server = await serve({ workers: 2, tls: { material, policy: tlsPolicy(), requirement } });
  const reloading = (async () => {
    for await (const changed of watcher.changes()) server.setTlsMaterial(changed);
  })();
  server.status(2);
  await using clients = new GoClients(server, [
    "--clients",
    `${clientCount}`,
    "--stats",
    "--connect-rate",
    "100",
    ...flagsOf(authority),
  ]);
  await clients.inSync(clientCount);

  let admitted = 0;
  for (let rotation = 1; rotation <= rotations; rotation += 1) {
    const old = authority;
    authority = testAuthority(`CA ${rotation}`);
    publish(authority);
    await watcher.reload();
    // Every thread has the new material once it has let a client of the new CA in; ask until both have.
    const newFlags = flagsOf(authority);
    for (let seen = 0; seen < 3; ) {
      await using fresh = new GoClients(server, [...newFlags, "--until-in-sync"]);
      if ((await fresh.exited) === 0) seen += 1;
    }
    await using late = new GoClients(server, [
      "--clients",
      "4",
      "--until-in-sync",
      "--stats",
      ...flagsOf(old, authority),
    ]);
    await late.exited;
    admitted += late.events.findLast(({ stats }) => stats !== undefined)?.stats?.connected ?? 0;
  }
  equal(admitted, 0, "admissions by an old CA");
  await eventually(
    () => server.activeCount === clientCount,
    () => `${server.activeCount} of ${clientCount} still connected`,
  );
  server.set({ "/calico/v1/config/after": "1" });
  const stats = await (async () => {
    await eventually(async () => (await server.clients()).every(({ lagUpdates }) => lagUpdates === 0), "all told");
    return clients.finalStats();
  })();
  equal(stats.connected, clientCount);
  say("CA and certificate", {
    rotations,
    clients: clientCount,
    reloads: watcher.state().reloads,
    failed: watcher.state().failedReloads,
  });
  await watcher[Symbol.asyncDispose]();
  await reloading;
});

function writeAll(folder: string, files: { [name: string]: string }): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}
