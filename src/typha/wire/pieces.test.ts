// The hand-written encoder of key/values against the schema's own, and messages made of its pieces.
import { deepEqual, equal, notEqual } from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "../../../test/kit/vector-bytes.ts";
import { encoder } from "../../base/gob/index.ts";
import type { KvUpdate } from "../../calico/model/index.ts";
import { serverPreamble } from "./frame.ts";
import { kvsMessage, typedKvsMessage } from "./kvs-message.ts";
import { MessageReader } from "./message-reader.ts";
import { messageNames, type SerializedUpdate } from "./messages.ts";
import { encodeUpdate, readPiece, valueEndOf } from "./pieces.ts";
import { serializedUpdate, serverEnvelope } from "./schema.ts";

const plain: KvUpdate = { path: "/calico/v1/config/x", value: "on", revision: "12", v3ResourceVersion: "", type: 2 };
const cases: { name: string; update: KvUpdate }[] = [
  { name: "a plain value", update: plain },
  { name: "a v3 resource", update: { ...plain, v3ResourceVersion: "12", type: 1 } },
  { name: "a deletion", update: { ...plain, value: undefined, revision: "", type: 3 } },
  { name: "a deletion with a revision", update: { ...plain, value: undefined, revision: "77/88", type: 3 } },
  { name: "an empty value, which nobody can tell from none", update: { ...plain, value: "" } },
  { name: "an unknown update type, which is left out", update: { ...plain, type: 0 } },
  { name: "an unknown update type behind a v3 version", update: { ...plain, v3ResourceVersion: "5", type: 0 } },
  { name: "no key", update: { ...plain, path: "" } },
  { name: "text beyond ASCII in the value", update: { ...plain, value: '{"name":"größe 漢字 🦊"}' } },
  { name: "text beyond ASCII in the key", update: { ...plain, path: "/calico/ü", value: undefined } },
  { name: "text beyond ASCII in the revision", update: { ...plain, revision: "é" } },
  { name: "text that begins with a byte order mark", update: { ...plain, value: "\ufeffInfo", revision: "\ufeff1" } },
  { name: "half a surrogate pair", update: { ...plain, value: "x\ud83dy" } },
  ...[127, 128, 255, 256, 65_535, 65_536, 70_000].flatMap((length) => [
    { name: `a value of ${length} bytes`, update: { ...plain, value: "v".repeat(length) } },
    { name: `a key of ${length} bytes`, update: { ...plain, path: `/${"k".repeat(length - 1)}` } },
    { name: `a revision of ${length} bytes`, update: { ...plain, revision: "7".repeat(length) } },
  ]),
];

const reference = encoder(serverEnvelope);

function wireValue(update: KvUpdate) {
  return {
    Key: update.path,
    Value: update.value ?? "",
    Revision: { type: "string" as const, value: update.revision },
    V3ResourceVersion: update.v3ResourceVersion,
    TTL: 0n,
    UpdateType: update.type,
  };
}

for (const { name, update } of cases) {
  test(`a piece has the bytes that the schema gives it: ${name}`, () => {
    equal(toHex(encodeUpdate(update)), toHex(reference.element(serializedUpdate, wireValue(update))));
  });
}

for (const { name, update } of cases) {
  test(`a piece says what was put in: ${name}`, () => {
    const { type: _, ...content } = update;
    // An empty value is none, and half a surrogate pair has no bytes of its own.
    deepEqual(readPiece(encodeUpdate(update)), { ...content, value: update.value?.toWellFormed() || undefined });
  });
}

for (const { name, update } of cases.filter(({ update }) => update.path !== "")) {
  test(`key and value end where revisions begin: ${name}`, () => {
    const piece = encodeUpdate(update);
    const end = valueEndOf(piece);
    const other = encodeUpdate({ ...update, revision: "other", v3ResourceVersion: "other", type: 1 });
    deepEqual(piece.subarray(0, end), other.subarray(0, end));
    equal(piece[end], update.value ? 1 : 2); // how far the revision's field is from the last one
  });
}

test("a message gives its pieces the types that are beside them", () => {
  const typed = cases
    .filter(({ update }) => update.type !== 0)
    .map(({ update }, index) => ({ ...update, type: index % 2 ? 2 : 3 }) as const);
  const pieces = typed.map((update) => ({ bytes: encodeUpdate({ ...update, type: 1 }), type: update.type }));
  const message = typedKvsMessage(pieces, (size) => new Uint8Array(size).fill(0xff));
  equal(toHex(message), toHex(kvsMessage(typed.map(encodeUpdate))));
});

const lists: { name: string; updates: KvUpdate[] }[] = [
  { name: "none", updates: [] },
  { name: "one", updates: [plain] },
  { name: "all cases", updates: cases.map(({ update }) => update) },
  { name: "300", updates: Array.from({ length: 300 }, (_, index) => ({ ...plain, path: `/k/${index}` })) },
];
for (const { name, updates } of lists) {
  test(`a message of pieces has the bytes that the schema gives it: ${name}`, () => {
    const whole = reference.message({ Message: { type: messageNames.kvs, value: { KVs: updates.map(wireValue) } } });
    equal(toHex(kvsMessage(updates.map(encodeUpdate))), toHex(whole));
  });
}

test("pieces come back as they went in", () => {
  const reader = new MessageReader({ maxMessageBytes: 1 << 24 });
  reader.feed(serverPreamble);
  reader.feed(kvsMessage(cases.map(({ update }) => encodeUpdate(update))));
  const read = reader.next();
  notEqual(read.is, "error");
  const kvs = read.is === "message" && read.message.is === "kvs" ? read.message.kvs : [];
  deepEqual(
    kvs,
    cases.map(({ update }): SerializedUpdate => {
      // Half a surrogate pair has no bytes of its own.
      const value = update.value ? update.value.toWellFormed() : undefined;
      const { path: key, revision, v3ResourceVersion, type } = update;
      return { key, value, revision, v3ResourceVersion, ttlNanos: 0n, updateType: type };
    }),
  );
});
