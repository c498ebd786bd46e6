// Our reading and writing of etcd's messages beside protobuf.js's, and on bytes that are none.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { MethodDefinition } from "@grpc/proto-loader";
import { etcdServices } from "../../../../test/kit/etcd-messages.ts";
import { ProtobufError } from "../../../base/grpc/index.ts";
import { methods } from "./messages.ts";

function theirs(service: string, name: string): MethodDefinition<object, object> {
  const found = (etcdServices[`etcdserverpb.${service}`] as Record<string, MethodDefinition<object, object>>)[name];
  if (found === undefined) throw new Error(`no ${service} ${name}`);
  return found;
}

const key = Buffer.from("/calico/a");
const value = Buffer.from('{"a":"ü"}');
const revisions = ["0", "1", "127", "128", "9007199254740993", "9223372036854775807", "-1"];

const requests: { name: string; ours: Buffer; method: MethodDefinition<object, object>; means: object }[] = [
  {
    name: "a range",
    ours: methods.range.encode({ key, rangeEnd: Buffer.from("b"), limit: 500, revision: "9007199254740993" }),
    method: theirs("KV", "Range"),
    means: { key, rangeEnd: Buffer.from("b"), limit: "500", revision: "9007199254740993", countOnly: false },
  },
  {
    name: "a count",
    ours: methods.range.encode({ key, countOnly: true }),
    method: theirs("KV", "Range"),
    means: { key, rangeEnd: Buffer.alloc(0), limit: "0", revision: "0", countOnly: true },
  },
  {
    name: "a transaction",
    ours: methods.txn.encode({
      compare: [
        { target: "VERSION", result: "GREATER", key, version: "0" },
        { target: "MOD", result: "EQUAL", key, modRevision: "9223372036854775807" },
      ],
      success: [{ requestPut: { key, value } }, { requestDeleteRange: { key } }],
      failure: [{ requestRange: { key } }],
    }),
    method: theirs("KV", "Txn"),
    means: {
      compare: [
        { target: "VERSION", result: "GREATER", key, version: "0" },
        { target: "MOD", result: "EQUAL", key, modRevision: "9223372036854775807" },
      ],
      success: [{ requestPut: { key, value } }, { requestDeleteRange: { key } }],
      failure: [{ requestRange: { key, rangeEnd: Buffer.alloc(0), limit: "0", revision: "0", countOnly: false } }],
    },
  },
  {
    name: "a watch",
    ours: methods.watch.encode({
      createRequest: { key, rangeEnd: key, startRevision: "300", progressNotify: true, fragment: true },
    }),
    method: theirs("Watch", "Watch"),
    means: {
      createRequest: { key, rangeEnd: key, startRevision: "300", progressNotify: true, fragment: true, prevKv: false },
    },
  },
  {
    name: "a watch that asks what was before",
    ours: methods.watch.encode({
      createRequest: { key, rangeEnd: key, startRevision: "300", progressNotify: true, fragment: true, prevKv: true },
    }),
    method: theirs("Watch", "Watch"),
    means: {
      createRequest: { key, rangeEnd: key, startRevision: "300", progressNotify: true, fragment: true, prevKv: true },
    },
  },
  {
    name: "a question for progress",
    ours: methods.watch.encode({ progressRequest: {} }),
    method: theirs("Watch", "Watch"),
    means: { progressRequest: {} },
  },
  {
    name: "a user and a password",
    ours: methods.authenticate.encode({ name: "typhä", password: "" }),
    method: theirs("Auth", "Authenticate"),
    means: { name: "typhä", password: "" },
  },
];
for (const { name, ours, method, means } of requests) {
  test(`${name} is written as protobuf.js reads it`, () => deepEqual(plain(method.requestDeserialize(ours)), means));
}

const pair = { key, createRevision: "4", modRevision: "5", value };
const answers: { name: string; bytes: Buffer; read: (bytes: Buffer) => unknown; means: unknown }[] = [
  ...revisions.map((revision) => ({
    name: `revision ${revision}`,
    bytes: theirs("KV", "Range").responseSerialize({ header: { revision }, kvs: [pair, pair], more: true }),
    read: methods.range.decode,
    means: { header: { revision }, kvs: [pair, pair], more: true },
  })),
  {
    name: "a range without anything",
    bytes: Buffer.alloc(0),
    read: methods.range.decode,
    means: { header: null, kvs: [], more: false },
  },
  {
    name: "a transaction's answer",
    bytes: theirs("KV", "Txn").responseSerialize({
      header: { revision: "7" },
      succeeded: true,
      responses: [{ responsePut: { header: { revision: "7" } } }, { responseRange: { kvs: [pair] } }],
    }),
    read: methods.txn.decode,
    means: {
      header: { revision: "7" },
      succeeded: true,
      responses: [{}, { responseRange: { header: null, kvs: [pair], more: false } }],
    },
  },
  {
    name: "a watch's answer",
    bytes: theirs("Watch", "Watch").responseSerialize({
      header: { revision: "7" },
      created: true,
      canceled: true,
      compactRevision: "40",
      cancelReason: "größer",
      fragment: true,
      events: [
        { type: "PUT", kv: pair },
        { type: "DELETE", kv: { key, modRevision: "6" }, prevKv: pair },
      ],
    }),
    read: methods.watch.decode,
    means: {
      header: { revision: "7" },
      created: true,
      canceled: true,
      compactRevision: "40",
      cancelReason: "größer",
      fragment: true,
      events: [
        { type: "PUT", kv: pair },
        {
          type: "DELETE",
          kv: { key, createRevision: "0", modRevision: "6", value: Buffer.alloc(0) },
          before: pair,
        },
      ],
    },
  },
  {
    name: "a token",
    bytes: theirs("Auth", "Authenticate").responseSerialize({ header: { revision: "7" }, token: "abc.1" }),
    read: methods.authenticate.decode,
    means: { token: "abc.1" },
  },
];
for (const { name, bytes, read, means } of answers) {
  test(`${name} is read as protobuf.js wrote it`, () => deepEqual(read(bytes), means));
}

test("a message cut off anywhere, or with a byte changed, is read as another or refused, never worse", () => {
  const whole = answers.find(({ name }) => name === "a watch's answer")?.bytes ?? Buffer.alloc(0);
  for (let at = 0; at < whole.length; at++) {
    readOrRefuse(whole.subarray(0, at));
    for (const byte of [0, 1, 127, 128, 255]) {
      const changed = Buffer.from(whole);
      changed[at] = byte;
      readOrRefuse(changed);
    }
  }
});

function readOrRefuse(bytes: Buffer): void {
  try {
    methods.watch.decode(bytes);
  } catch (error) {
    equal(error instanceof ProtobufError, true, String(error));
  }
}

/** Without prototypes, and without the names of the choices that protobuf.js adds. */
function plain(message: unknown): unknown {
  if (Array.isArray(message)) return message.map(plain);
  if (typeof message !== "object" || message === null || Buffer.isBuffer(message)) return message;
  const fields = Object.entries(message).filter(([name]) => name !== "choice");
  return Object.fromEntries(fields.map(([name, value]) => [name, plain(value)]));
}
