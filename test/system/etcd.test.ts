// The etcd datastore against real members: TLS, users, several endpoints, large and unreadable values, a cluster that
// went back in time, and the golden data of the real tools.
import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Clock, parseJson, systemClock } from "../../src/base/lib/index.ts";
import { type Datastore, openEtcdDatastore, type Revision, type WatchEvent } from "../../src/calico/datastore/index.ts";
import { type Kind, kindInfo, kindNames } from "../../src/calico/kinds/index.ts";
import { testAuthority } from "../kit/certificates.ts";
import { type EtcdClusterOptions, type EtcdMember, etcdMissing, startEtcd } from "../kit/etcd.ts";
import { startProxy } from "../kit/proxy.ts";

const skip = (await etcdMissing()) ?? false;
const signal = AbortSignal.timeout(600_000);
const tiers = "/calico/resources/v3/projectcalico.org/tiers";
const tier = (name: string) => ({ metadata: { name }, spec: { order: 1 } });
const inEtcd = kindNames.filter((kind) => kindInfo(kind).etcdPrefix !== undefined);

async function start(t: TestContext, options: EtcdClusterOptions = {}): Promise<EtcdMember[]> {
  const etcd = await startEtcd(options);
  t.after(() => etcd[Symbol.asyncDispose]());
  return [...etcd.members];
}

async function open(t: TestContext, options: Parameters<typeof openEtcdDatastore>[0]): Promise<Datastore> {
  const datastore = await openEtcdDatastore(options);
  t.after(() => datastore[Symbol.asyncDispose]());
  return datastore;
}

const urls = (members: EtcdMember[]) => members.map(({ url }) => url);

async function namesIn(datastore: Datastore, kind: Kind = "Tier"): Promise<string[]> {
  const pages = await Array.fromAsync(datastore.list(kind, { signal }));
  return pages.flatMap(({ items }) => items.map(({ id }) => id.name));
}

async function take(datastore: Datastore, kind: Kind, from: string, count: number): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  for await (const together of datastore.watch(kind, { from: from as Revision, signal })) {
    events.push(...together);
    if (events.length >= count) break;
  }
  return events.slice(0, count);
}

test("what the real tools stored is listed kind by kind, and their changes are watched", { skip }, async (t) => {
  const members = await start(t);
  const stored = JSON.parse(readFileSync("test/vectors/golden/etcd/stored.json", "utf8")) as Pair[];
  const changes = JSON.parse(readFileSync("test/vectors/golden/etcd/changes.json", "utf8")) as (Pair & {
    type: string;
  })[];
  for (const { key, value } of stored) await members[0]?.ask({ do: "put", key, value });
  const datastore = await open(t, { endpoints: urls(members), pageSize: 2 });
  const found: string[] = [];
  for (const kind of inEtcd) {
    for await (const { items } of datastore.list(kind, { signal })) {
      for (const { id, value } of items) {
        const key = `${kindInfo(kind).etcdPrefix}${id.namespace === "" ? "" : `${id.namespace}/`}${id.name}`;
        found.push(key);
        deepEqual(value, parseJson(stored.find((pair) => pair.key === key)?.value ?? ""));
      }
    }
  }
  deepEqual(found.sort(), stored.map(({ key }) => key).sort());
  for (const { type, key, value } of changes) {
    const answer = await members[0]?.ask(type === "DELETE" ? { do: "delete", key } : { do: "put", key, value });
    const kind = inEtcd.find((name) => key.startsWith(kindInfo(name).etcdPrefix ?? "-"));
    const revision = answer?.revision ?? "";
    const [event] = await take(datastore, kind ?? "Tier", String(BigInt(revision) - 1n), 1);
    equal(event?.is, type === "DELETE" ? "delete" : "set");
    equal(event?.is === "set" ? event.object.revision : event?.revision, revision);
  }
});

test("TLS with a client certificate; without one, nobody is heard", { skip }, async (t) => {
  const files = certificates(t);
  const members = await start(t, { tls: { cert: files.serverCert, key: files.serverKey, ca: files.ca } });
  const tls = { caFile: files.ca, certFile: files.clientCert, keyFile: files.clientKey };
  const datastore = await open(t, { endpoints: urls(members), tls });
  await datastore.create("Tier", tier("a"));
  deepEqual(await namesIn(datastore), ["a"]);
  const stranger = await open(t, { endpoints: urls(members), tls: { caFile: files.ca } });
  // The alert that says so may be overtaken by the reset of the connection.
  ok(["unauthorized", "unavailable"].includes(await codeOf(namesIn(stranger))));
  const trusting = await open(t, { endpoints: urls(members) });
  await rejects(namesIn(trusting), { code: "unavailable" }, "a server of an unknown CA is not believed");
});

test("half a pair, a missing file and a bad endpoint stop the start, each with its name", { skip }, async (t) => {
  const files = certificates(t);
  const endpoints = ["https://127.0.0.1:1"];
  await rejects(openEtcdDatastore({ endpoints, tls: { certFile: files.clientCert } }), { code: "ETCD_TLS_PAIR" });
  const mixed = { certFile: files.clientCert, keyFile: files.serverKey };
  await rejects(openEtcdDatastore({ endpoints, tls: mixed }), { code: "ETCD_TLS_PAIR" });
  await rejects(openEtcdDatastore({ endpoints, tls: { caFile: "/nonexistent" } }), { code: "ETCD_TLS_FILE" });
  await rejects(openEtcdDatastore({ endpoints: ["127.0.0.1:2379"] }), { code: "ETCD_ENDPOINT" });
});

test("a user and a password; a token that expired is fetched again, for calls and for watches", { skip }, async (t) => {
  const members = await start(t, { flags: ["-token-ttl", "1"] });
  const auth = { username: "typha", password: "secret" };
  const early = await open(t, { endpoints: urls(members), auth });
  deepEqual(await namesIn(early), [], "while authentication is off the user is not needed");
  await members[0]?.ask({ do: "auth", user: auth.username, password: auth.password });
  const datastore = await open(t, { endpoints: urls(members), auth });
  const { revision } = await datastore.create("Tier", tier("a"));
  // A restarted member has forgotten every token it gave.
  await members[0]?.restart();
  await datastore.create("Tier", tier("b"));
  await members[0]?.restart();
  const watched = await untilAnswered(() => take(datastore, "Tier", revision, 1));
  equal(watched[0]?.is, "set");
  const wrong = await open(t, { endpoints: urls(members), auth: { ...auth, password: "wrong" } });
  await rejects(namesIn(wrong), { code: "unauthorized" });
  const nobody = await open(t, { endpoints: urls(members) });
  await rejects(namesIn(nobody), { code: "unauthorized" });
});

test("a kind that the user may not read is forbidden, listed or watched", { skip }, async (t) => {
  const members = await start(t);
  const auth = { username: "typha", password: "secret" };
  await members[0]?.ask({ do: "auth", user: auth.username, password: auth.password, prefix: tiers });
  const datastore = await open(t, { endpoints: urls(members), auth });
  deepEqual(await namesIn(datastore, "Tier"), []);
  await rejects(namesIn(datastore, "Node"), { code: "forbidden" });
  await rejects(take(datastore, "Node", "1", 1), { code: "forbidden" });
});

test("with several endpoints the dead ones are passed over", { skip }, async (t) => {
  const members = await start(t);
  const dead = ["http://127.0.0.1:1", "http://127.0.0.1:2"];
  const datastore = await open(t, { endpoints: [...dead, ...urls(members)] });
  deepEqual(await namesIn(datastore), []);
  await datastore.create("Tier", tier("a"));
  equal((await take(datastore, "Tier", "1", 1))[0]?.is, "set");
});

test("one that accepts and never answers is passed over after the request's limit", { skip }, async (t) => {
  const members = await start(t, { members: 3 });
  const datastore = await open(t, { endpoints: urls(members), requestTimeoutMs: 1_000 });
  await members[0]?.ask({ do: "put", key: `${tiers}/a`, value: JSON.stringify(tier("a")) });
  members[0]?.freeze();
  deepEqual(await untilAnswered(() => namesIn(datastore)), ["a"]);
  members[0]?.thaw();
});

// As behind a load balancer whose member is gone: the connection is accepted, and nobody ever speaks on it.
for (const { by, tries } of [
  { by: "a call", tries: (datastore: Datastore): Promise<unknown> => namesIn(datastore) },
  { by: "a watch", tries: (datastore: Datastore): Promise<unknown> => take(datastore, "Tier", "1", 1) },
]) {
  test(`one endpoint that accepted and never spoke is dialled anew, when ${by} found out`, { skip }, async (t) => {
    const [member] = await start(t);
    await member?.ask({ do: "put", key: `${tiers}/a`, value: JSON.stringify(tier("a")) });
    const proxy = await startProxy(member?.port ?? 0);
    t.after(() => proxy[Symbol.asyncDispose]());
    const endpoints = [`http://127.0.0.1:${proxy.port}`];
    const datastore = await open(t, { endpoints, requestTimeoutMs: 500, watchSilenceMs: 250 });
    proxy.freeze();
    equal(await codeOf(tries(datastore)), "unavailable");
    proxy.halfOpen(); // the connection that was made stays silent for ever
    proxy.thaw();
    // By the same way again: a call would find out for a watch that had not.
    await untilAnswered(() => tries(datastore));
    deepEqual(await untilAnswered(() => namesIn(datastore)), ["a"]);
  });
}

test("a page too large for one message is asked for in smaller ones", { skip }, async (t) => {
  const members = await start(t);
  const datastore = await open(t, { endpoints: urls(members), maxMessageBytes: 1 << 20 });
  const filler = "x".repeat(300_000);
  for (let i = 0; i < 10; i++)
    await members[0]?.ask({ do: "put", key: `${tiers}/t${i}`, value: JSON.stringify({ filler }) });
  equal((await namesIn(datastore)).length, 10);
});

test("a value that is not JSON is an object with a problem; a key that is not ours is passed over", {
  skip,
}, async (t) => {
  const members = await start(t);
  const datastore = await open(t, { endpoints: urls(members) });
  for (const [key, value] of [
    ["bad", "{"],
    ["good", "{}"],
    ["not/ours", "{}"],
    ["", "{}"],
  ]) {
    await members[0]?.ask({ do: "put", key: `${tiers}/${key}`, value: value ?? "" });
  }
  const items = (await Array.fromAsync(datastore.list("Tier", { signal }))).flatMap((page) => page.items);
  deepEqual(
    items.map(({ id }) => id.name),
    ["bad", "good"],
  );
  match(items[0]?.problem ?? "", /not JSON/);
  const events = await take(datastore, "Tier", "1", 2);
  deepEqual(
    events.map((event) => (event.is === "set" ? event.object.id.name : event.is)),
    ["bad", "good"],
  );
});

test("a list that is overtaken by a compaction is expired", { skip }, async (t) => {
  const members = await start(t);
  const datastore = await open(t, { endpoints: urls(members), pageSize: 1 });
  for (const name of ["a", "b", "c"]) await datastore.create("Tier", tier(name));
  const listing = datastore.list("Tier", { signal })[Symbol.asyncIterator]();
  await listing.next();
  await datastore.create("Tier", tier("d"));
  await members[0]?.ask({ do: "compact" });
  await rejects(listing.next(), { code: "expired" });
});

test("a cluster that is behind our revision, as after a restore, is noticed and not waited for", {
  skip,
}, async (t) => {
  const members = await start(t);
  const datastore = await open(t, { endpoints: urls(members) });
  const { revision } = await datastore.create("Tier", tier("a"));
  await members[0]?.restart({ wipe: true });
  const code = await untilAnswered(() => codeOf(take(datastore, "Tier", revision, 1)), "unavailable");
  equal(code, "too-large-revision");
  await rejects(Array.fromAsync(datastore.list("Tier", { signal, notOlderThan: revision })), {
    code: "too-large-revision",
  });
});

test("a quiet watch asks for progress and passes it on; a silent one fails", { skip }, async (t) => {
  const members = await start(t);
  const datastore = await open(t, { endpoints: urls(members), watchSilenceMs: 2_000 });
  await datastore.create("Node", { metadata: { name: "n" } });
  const [first, second] = await take(datastore, "Tier", "1", 2);
  deepEqual([first?.is, second?.is], ["bookmark", "bookmark"]);
  equal(second?.is === "bookmark" ? second.revision : "", "2", "one notice late");
  const watching = codeOf(take(datastore, "Tier", "2", 1_000_000));
  members[0]?.freeze();
  equal(await watching, "unavailable");
  members[0]?.thaw();
});

test("large answers in fragments arrive whole and in order", { skip }, async (t) => {
  const members = await start(t, { flags: ["-max-request", String(64 << 10)] });
  const datastore = await open(t, { endpoints: urls(members) });
  const filler = "x".repeat(40_000);
  for (let i = 0; i < 60; i++)
    await members[0]?.ask({ do: "put", key: `${tiers}/t${i}`, value: JSON.stringify({ filler, i }) });
  const events = await take(datastore, "Tier", "1", 60);
  deepEqual(
    events.map((event) => (event.is === "set" ? Object(event.object.value).i : -1)),
    Array.from(Array(60).keys()),
  );
});

test("a request's limit is counted on the monotonic clock, whatever the wall clock does", { skip }, async (t) => {
  const members = await start(t);
  let wallMs = Date.now();
  const clock: Clock = { ...systemClock, wallMs: () => (wallMs += 3_600_000) };
  const datastore = await open(t, { endpoints: urls(members), clock });
  await datastore.create("Tier", tier("a"));
  deepEqual(await namesIn(datastore), ["a"]);
});

test("two thousand objects are listed at one revision", { skip }, async (t) => {
  const members = await start(t);
  const datastore = await open(t, { endpoints: urls(members) });
  await Promise.all(
    Array.from({ length: 8 }, async (_, part) => {
      for (let i = part; i < 2_000; i += 8) await datastore.create("Tier", tier(`t${i}`));
    }),
  );
  const pages = await Array.fromAsync(datastore.list("Tier", { signal }));
  ok(pages.every(({ revision }) => revision === pages[0]?.revision));
  equal(new Set(pages.flatMap(({ items }) => items.map(({ id }) => id.name))).size, 2_000);
});

type Pair = { key: string; value: string };

function certificates(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "cattail-etcd-tls-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const authority = testAuthority();
  const [server, client] = [authority.server(), authority.client()];
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  return {
    ca: write("ca.crt", authority.pair.certPem),
    serverCert: write("server.crt", server.certPem),
    serverKey: write("server.key", server.keyPem),
    clientCert: write("client.crt", client.certPem),
    clientKey: write("client.key", client.keyPem),
  };
}

function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "none",
    (error: { code?: string }) => error.code ?? String(error),
  );
}

/** Asks again while nobody answers: a member that was just killed or frozen may take a try to be given up. */
async function untilAnswered<T>(ask: () => Promise<T>, notYet?: T): Promise<T> {
  for (;;) {
    try {
      const answer = await ask();
      if (notYet === undefined || answer !== notYet) return answer;
    } catch (error) {
      if ((error as { code?: string }).code !== "unavailable") throw error;
    }
    await systemClock.sleep(20, signal);
  }
}
