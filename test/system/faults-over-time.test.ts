// Faults that have a before and an after: certificates that rotate, clocks that jump, long outages, a cluster restored
// from a backup. Each ends with the follower compared to a fresh list.
import { deepEqual, equal, ok } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Clock, type Log, silentLog, systemClock } from "../../src/base/lib/index.ts";
import { createMemoryDatastore, DatastoreError, openEtcdDatastore } from "../../src/calico/datastore/index.ts";
import { testAuthority } from "../kit/certificates.ts";
import { type EtcdMember, etcdMissing, startEtcd } from "../kit/etcd.ts";
import { eventually } from "../kit/eventually.ts";
import { FakeClock } from "../kit/fake-clock.ts";
import { followState, listState } from "../kit/follow-state.ts";
import { startProxy } from "../kit/proxy.ts";

const skip = (await etcdMissing()) ?? false;
const tiers = "/calico/resources/v3/projectcalico.org/tiers";
const limits = { attemptIntervalMs: 20, listRetryMs: 20 };

test("etcd: a client certificate that rotates to a new CA, one file at a time, is used as soon as both are there", {
  skip,
}, async (t) => {
  const files = folder(t);
  const [oldAuthority, newAuthority] = [testAuthority("Old CA"), testAuthority("New CA")];
  const [server, oldClient, newClient] = [oldAuthority.server(), oldAuthority.client(), newAuthority.client()];
  const tls = { cert: files("server.crt", server.certPem), key: files("server.key", server.keyPem) };
  const trusted = files("trusted.crt", oldAuthority.pair.certPem);
  await using etcd = await startEtcd({ tls: { ...tls, ca: trusted } });
  const member = only(etcd.members);
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (_message, fields) => warnings.push(String(fields?.error)) };
  await using datastore = await openEtcdDatastore({
    endpoints: [member.url],
    log,
    tls: {
      caFile: files("ca.crt", oldAuthority.pair.certPem),
      certFile: files("client.crt", oldClient.certPem),
      keyFile: files("client.key", oldClient.keyPem),
    },
  });
  await using state = followState(datastore, "Tier", { limits });
  await eventually(state.isInSync, "in sync");
  await member.kill();
  files("trusted.crt", newAuthority.pair.certPem);
  await member.restart();
  await member.ask({ do: "put", key: `${tiers}/a`, value: "{}" });
  await eventually(() => state.follower.report.lastError?.code === "unauthorized", "the old certificate is refused");
  files("client.crt", newClient.certPem);
  await eventually(() => warnings.some((warning) => /does not belong/.test(warning)), "half of a pair is noticed");
  equal(state.objects.size, 0);
  files("client.key", newClient.keyPem);
  await eventually(() => state.objects.size === 1, "the new pair is used");
  deepEqual(state.objects, await listState(datastore, "Tier"));
});

test("etcd: a wall clock that jumps an hour at every look disturbs nothing", { skip }, async () => {
  await using etcd = await startEtcd();
  const member = only(etcd.members);
  let looks = 0;
  const clock: Clock = { ...systemClock, wallMs: () => Date.now() + (looks++ % 2 === 0 ? 3_600_000 : -3_600_000) };
  await using datastore = await openEtcdDatastore({ endpoints: [member.url], clock, watchSilenceMs: 200 });
  await using state = followState(datastore, "Tier", { clock, limits });
  await eventually(state.isInSync, "in sync");
  for (let i = 0; i < 50; i++) await member.ask({ do: "put", key: `${tiers}/t${i}`, value: "{}" });
  await eventually(() => state.objects.size === 50, "everything is there");
  deepEqual(state.objects, await listState(datastore, "Tier"));
  ok(looks > 0);
  deepEqual([state.follower.report.relists, state.statuses], [0, [1, 2]]);
});

test("etcd: a cluster restored from an empty backup is listed again, and what is gone is deleted", {
  skip,
}, async () => {
  await using etcd = await startEtcd();
  const member = only(etcd.members);
  await using datastore = await openEtcdDatastore({ endpoints: [member.url] });
  await using state = followState(datastore, "Tier", { limits });
  for (let i = 0; i < 20; i++) await member.ask({ do: "put", key: `${tiers}/old${i}`, value: "{}" });
  await eventually(() => state.objects.size === 20, "everything is there");
  await member.restart({ wipe: true });
  await member.ask({ do: "put", key: `${tiers}/new`, value: "{}" });
  await eventually(() => [...state.objects.keys()].join() === "/new", "only the new one is there");
  deepEqual(state.objects, await listState(datastore, "Tier"));
});

test("etcd: ten minutes without an answer end in waiting for the datastore, and then in sync again", {
  skip,
}, async () => {
  await using etcd = await startEtcd();
  const member = only(etcd.members);
  await using proxy = await startProxy(member.port);
  const time = acceleratedClock();
  await using datastore = await openEtcdDatastore({ endpoints: [`http://127.0.0.1:${proxy.port}`], clock: time.clock });
  await using state = followState(datastore, "Tier", { clock: time.clock });
  await eventually(state.isInSync, "in sync");
  await member.ask({ do: "put", key: `${tiers}/before`, value: "{}" });
  await eventually(() => state.objects.has("/before"), "the first object");
  proxy.refuse();
  await member.ask({ do: "delete", key: `${tiers}/before` });
  await member.ask({ do: "put", key: `${tiers}/after`, value: "{}" });
  time.setSpeed(600);
  await eventually(() => state.statuses.at(-1) === 0, "it waits for the datastore");
  deepEqual([...state.objects.keys()], ["/before"], "what was known stays announced meanwhile");
  time.setSpeed(1);
  proxy.accept();
  await eventually(state.isInSync, "in sync again");
  deepEqual([...state.objects.keys()], ["/after"]);
  deepEqual(state.objects, await listState(datastore, "Tier"));
});

test("memory: ten minutes of outage, to the second, on a clock that the test moves", async () => {
  const clock = new FakeClock();
  const memory = createMemoryDatastore({ clock });
  await memory.put("Tier", { metadata: { name: "before" } });
  await using state = followState(memory, "Tier", { clock });
  await clock.advance(1_000);
  deepEqual(state.statuses, [1, 2]);
  memory.setIntercept(() => {
    throw new DatastoreError("unavailable", "black hole");
  });
  memory.endWatches();
  await memory.put("Tier", { metadata: { name: "after" } });
  await clock.advance(590_000);
  deepEqual(state.statuses, [1, 2], "nine minutes and fifty seconds are borne in silence");
  await clock.advance(60_000);
  deepEqual(state.statuses.at(-1), 0);
  deepEqual([...state.objects.keys()], ["/before"]);
  memory.setIntercept(undefined);
  await clock.advance(60_000);
  deepEqual(state.statuses.slice(-2), [1, 2]);
  deepEqual(state.objects, await listState(memory, "Tier"));
});

function only(members: readonly EtcdMember[]): EtcdMember {
  const [member] = members;
  if (member === undefined) throw new Error("an etcd without members");
  return member;
}

/** Writes a file of the folder, at once as a whole, and says its path. */
function folder(t: TestContext): (name: string, text: string) => string {
  const path = mkdtempSync(join(tmpdir(), "cattail-rotation-"));
  t.after(() => rmSync(path, { recursive: true }));
  return (name, text) => {
    writeFileSync(join(path, name), text);
    return join(path, name);
  };
}

/** The system's clock, but time can be made to pass faster. */
function acceleratedClock(): { clock: Clock; setSpeed(times: number): void } {
  let speed = 1;
  let [fromMs, sinceMs] = [0, systemClock.monotonicMs()];
  const monotonicMs = () => fromMs + (systemClock.monotonicMs() - sinceMs) * speed;
  return {
    clock: {
      wallMs: () => Date.now(),
      monotonicMs,
      sleep: async (delayMs, signal) => {
        const untilMs = monotonicMs() + delayMs;
        do await systemClock.sleep(Math.min(10, Math.max(0, untilMs - monotonicMs())), signal);
        while (monotonicMs() < untilMs);
      },
    },
    setSpeed(times) {
      [fromMs, sinceMs] = [monotonicMs(), systemClock.monotonicMs()];
      speed = times;
    },
  };
}
