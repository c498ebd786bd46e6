import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { recordLog } from "../../../../test/kit/recorded-log.ts";
import type { Kind } from "../../kinds/index.ts";
import { DatastoreError } from "../errors.ts";
import { createMemoryDatastore } from "../memory/memory-datastore.ts";
import { follow } from "./follow.ts";
import { KindLog } from "./kind-log.ts";

const kinds: Kind[] = ["Tier", "Pod", "Node"];
const gone = new DatastoreError("unavailable", "connect ECONNREFUSED");
const forbidden = (kind: Kind) => new DatastoreError("forbidden", "403", { missingRule: `- ${kind}\n` });

function setUp() {
  const clock = new FakeClock();
  const { log, lines } = recordLog();
  const stop = new AbortController();
  return { clock, lines, log, stop, kindLog: new KindLog({ log, clock, signal: stop.signal }) };
}

type Setup = ReturnType<typeof setUp>;
const cases: { name: string; act(setup: Setup): void | Promise<void>; says: string[] }[] = [
  {
    name: "kinds that fail for one reason are named in one line",
    act: ({ kindLog }) => {
      for (const kind of kinds) kindLog.failed(kind, "watch", gone);
    },
    says: ["warn cannot watch Node, Pod, Tier"],
  },
  {
    name: "kinds that fail one after the other are waited for",
    async act({ kindLog, clock }) {
      for (const kind of kinds) {
        kindLog.failed(kind, "watch", gone);
        await clock.advance(1900);
      }
    },
    says: ["warn cannot watch Node, Pod, Tier"],
  },
  {
    name: "a failure that lasts is said once",
    async act({ kindLog, clock }) {
      for (let second = 0; second < 60; second++) {
        kindLog.failed("Pod", "list", gone);
        await clock.advance(1000);
      }
    },
    says: ["warn cannot list Pod"],
  },
  {
    name: "another reason is another line",
    act: ({ kindLog }) => {
      kindLog.failed("Pod", "watch", gone);
      kindLog.failed("Node", "watch", new DatastoreError("unauthorized", "401"));
      kindLog.failed("Tier", "list", gone);
    },
    says: ["warn cannot watch Pod", "warn cannot watch Node", "warn cannot list Tier"],
  },
  {
    name: "missing rights are one line: an API server that has just started refuses everything for a moment",
    act: ({ kindLog }) => {
      for (const kind of kinds) kindLog.failed(kind, "list", forbidden(kind));
    },
    says: ["warn cannot list Node, Pod, Tier"],
  },
  {
    name: "what belongs to the day is no warning",
    act: ({ kindLog }) => kindLog.failed("Pod", "watch", new DatastoreError("expired", "410")),
    says: ["info cannot watch Pod"],
  },
  {
    name: "kinds that come back are named in one line, too, and what never failed is not",
    async act({ kindLog, clock }) {
      for (const kind of kinds) kindLog.failed(kind, "watch", gone);
      await clock.advance(5000);
      for (const kind of [...kinds, "Namespace"] as const) kindLog.recovered(kind, "watch");
    },
    says: ["warn cannot watch Node, Pod, Tier", "info can watch Node, Pod, Tier again"],
  },
  {
    name: "a list that works does not end the trouble with the watch",
    act: ({ kindLog }) => {
      kindLog.failed("Pod", "watch", gone);
      kindLog.recovered("Pod", "list");
    },
    says: ["warn cannot watch Pod"],
  },
];
for (const { name, act, says } of cases) {
  test(`log of kinds: ${name}`, async () => {
    const setup = setUp();
    await act(setup);
    await setup.clock.advance(10_000);
    deepEqual(
      setup.lines.map(({ level, message }) => `${level} ${message}`),
      says,
    );
  });
}

test("log of kinds: a line that keeps growing goes out after ten seconds", async () => {
  const { kindLog, clock, lines } = setUp();
  const many: Kind[] = ["Tier", "Pod", "Node", "Namespace", "Service", "IPPool", "BGPPeer", "HostEndpoint"];
  for (const kind of many) {
    kindLog.failed(kind, "watch", gone);
    await clock.advance(1500);
  }
  equal(lines[0]?.message.split(", ").length, 7);
});

test("log of kinds: what was gathered when everything stops is still said", async () => {
  const { kindLog, clock, lines, stop } = setUp();
  kindLog.failed("Pod", "list", gone);
  stop.abort(new Error("the end"));
  await clock.settle();
  deepEqual(lines, [
    {
      level: "warn",
      message: "cannot list Pod",
      fields: { code: "unavailable", error: "connect ECONNREFUSED" },
    },
  ]);
});

test("log of kinds: the rules of all missing rights are one list to paste", async () => {
  const { kindLog, clock, lines } = setUp();
  for (const kind of kinds) kindLog.failed(kind, "list", forbidden(kind));
  await clock.advance(10_000);
  deepEqual(lines[0]?.fields, { code: "forbidden", error: "403", missingRule: "- Tier\n- Pod\n- Node\n" });
});

test("followers that share a log say together that the datastore went away, and that it is back", async () => {
  const { clock, lines, log, stop, kindLog } = setUp();
  const datastore = createMemoryDatastore({ clock });
  const following = kinds.map(async (kind) => {
    const { signal } = stop;
    for await (const _ of follow(datastore, kind, { clock, log, kindLog, random: () => 0, signal }));
  });
  await clock.advance(2000);
  datastore.setIntercept(() => {
    throw gone;
  });
  datastore.endWatches();
  await clock.advance(60_000);
  deepEqual(
    lines.map(({ message }) => message),
    ["cannot watch Node, Pod, Tier"],
  );
  datastore.setIntercept(undefined);
  for (const kind of kinds) await datastore.put(kind, { metadata: { name: "a", namespace: "b" } });
  await clock.advance(60_000);
  deepEqual(
    lines.map(({ message }) => message),
    ["cannot watch Node, Pod, Tier", "can watch Node, Pod, Tier again"],
  );
  stop.abort();
  await Promise.all(following);
});
