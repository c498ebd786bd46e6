import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { type UpdateType, updateType } from "../../../calico/model/index.ts";
import type { Update } from "../update.ts";
import { KnownKeys } from "./known-keys.ts";

function told(known: KnownKeys, key: string, value: string | undefined, type?: UpdateType): Update[] {
  const usual = value === undefined ? updateType.deleted : updateType.new;
  const batch: Update[] = [];
  known.take({ key, value, revision: "1", v3ResourceVersion: "", ttlNanos: 0n, updateType: type ?? usual }, batch);
  return batch;
}

function settled(known: KnownKeys): Update[] {
  const batch: Update[] = [];
  known.settle(batch);
  return batch;
}

test("whether a key is new is told from what the consumer knows, whatever the server calls it", () => {
  const known = new KnownKeys(Math.random);
  const updates = [...told(known, "/a", "1", updateType.updated), ...told(known, "/a", "2", updateType.new)];
  deepEqual(
    updates.map((update) => update.is === "set" && update.isNew),
    [true, false],
  );
});

test("the deletion of a key the consumer never had is not passed on", () => {
  deepEqual(told(new KnownKeys(Math.random), "/a", undefined), []);
});

test("a key that lost its value without being deleted goes as invalid", () => {
  const known = new KnownKeys(Math.random);
  told(known, "/a", "1");
  deepEqual(told(known, "/a", undefined, updateType.updated), [{ is: "delete", path: "/a", why: "invalid" }]);
});

test("after a reconnection, keys the new server did not mention are deleted once it is in sync, and not before", () => {
  const known = new KnownKeys(Math.random);
  told(known, "/stays", "1");
  told(known, "/goes", "1");
  known.reconnected();
  told(known, "/stays", "1");
  deepEqual(settled(known), [{ is: "delete", path: "/goes", why: "gone" }]);
  deepEqual(settled(known), []);
});

test("a second reconnection before the first was in sync forgets nothing", () => {
  const known = new KnownKeys(Math.random);
  told(known, "/goes", "1");
  known.reconnected();
  told(known, "/new", "1");
  known.reconnected();
  deepEqual(
    settled(known).map((update) => update.is === "delete" && update.path),
    ["/goes", "/new"],
  );
});
