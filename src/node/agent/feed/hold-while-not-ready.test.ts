import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { FeedEvent, FeedSource } from "./feed.ts";
import { holdWhileNotReady } from "./hold-while-not-ready.ts";

const ready = (value: string): FeedEvent => ({ is: "set", path: "/calico/v1/Ready", value });
const set = (path: string): FeedEvent => ({ is: "set", path, value: "1" });
const gone = (path: string): FeedEvent => ({ is: "delete", path });
const inSync: FeedEvent = { is: "in sync" };

/** What comes through of streams, each of which is one opening. */
async function through(...openings: (readonly FeedEvent[])[][]) {
  let count = 0;
  const source: FeedSource = {
    sets: ["felix"],
    async *open() {
      for (const events of openings[count++] ?? []) yield { set: "felix", events };
    },
  };
  const told: string[] = [];
  for await (const { events } of holdWhileNotReady(source).open(new AbortController().signal, new Set(source.sets)))
    for (const event of events) told.push("path" in event ? `${event.is} ${event.path}` : event.is);
  return { told, openings: count };
}

test("a datastore that is ready, or says nothing, is let through", async () => {
  const { told, openings } = await through([
    [ready("true"), set("/a")],
    [gone("/b"), inSync],
  ]);
  deepEqual(told, ["set /calico/v1/Ready", "set /a", "delete /b", "in sync"]);
  equal(openings, 1);
});

test("while it is not ready nothing comes through; then everything is told anew, and what has gone is deleted", async () => {
  const { told, openings } = await through(
    [
      [ready("true"), set("/a"), set("/b"), set("/c"), inSync],
      [ready("false"), gone("/a")],
      [gone("/b"), gone("/c"), set("/d"), inSync],
      [set("/e"), ready("true"), set("/never")],
    ],
    [[ready("true"), set("/b"), set("/d")], [inSync]],
  );
  deepEqual(told, [
    ...["set /calico/v1/Ready", "set /a", "set /b", "set /c", "in sync"],
    "cut off",
    ...["set /calico/v1/Ready", "set /b", "set /d", "delete /a", "delete /c", "in sync"],
  ]);
  equal(openings, 2);
});

test("one that is not ready from the beginning is never in sync; that its flag goes releases it", async () => {
  const { told } = await through(
    [[set("/a"), ready("false"), set("/b"), inSync], [gone("/calico/v1/Ready")]],
    [[set("/a"), inSync]],
  );
  deepEqual(told, ["set /a", "cut off", "set /a", "in sync"]);
});
