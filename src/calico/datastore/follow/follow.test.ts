// The state machine as traces: what a follower asks of a scripted datastore, and what it says, in one sequence, with
// the seconds at which time passed. "wait", "resync" and "in-sync" are the kind's statuses.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { type ScriptLine, scriptedDatastore } from "../../../../test/kit/scripted-datastore.ts";
import { silentLog } from "../../../base/lib/index.ts";
import type { Kind } from "../../kinds/index.ts";
import { follow } from "./follow.ts";
import type { FollowEvent } from "./follow-event.ts";

type Case = {
  name: string;
  kind?: Kind;
  script: ScriptLine[];
  /** How long to look. */
  seconds: number;
  trace: string[];
};

const statusNames = ["wait", "resync", "in-sync"];

async function traceOf({ kind = "Tier", script, seconds }: Omit<Case, "name" | "trace">) {
  const clock = new FakeClock();
  const trace: string[] = [];
  const origins: string[] = [];
  const note = (line: string) => trace.push(`${clock.monotonicMs() / 1000} ${line}`);
  const controller = new AbortController();
  const follower = follow(scriptedDatastore(script, note), kind, {
    clock,
    log: silentLog,
    random: () => 0,
    signal: controller.signal,
  });
  const done = (async () => {
    for await (const events of follower) {
      note(events.map(eventText).join(", "));
      for (const event of events) if (event.is === "set") origins.push(`${event.object.id.name} ${event.origin}`);
    }
  })();
  await clock.advance(seconds * 1000);
  const report = { ...follower.report };
  controller.abort(new Error("test over"));
  await done;
  return { trace, origins, report, state: follower.report.state };
}

function eventText(event: FollowEvent): string {
  if (event.is === "status") return statusNames[event.status] ?? "?";
  return event.is === "set" ? `set ${event.object.id.name}@${event.object.revision}` : `delete ${event.id.name}`;
}

const refused: ScriptLine = { list: [], fails: "unavailable" };
const start: ScriptLine = { list: ["a@3", "b@4"], at: "10" };
const started = ["0 List", "0 resync, set a@3, set b@4", "0 in-sync", "0.5 Watch 10"];

const cases: Case[] = [
  { name: "a list, then a watch from its revision", script: [start], seconds: 5, trace: started },
  {
    name: "an empty kind goes through resync to in sync",
    script: [{ list: [], at: "10" }],
    seconds: 1,
    trace: ["0 List", "0 resync", "0 in-sync", "0.5 Watch 10"],
  },
  {
    name: "pages are announced as they come, deletions wait for the last",
    script: [{ pages: [["a@1"], ["b@2"]], at: "10" }],
    seconds: 0,
    trace: ["0 List", "0 resync, set a@1", "0 set b@2", "0 in-sync"],
  },
  {
    name: "watch events move the revision; the same revision again says nothing",
    script: [start, { watch: ["c@11", "c@11", "a@12", "-b@13", "-nobody@14", "=20"] }],
    seconds: 1.5,
    trace: [...started, "0.5 set c@11", "0.5 set a@12", "0.5 delete b", "1 Watch 20"],
  },
  {
    name: "a closed stream is watched again from the last revision, without a status",
    script: [start, { watch: ["c@11"] }, { watch: ["=15"] }],
    seconds: 2,
    trace: [...started, "0.5 set c@11", "1 Watch 11", "1.5 Watch 15"],
  },
  {
    name: "a server that closes every watch at once is asked less and less often",
    script: [start, { watch: [] }, { watch: [] }, { watch: [] }],
    seconds: 4,
    trace: [...started, "1 Watch 10", "2 Watch 10", "4 Watch 10"],
  },
  {
    name: "expired: list again, say the difference, delete what is gone",
    script: [start, { watch: [], fails: "expired" }, { list: ["b@4", "d@29"], at: "30" }],
    seconds: 1.5,
    trace: [...started, "1 List", "1 resync, set d@29", "1 delete a, in-sync", "1.5 Watch 30"],
  },
  {
    name: "expired and nothing lost: clients hear nothing (the original says resync and in sync)",
    script: [start, { watch: [], fails: "expired" }, { list: ["a@3", "b@4"], at: "30" }],
    seconds: 1.5,
    trace: [...started, "1 List", "1.5 Watch 30"],
  },
  {
    name: "expired and only a deletion: resync, deletion, in sync",
    script: [start, { watch: [], fails: "expired" }, { list: ["a@3"], at: "30" }],
    seconds: 1,
    trace: [...started, "1 List", "1 resync, delete b, in-sync"],
  },
  {
    name: "a revision the server has not reached lists again",
    script: [start, { watch: [], fails: "too-large-revision" }, { list: ["a@3", "b@4"], at: "5" }],
    seconds: 1.5,
    trace: [...started, "1 List", "1.5 Watch 5"],
  },
  {
    name: "a list whose continuation expired starts again, and deletes nothing before it is complete",
    script: [
      start,
      { watch: [], fails: "expired" },
      { pages: [["a@9"]], fails: "expired" },
      { list: ["a@9", "b@4"], at: "30" },
    ],
    seconds: 2.5,
    trace: [...started, "1 List", "1 resync, set a@9", "2 List", "2 in-sync", "2.5 Watch 30"],
  },
  {
    name: "five errors at one revision list again",
    script: [
      start,
      ...Array.from({ length: 5 }, (): ScriptLine => ({ watch: [], fails: "invalid" })),
      { list: ["a@3", "b@4"], at: "10" },
    ],
    seconds: 13.5,
    trace: [...started, "1 Watch 10", "2 Watch 10", "4 Watch 10", "8 Watch 10", "13 List", "13.5 Watch 10"],
  },
  {
    name: "a word from the server starts the count of errors again",
    script: [
      start,
      ...Array.from({ length: 4 }, (): ScriptLine => ({ watch: [], fails: "invalid" })),
      { watch: ["=11"], fails: "invalid" },
      { watch: [], fails: "invalid" },
    ],
    seconds: 9.5,
    trace: [...started, "1 Watch 10", "2 Watch 10", "4 Watch 10", "8 Watch 10", "8.5 Watch 11", "9.5 Watch 11"],
  },
  {
    name: "nobody answers the watch: it is tried again at the same revision, however often",
    script: [start, ...Array.from({ length: 9 }, (): ScriptLine => ({ watch: [], fails: "unavailable" }))],
    seconds: 33,
    trace: [...started, ...[1, 2, 4, 8, 13, 18, 23, 28, 33].map((second) => `${second} Watch 10`)],
  },
  {
    name: "a server that asks for time gets it",
    script: [start, { watch: [], fails: "rate-limited", with: { retryAfterMs: 7000, status: 429 } }],
    seconds: 8,
    trace: [...started, "7.5 Watch 10"],
  },
  {
    name: "a failing first list waits, longer each time, and says nothing",
    script: [refused, refused, refused, { list: [], at: "1" }],
    seconds: 7,
    trace: ["0 List", "1 List", "3 List", "7 List", "7 resync", "7 in-sync"],
  },
  {
    name: "a failing relist says resync once, and in sync when it works",
    script: [start, { watch: [], fails: "expired" }, refused, refused, { list: ["a@3", "b@4"], at: "30" }],
    seconds: 4,
    trace: [...started, "1 List", "1 resync", "2 List", "4 List", "4 in-sync"],
  },
  {
    name: "a missing custom resource definition is empty and looked for every 5 s, without a status",
    script: [
      { list: [], fails: "no-such-kind" },
      { list: [], fails: "no-such-kind" },
      { list: ["a@1"], at: "9" },
    ],
    seconds: 10.5,
    trace: ["0 List", "0 resync, in-sync", "5 List", "10 List", "10 set a@1", "10.5 Watch 9"],
  },
  {
    name: "a custom resource definition that goes takes its objects along",
    script: [start, { watch: [], fails: "no-such-kind" }, { list: [], fails: "no-such-kind" }],
    seconds: 6,
    trace: [...started, "5.5 List", "5.5 delete a, delete b"],
  },
  {
    name: "an answer without a revision is polled",
    script: [{ list: [] }, { list: ["a@1"] }],
    seconds: 5,
    trace: ["0 List", "0 resync", "0 in-sync", "5 List", "5 set a@1"],
  },
  {
    name: "an answer without a page is a failure, not an empty kind",
    script: [start, { watch: [], fails: "expired" }, { pages: [] }, { list: ["a@3", "b@4"], at: "30" }],
    seconds: 2,
    trace: [...started, "1 List", "1 resync", "2 List", "2 in-sync"],
  },
  {
    name: "a missing API is in sync and looked for every 30 minutes",
    kind: "ClusterNetworkPolicy",
    script: [
      { list: [], fails: "no-such-kind" },
      { list: [], fails: "no-such-kind" },
      { list: ["a@1"], at: "9" },
    ],
    seconds: 3601,
    trace: ["0 List", "0 resync, in-sync", "1800 List", "3600 List", "3600 set a@1", "3600.5 Watch 9"],
  },
  {
    name: "an API that vanishes keeps what was announced until it is back",
    kind: "ClusterNetworkPolicy",
    script: [
      start,
      { watch: [], fails: "expired" },
      { list: [], fails: "no-such-kind" },
      { list: ["b@4", "c@40"], at: "41" },
    ],
    seconds: 1801,
    trace: [...started, "1 List", "1801 List", "1801 set c@40", "1801 delete a"],
  },
  {
    name: "a kind that cannot be watched is listed every 5 s",
    script: [
      start,
      { watch: [], fails: "unsupported" },
      { list: ["a@3"], at: "12" },
      { watch: [], fails: "unsupported" },
    ],
    seconds: 11,
    trace: [...started, "5.5 List", "5.5 delete b", "6 Watch 12", "11 List"],
  },
  {
    name: "a forbidden optional kind is empty, in sync, and tried again soon: an API server may just have started",
    kind: "EndpointSlice",
    script: [
      { list: [], fails: "forbidden" },
      { list: [], fails: "forbidden" },
      { list: ["a@1"], at: "9" },
    ],
    seconds: 4,
    trace: ["0 List", "0 resync, in-sync", "1 List", "3 List", "3 set a@1", "3.5 Watch 9"],
  },
  {
    name: "a forbidden optional kind is tried less and less often, down to every 5 minutes",
    kind: "EndpointSlice",
    script: Array.from({ length: 12 }, (): ScriptLine => ({ list: [], fails: "forbidden" })),
    seconds: 1200,
    trace: [
      "0 List",
      "0 resync, in-sync",
      ...[1, 3, 7, 15, 31, 63, 127, 255, 511, 811, 1111].map((at) => `${at} List`),
    ],
  },
  {
    name: "a forbidden kind that carries enforcement never says in sync",
    script: Array.from({ length: 4 }, (): ScriptLine => ({ list: [], fails: "forbidden" })),
    seconds: 11,
    trace: ["0 List", "1 List", "3 List", "7 List"],
  },
  {
    name: "a watch that is not allowed takes in sync back until one is",
    script: [start, { watch: [], fails: "forbidden" }, { watch: ["=12"], stays: "open" }],
    seconds: 3,
    trace: [...started, "0.5 resync", "1.5 Watch 10", "1.5 in-sync"],
  },
  {
    name: "an optional kind whose watch is not allowed stays in sync",
    kind: "EndpointSlice",
    script: [start, { watch: [], fails: "forbidden" }, { watch: ["=12"], stays: "open" }],
    seconds: 3,
    trace: [...started, "1.5 Watch 10"],
  },
  {
    name: "a silent watch is dialled again after 150 s",
    script: [start, { watch: ["=11"], stays: "open" }, { watch: ["=12"], stays: "open" }],
    seconds: 302,
    trace: [...started, "151 Watch 11", "301.5 Watch 12"],
  },
  {
    name: "a second watch without a word is given up for a list: the revision may be from a future that was taken back",
    script: [start, { watch: [], stays: "open" }, { watch: [], stays: "open" }, { list: ["a@2"], at: "5" }],
    seconds: 303,
    trace: [...started, "151 Watch 10", "302 List", "302 resync, set a@2", "302 delete b, in-sync", "302.5 Watch 5"],
  },
];

for (const { name, trace, ...says } of cases) {
  test(`follow: ${name}`, async () => deepEqual((await traceOf(says)).trace, trace));
}

test("follow: after 10 minutes of outage the kind waits for the datastore, and says no object meanwhile", async () => {
  const outage = Array.from({ length: 123 }, (): ScriptLine => ({ list: [], fails: "unavailable" }));
  const script: ScriptLine[] = [start, { watch: [], fails: "expired" }, ...outage, { list: ["a@3", "c@5"], at: "30" }];
  const { trace } = await traceOf({ script, seconds: 720 });
  const said = trace.slice(started.length).filter((line) => !line.endsWith("List"));
  deepEqual(said.slice(0, 2), ["1 resync", "608 wait"]);
  deepEqual(
    said
      .slice(2)
      .map((line) => line.replace(/^\S+ /, ""))
      .slice(0, 2),
    ["resync, set c@5", "delete b, in-sync"],
  );
});

test("follow: an outage at the watch ends in wait for datastore too, and is then listed", async () => {
  const outage = Array.from({ length: 124 }, (): ScriptLine => ({ watch: [], fails: "unavailable" }));
  const { trace } = await traceOf({ script: [start, ...outage, { list: ["a@3", "b@4"], at: "30" }], seconds: 700 });
  deepEqual(
    trace.slice(started.length).filter((line) => !line.includes("Watch")),
    ["608 wait", "608 List", "608 resync", "608 in-sync"],
  );
});

test("follow: an object says whether a list or a watch brought it, also where lists come while in sync", async () => {
  const script: ScriptLine[] = [{ list: [] }, { list: ["a@1"], at: "9" }, { watch: ["b@10", "a@11"] }];
  const { origins } = await traceOf({ script, seconds: 6 });
  deepEqual(origins, ["a list", "b watch", "a watch"]);
});

test("follow: the report says where it is, how often it listed, and what went wrong last", async () => {
  const script: ScriptLine[] = [start, { watch: ["c@11"], fails: "expired" }, { list: ["a@3"], at: "30" }];
  const { report, state } = await traceOf({ script, seconds: 2 });
  deepEqual(report, {
    kind: "Tier",
    state: "watching",
    status: 2,
    objects: 1,
    revision: "30",
    lastEventAtMs: 1_000_500,
    listsCompleted: 2,
    relists: 1,
    watchesOpened: 2,
    silences: 0,
    errors: 1,
    lastError: { code: "expired", message: "scripted expired", atMs: 1_000_500 },
    missingRule: undefined,
  });
  deepEqual(state, "stopped");
});

test("follow: a forbidden kind's report names the rule to grant", async () => {
  const rule = '- apiGroups: ["x"]\n';
  const { report } = await traceOf({ script: [{ fails: "forbidden", with: { missingRule: rule } }], seconds: 0.5 });
  deepEqual([report.state, report.missingRule], ["forbidden", rule]);
});

test("follow: a jump of the wall clock moves nothing", async () => {
  const clock = new FakeClock();
  const controller = new AbortController();
  const { signal } = controller;
  const datastore = scriptedDatastore([start, { watch: ["=11"], stays: "open" }]);
  const follower = follow(datastore, "Tier", { clock, log: silentLog, random: () => 0, signal });
  const done = (async () => {
    for await (const _ of follower);
  })();
  await clock.advance(1000);
  clock.jumpWall(3_600_000);
  await clock.advance(1000);
  clock.jumpWall(-7_200_000);
  await clock.advance(1000);
  deepEqual(datastore.calls, ["List", "Watch 10"]);
  controller.abort();
  await done;
});
