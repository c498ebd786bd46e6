import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { updateType } from "../model/index.ts";
import { KnownKeys } from "./known-keys.ts";

function sent(key: string, value: string | undefined) {
  const type = value === undefined ? updateType.deleted : updateType.new;
  return { key, value, revision: "1", v3ResourceVersion: "", ttlNanos: 0n, updateType: type };
}

test("whether a key is new is told from what the consumer knows, whatever the server calls it", () => {
  const known = new KnownKeys();
  const first = known.take(sent("/a", "1"));
  const second = known.take(sent("/a", "2"));
  deepEqual([first?.is === "set" && first.isNew, second?.is === "set" && second.isNew], [true, false]);
});

test("the deletion of a key the consumer never had is not passed on", () => {
  equal(new KnownKeys().take(sent("/a", undefined)), undefined);
});

test("after a reconnection, keys the new server did not mention are deleted once it is in sync, and not before", () => {
  const known = new KnownKeys();
  known.take(sent("/stays", "1"));
  known.take(sent("/goes", "1"));
  known.reconnected();
  known.take(sent("/stays", "1"));
  deepEqual(known.settle(), [{ is: "delete", path: "/goes" }]);
  deepEqual(known.settle(), []);
});

test("a second reconnection before the first was in sync forgets nothing", () => {
  const known = new KnownKeys();
  known.take(sent("/goes", "1"));
  known.reconnected();
  known.take(sent("/new", "1"));
  known.reconnected();
  deepEqual(
    known.settle().map((update) => update.is === "delete" && update.path),
    ["/goes", "/new"],
  );
});
