// Our server's bytes, read by Go's own gob, snappy, zstd and TLS: for every kind of client, exactly what was served.
import { deepEqual, equal, match } from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { promisify } from "node:util";
import { tlsPolicy, tlsServerOptions } from "../../src/base/security/index.ts";
import type { Agreement } from "../../src/typha/wire/index.ts";
import { certificateFolder, testAuthority } from "../kit/certificates.ts";
import { goPeer } from "../kit/go.ts";
import { type CapturedEvent, dataOf, pingTimestamp, type StubData, startTyphaStub } from "../kit/typha-stub.ts";

const run = promisify(execFile);
const client = await goPeer("test/peers/typha/client");
const skip = client.missing ?? false;

const captures = {
  felix: "felix-modern-compressed",
  bgp: "bgp-modern-compressed",
  "tunnel-ip-allocation": "tunnel-modern-compressed",
  "node-status": "node-status-modern-compressed",
};

function served({ syncer, keys }: Agreement): StubData {
  const data = dataOf(readEvents(captures[syncer]));
  if (keys === "modern") return data;
  // Which legacy form a key has is the model's affair; here it only has to arrive.
  const toLegacy = (update: StubData["snapshot"][number]) => ({
    ...update,
    path: update.path.replace(
      /^\/calico\/v1\/policy\/[^/]+\/([^/]*)\/(.*)$/,
      "/calico/v1/policy/tier/default/policy/$1%2f$2",
    ),
  });
  return { snapshot: data.snapshot.map(toLegacy), changes: data.changes.map(toLegacy) };
}

const modern: Agreement = { syncer: "felix", compression: "snappy", keys: "modern" };
const variants: { name: string; flags: string[]; agreement: Agreement; zstd?: boolean }[] = [
  { name: "a modern client", flags: [], agreement: modern },
  { name: "a client up to v3.31", flags: ["--legacy-keys"], agreement: { ...modern, keys: "legacy" } },
  { name: "a client without compression", flags: ["--no-compression"], agreement: { ...modern, compression: "none" } },
  { name: "a client without decoder restart", flags: ["--no-restart"], agreement: { ...modern, compression: "none" } },
  {
    name: "a client of v3.20",
    flags: ["--no-restart", "--legacy-keys"],
    agreement: { syncer: "felix", compression: "none", keys: "legacy" },
  },
  { name: "a client without syncer type", flags: ["--type", ""], agreement: modern },
  { name: "a bgp client", flags: ["--type", "bgp"], agreement: { ...modern, syncer: "bgp" } },
  {
    name: "a tunnel-ip-allocation client",
    flags: ["--type", "tunnel-ip-allocation"],
    agreement: { ...modern, syncer: "tunnel-ip-allocation" },
  },
  { name: "a node-status client", flags: ["--type", "node-status"], agreement: { ...modern, syncer: "node-status" } },
  { name: "a client that knows zstd", flags: ["--zstd"], agreement: { ...modern, compression: "zstd" }, zstd: true },
  { name: "a client that knows zstd, of a server that does not", flags: ["--zstd"], agreement: modern },
];

for (const { name, flags, agreement, zstd = false } of variants) {
  for (const isTls of [false, true]) {
    test(`${name} prints what was served, ${isTls ? "over TLS" : "in the clear"}`, {
      skip,
      timeout: 300_000,
    }, async () => {
      using folder = certificateFolder(authority);
      const tls = tlsServerOptions(authority.serverMaterial(), tlsPolicy({}));
      await using stub = await startTyphaStub({ data: served, zstd, messageKvs: 7, ...(isTls ? { tls } : {}) });
      const { snapshot, changes } = served(agreement);
      const count = snapshot.length + changes.length;
      const identity = ["--ca", folder.client.caFile, "--cert", folder.client.certFile, "--key", folder.client.keyFile];
      const { events } = await runClient([
        ...(isTls ? [...identity, "--server-cn", "calico-typha"] : ["--plaintext"]),
        ...["--server", `127.0.0.1:${stub.port}`, ...flags],
        // The last message is the last change; where there is none, the status.
        ...(changes.length > 0 ? ["--until-kvs", `${count}`] : ["--until-in-sync"]),
      ]);
      await stub.clientsGone();
      deepEqual(stub.agreements, [agreement]);
      deepEqual(events, expectedEvents(agreement, { snapshot, changes }));
      if (changes.length > 0)
        deepEqual(
          stub.pongs.map(({ seconds, nanos }) => ({ seconds, nanos })),
          [instant],
        );
    });
  }
}

test("an empty snapshot is a snapshot", { skip, timeout: 300_000 }, async () => {
  for (const flags of [[], ["--no-restart"]]) {
    await using stub = await startTyphaStub({ data: () => ({ snapshot: [], changes: [] }) });
    const { events } = await runClient([
      "--plaintext",
      "--server",
      `127.0.0.1:${stub.port}`,
      "--until-in-sync",
      ...flags,
    ]);
    deepEqual(events.at(-1), { status: 2 });
    equal(events.filter((event) => event.kv !== undefined).length, 0);
  }
});

test("a snapshot of many chunks arrives whole", { skip, timeout: 300_000 }, async () => {
  const snapshot = Array.from({ length: 5000 }, (_, index) => ({
    path: `/calico/v1/config/key-${String(index).padStart(5, "0")}`,
    value: `value ${index} ${"x".repeat((index * 37) % 700)}`,
    revision: `${index}`,
    v3ResourceVersion: "",
    type: 2 as const,
  }));
  for (const flags of [[], ["--no-restart"], ["--zstd"]]) {
    await using stub = await startTyphaStub({ data: () => ({ snapshot, changes: [] }), zstd: true });
    const { events } = await runClient([
      "--plaintext",
      "--server",
      `127.0.0.1:${stub.port}`,
      "--until-in-sync",
      ...flags,
    ]);
    const kvs = events.flatMap(({ kv }) => (kv === undefined ? [] : [kv]));
    deepEqual(
      kvs.map(({ key, value, type }) => ({ key, value, type })),
      snapshot.map(({ path, value }) => ({ key: path, value, type: 1 })),
    );
  }
});

const refusals: { name: string; flags: string[]; why: string }[] = [
  { name: "an unknown syncer type", flags: ["--type", "nope"], why: "WIRE_UNKNOWN_SYNCER" },
  { name: "the number 42", flags: ["--bad-type"], why: "WIRE_UNEXPECTED_MESSAGE" },
  { name: "no message", flags: ["--nil-message"], why: "WIRE_NIL_MESSAGE" },
  { name: "an unexpected first message", flags: ["--first-message", "pong"], why: "WIRE_UNEXPECTED_MESSAGE" },
  { name: "a server's message", flags: ["--first-message", "kvs"], why: "WIRE_UNEXPECTED_MESSAGE" },
  { name: "garbage", flags: ["--garbage", "4096"], why: "" },
  { name: "a second hello", flags: ["--then-message", "hello"], why: "WIRE_UNEXPECTED_MESSAGE" },
  { name: "a pong in place of an ack", flags: ["--then-message", "pong"], why: "WIRE_UNEXPECTED_MESSAGE" },
  { name: "an ack in the stream", flags: ["--no-restart", "--then-message", "ack"], why: "WIRE_UNEXPECTED_MESSAGE" },
];
for (const { name, flags, why } of refusals) {
  test(`a Go client that sends ${name} is cut off`, { skip, timeout: 300_000 }, async () => {
    await using stub = await startTyphaStub({ data: served });
    const { stdout } = await runClient([
      "--plaintext",
      "--server",
      `127.0.0.1:${stub.port}`,
      "--expect-close",
      "9s",
      ...flags,
    ]);
    match(stdout, /"closed"/);
    // Random bytes break one rule or another.
    if (why !== "") deepEqual(stub.closed, [why]);
  });
}

const authority = testAuthority();
const instant = { seconds: pingTimestamp.seconds, nanos: pingTimestamp.nanos };

type Printed = CapturedEvent & { message?: string };

async function runClient(flags: string[]): Promise<{ events: Printed[]; stdout: string }> {
  if (client.path === undefined) throw new Error(client.missing);
  const { stdout } = await run(client.path, flags, { maxBuffer: 1 << 26 });
  return {
    events: stdout
      .split("\n")
      .filter((line) => line !== "")
      .map(simplify),
    stdout,
  };
}

// Connection ids and offsets are not what these tests are about.
function simplify(line: string): Printed {
  const event = JSON.parse(line) as Printed & { offset?: number; hello?: { serverConnID?: number } };
  delete event.offset;
  delete event.hello?.serverConnID;
  return event;
}

function readEvents(capture: string): CapturedEvent[] {
  const lines = readFileSync(`test/vectors/wire/${capture}.events.jsonl`, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as CapturedEvent);
}

function expectedEvents(agreement: Agreement, data: StubData): unknown[] {
  const { syncer: syncerType, compression: restart } = agreement;
  const print = (type?: number) => (update: StubData["snapshot"][number]) => {
    const { path: key, value = null, revision, v3ResourceVersion: v3rv } = update;
    return { kv: { key, value, revision, v3rv, ttl: 0, type: type ?? update.type } };
  };
  const first = { message: `enable compression: ${restart};send binary snapshot`, restart };
  const second = { message: "End of compressed snapshot.", restart };
  return [
    { hello: { supportsNodeResourceUpdates: true, syncerType, version: "stub" } },
    ...(restart === "none" ? [] : [first]),
    ...data.snapshot.map(print(1)),
    ...(restart === "none" ? [] : [second]),
    { status: 2 },
    ...data.changes.map(print()),
  ];
}
