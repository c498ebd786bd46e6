// Campaign: writers in several processes, and on several connections that are cut again and again, count in the same objects
// at once. No edit is lost, none is done twice, and a watch hears of each in order. Whole: npm run campaign:edits (100,000
// edits in each datastore, at the most ten minutes each).
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { type Datastore, follow, type ObjectId } from "../../src/calico/datastore/index.ts";
import { syncStatus } from "../../src/calico/model/index.ts";
import { isLong, say, sayWrong, size } from "../kit/campaign.ts";
import { countsOf, type EditsPlan, type EditsResult, editsKind, objectName } from "../kit/edits/count-edits.ts";
import { editWorlds } from "../kit/edits/edit-worlds.ts";
import { eventually } from "../kit/eventually.ts";
import { testSeed } from "../kit/random.ts";

const processes = size({ short: 2, long: 4 });
const writersEach = 4;
const objects = size({ short: 4, long: 40 });
const atMostMs = size({ short: 120_000, long: 600_000 });
const seed = testSeed();

for (const { name, missing, shortEdits, saysEveryWrite, open } of await editWorlds()) {
  const edits = size({ short: shortEdits, long: 100_000 });
  test(`${edits} edits at once in ${name} (seed ${seed})`, {
    skip: missing ?? false,
    timeout: 2 * 600_000,
  }, async () => {
    await using world = await open();
    await using watched = watchCounters(world.datastore);
    await watched.isReady;
    const startedMs = performance.now();
    const results = await world.write(plans(edits)).catch((error: unknown) => {
      sayWrong(name, error, {}, seed); // a writer has found another count than its own
      throw error;
    });
    const seconds = (performance.now() - startedMs) / 1000;
    const done = sum(results, "edits");
    ok(done > 0);
    try {
      if (!isLong) equal(done, edits);
      deepEqual(await storedCounts(world.datastore), talliesOf(results));
      await eventually(() => watched.total() === done, `the watch to hear of all ${done} edits`);
      deepEqual(watched.wentBack, []);
      if (saysEveryWrite) equal(watched.events(), done);
    } catch (error) {
      sayWrong(name, error, { edits: done }, seed);
      throw error;
    }
    const attempts = sum(results, "attempts");
    const uncertain = sum(results, "uncertain");
    const figures = { edits: done, objects, writers: processes * writersEach, attempts, uncertain };
    say(name, { ...figures, seconds, perSecond: done / seconds }, seed);
  });
}

function plans(edits: number): EditsPlan[][] {
  const share = edits / (processes * writersEach);
  return Array.from({ length: processes }, (_, process) =>
    Array.from({ length: writersEach }, (_, index) => ({
      writer: `w${process}-${index}`,
      edits: share,
      objects,
      seed: seed + process * writersEach + index,
      atMostMs,
    })),
  );
}

type Counts = { [object: string]: { [writer: string]: number } };

/** By what the writers say. */
function talliesOf(results: readonly EditsResult[]): Counts {
  const counts: Counts = {};
  for (const { writer, tally } of results) {
    for (const [object, count] of Object.entries(tally)) counts[object] = { ...counts[object], [writer]: count };
  }
  return sorted(counts);
}

/** By what is stored. */
async function storedCounts(datastore: Datastore): Promise<Counts> {
  const counts: Counts = {};
  for (let index = 0; index < objects; index++) {
    const object = await datastore.get(editsKind, { namespace: "", name: objectName(index) });
    if (object !== undefined) counts[object.id.name] = { ...countsOf(object) };
  }
  return sorted(counts);
}

function sorted(counts: Counts): Counts {
  const inOrder = <T>(record: { [name: string]: T }) =>
    Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
  return inOrder(Object.fromEntries(Object.entries(counts).map(([name, each]) => [name, inOrder(each)])));
}

function sum(results: readonly EditsResult[], field: "edits" | "attempts" | "uncertain"): number {
  return results.reduce((total, result) => total + result[field], 0);
}

/** Follows the counters: none may ever go back. */
function watchCounters(datastore: Datastore) {
  const stopping = new AbortController();
  const known = new Map<string, { readonly [writer: string]: number }>();
  const wentBack: string[] = [];
  const { promise: isReady, resolve: ready } = Promise.withResolvers<void>();
  let events = 0;
  const options = { clock: systemClock, log: silentLog, random: Math.random, signal: stopping.signal };
  const following = (async () => {
    for await (const batch of follow(datastore, editsKind, options)) {
      for (const event of batch) {
        if (event.is === "status" && event.status === syncStatus.inSync) ready();
        if (event.is === "delete") wentBack.push(`${nameOf(event.id)} was deleted`);
        if (event.is !== "set") continue;
        events += 1;
        const counts = countsOf(event.object);
        for (const [writer, count] of Object.entries(known.get(nameOf(event.object.id)) ?? {})) {
          const now = counts[writer] ?? 0;
          if (now < count) wentBack.push(`${nameOf(event.object.id)} ${writer} from ${count} to ${now}`);
        }
        known.set(nameOf(event.object.id), counts);
      }
    }
  })();
  return {
    isReady,
    wentBack,
    events: () => events,
    total: () =>
      [...known.values()].flatMap((counts) => Object.values(counts)).reduce((total, count) => total + count, 0),
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await following;
    },
  };
}

function nameOf({ name }: ObjectId): string {
  return name;
}
