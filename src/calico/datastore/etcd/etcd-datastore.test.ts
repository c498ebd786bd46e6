// The etcd datastore on answers that no real member gives on request. Real members are in test/system/etcd.test.ts.
import { deepEqual, equal, rejects } from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Server, ServerCredentials, type ServiceDefinition, type UntypedHandleCall } from "@grpc/grpc-js";
import { etcdServices } from "../../../../test/kit/etcd-messages.ts";
import type { Revision, WatchEvent } from "../datastore.ts";
import { openEtcdDatastore } from "./etcd-datastore.ts";

type Message = { [field: string]: unknown };
type Script = { range?: (request: Message) => Message; watch?: Message[] };

const prefix = "/calico/resources/v3/projectcalico.org/tiers/";
const signal = AbortSignal.timeout(60_000);
const header = { revision: "100" };
const kv = (name: string, modRevision: number) => ({
  key: Buffer.from(`${prefix}${name}`),
  value: Buffer.from("{}"),
  modRevision,
});
const put = (name: string, at: number) => ({ type: "PUT", kv: kv(name, at) });
const created = { header, created: true };

async function play(t: TestContext, script: Script) {
  const server = new Server();
  const watch: UntypedHandleCall = (call: {
    on: (name: string, heard: () => void) => void;
    write(m: Message): void;
    end(): void;
  }) => {
    call.on("data", () => {
      for (const message of script.watch ?? []) call.write(message);
      script.watch = [];
      call.end();
    });
  };
  const range = (call: { request: Message }, answer: (error: null, message: Message) => void) =>
    answer(null, script.range?.(call.request) ?? { header });
  const none: UntypedHandleCall = () => undefined;
  server.addService(etcdServices["etcdserverpb.KV"] as ServiceDefinition, { Range: range, Txn: none }); // both made by fromJSON
  server.addService(etcdServices["etcdserverpb.Watch"] as ServiceDefinition, { Watch: watch });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  const datastore = await openEtcdDatastore({ endpoints: [`http://127.0.0.1:${port}`], maxMessageBytes: 1 << 20 });
  t.after(async () => {
    await datastore[Symbol.asyncDispose]();
    server.forceShutdown();
  });
  return datastore;
}

const watches: { name: string; watch: Message[]; says: string[]; fails?: string }[] = [
  {
    name: "a revision in fragments is handed out when it is whole",
    watch: [
      created,
      { header, fragment: true, events: [put("a", 5), put("b", 6)] },
      { header, fragment: true, events: [put("c", 6)] },
      { header, events: [put("d", 6), put("e", 7)] },
    ],
    says: ["a@5", "b@6", "c@6", "d@6", "e@7"],
  },
  {
    name: "a revision whose last fragment never comes is not handed out at all",
    watch: [
      created,
      { header, fragment: true, events: [put("a", 5), put("b", 6)] },
      { header, fragment: true, events: [put("c", 6)] },
    ],
    says: ["a@5"],
  },
  {
    name: "progress is passed on one notice late, and never goes back",
    watch: [
      created,
      { header: { ...header, revision: "50" } },
      { header: { ...header, revision: "60" } },
      { header, events: [put("a", 70)] },
      { header },
    ],
    says: ["=1", "=50", "a@70", "=70"],
  },
  {
    name: "a compaction is expired",
    watch: [created, { header, canceled: true, compactRevision: "40" }],
    says: [],
    fails: "expired",
  },
  {
    name: "a watch that is cancelled without a reason is unavailable",
    watch: [{ header, canceled: true }],
    says: [],
    fails: "unavailable",
  },
  {
    name: "a permission that is gone is forbidden",
    watch: [
      {
        header,
        canceled: true,
        cancelReason: "rpc error: code = PermissionDenied desc = etcdserver: permission denied",
      },
    ],
    says: [],
    fails: "forbidden",
  },
  {
    name: "an event without a key and value is an error",
    watch: [created, { header, events: [{ type: "PUT" }] }],
    says: [],
    fails: "unavailable",
  },
  {
    name: "an answer without a header is survived",
    watch: [{ created: true }, { header, events: [put("a", 5)] }],
    says: ["a@5"],
  },
  {
    name: "a message beyond the limit is invalid",
    watch: [created, { header, cancelReason: "x".repeat(2 << 20) }],
    says: [],
    fails: "invalid",
  },
];
for (const { name, watch, says, fails } of watches) {
  test(`watch: ${name}`, async (t) => {
    const datastore = await play(t, { watch });
    const heard: string[] = [];
    const reading = (async () => {
      for await (const events of datastore.watch("Tier", { from: "1" as Revision, signal })) {
        heard.push(...events.map(text));
      }
    })();
    if (fails === undefined) await reading;
    else await rejects(reading, { code: fails });
    deepEqual(heard, says);
  });
}

const lists: { name: string; range: (request: Message) => Message; fails: string }[] = [
  { name: "more without anything is no list", range: () => ({ header, more: true }), fails: "invalid" },
  { name: "an answer without a header is no list", range: () => ({}), fails: "invalid" },
];
for (const { name, range, fails } of lists) {
  test(`list: ${name}`, async (t) => {
    const datastore = await play(t, { range });
    await rejects(Array.fromAsync(datastore.list("Tier", { signal })), { code: fails });
  });
}

test("list: every page after the first is asked for at the first one's revision", async (t) => {
  const asked: unknown[] = [];
  let revision = 100;
  const datastore = await play(t, {
    range(request) {
      asked.push([String(request.key).slice(prefix.length), request.revision]);
      return {
        header: { ...header, revision: String(revision++) },
        kvs: [kv(`t${asked.length}`, 5)],
        more: asked.length < 3,
      };
    },
  });
  const pages = await Array.fromAsync(datastore.list("Tier", { signal }));
  deepEqual(asked, [
    ["", "0"],
    ["t1\u0000", "100"],
    ["t2\u0000", "100"],
  ]);
  deepEqual(
    pages.map((page) => page.revision),
    ["100", "100", "100"],
  );
});

test("watch: a revision that etcd cannot have made is refused", async (t) => {
  const datastore = await play(t, {});
  for (const from of ["", "-1", "x", "9223372036854775807", "1".repeat(100)]) {
    await rejects(Array.fromAsync(datastore.watch("Tier", { from: from as Revision, signal })), { code: "invalid" });
  }
  equal((await Array.fromAsync(datastore.watch("Tier", { from: "100" as Revision, signal }))).length, 0);
});

function text(event: WatchEvent): string {
  if (event.is === "bookmark") return `=${event.revision}`;
  return event.is === "set"
    ? `${event.object.id.name}@${event.object.revision}`
    : `-${event.id.name}@${event.revision}`;
}
