// A datastore that answers late: its error says so, in time, and whatever else it has is still there.
import { equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { createMemoryDatastore, type Datastore } from "../../calico/datastore/index.ts";
import { withTimeLimit } from "./limited-datastore.ts";

const id = { namespace: "", name: "n1" };

test("a request that is not answered ends with an error that says what was asked, and how long was waited", async () => {
  const memory = createMemoryDatastore();
  const silent: Datastore = {
    ...memory,
    flavour: memory.flavour,
    get: (_kind, _id, options) =>
      new Promise((_, reject) => options?.signal?.addEventListener("abort", () => reject(options.signal?.reason))),
  };
  await rejects(withTimeLimit(silent, 20).get("Node", id), /the datastore did not answer \(get Node\) within 0\.02 s/);
  const stop = new AbortController();
  const asked = withTimeLimit(silent, 60_000).get("Node", id, { signal: stop.signal });
  stop.abort(new Error("enough"));
  await rejects(asked, /enough/);
});

test("answers and errors of one that answers are its own", async () => {
  const memory = createMemoryDatastore();
  const datastore = withTimeLimit(Object.assign(memory, { more: () => "there" }));
  await datastore.create("Node", { apiVersion: "v1", kind: "Node", metadata: { name: "n1" } });
  equal((await datastore.get("Node", id))?.id.name, "n1");
  await rejects(datastore.create("Node", { apiVersion: "v1", kind: "Node", metadata: { name: "n1" } }), {
    code: "exists",
  });
  equal((datastore as unknown as { more: () => string }).more(), "there"); // added above
});
