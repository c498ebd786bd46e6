import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { type KvUpdate, updateType } from "../../calico/model/index.ts";
import { encodeUpdate } from "./pieces.ts";
import { readPiece } from "./read-piece.ts";

const update: KvUpdate = {
  path: "/calico/v1/config/LogSeverity",
  value: "Info",
  revision: "1234",
  v3ResourceVersion: "",
  type: updateType.new,
};

const cases: { name: string; update: KvUpdate }[] = [
  { name: "a short value", update },
  { name: "a deletion", update: { ...update, value: undefined, revision: "", type: updateType.deleted } },
  { name: "a resource version of its own", update: { ...update, v3ResourceVersion: "99" } },
  { name: "no type", update: { ...update, type: updateType.unknown } },
  { name: "a value of 100 kB", update: { ...update, value: "x".repeat(100_000) } },
  { name: "text beyond ASCII", update: { ...update, path: "/calico/v1/config/größe", value: '{"a":"✓"}' } },
  { name: "text that begins with a byte order mark", update: { ...update, value: "\ufeffInfo", revision: "\ufeff1" } },
  { name: "a long revision", update: { ...update, revision: "r".repeat(300) } },
];

for (const { name, update } of cases) {
  test(`a piece says what was put in: ${name}`, () => {
    const { type: _, ...content } = update;
    deepEqual(readPiece(encodeUpdate(update)), content);
  });
}
