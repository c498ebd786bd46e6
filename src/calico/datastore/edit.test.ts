import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/kit/fake-clock.ts";
import { type Clock, systemClock } from "../../base/lib/index.ts";
import type { Revision, StoredObject } from "./datastore.ts";
import { type ChangeObject, type Decision, type Editable, edit } from "./edit.ts";
import { DatastoreError, type DatastoreErrorCode } from "./errors.ts";
import { createMemoryDatastore, type MemoryDatastore } from "./memory/memory-datastore.ts";

const id = { namespace: "", name: "a" };
const tier = (order: number) => ({ metadata: { name: "a" }, spec: { order } });
const orderOf = (object: StoredObject | undefined) => Number(Object(Object(object?.value).spec).order ?? 0);
const addOne: ChangeObject = (current) => ({ value: tier(orderOf(current) + 1) });
/** Waits as little as it can. */
const hurried: Clock = { ...clockOf(systemClock), sleep: (_ms, signal) => systemClock.sleep(0, signal) };

function clockOf(clock: Clock): Clock {
  return {
    monotonicMs: () => clock.monotonicMs(),
    wallMs: () => clock.wallMs(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  };
}

type Trouble = {
  /** Taken one for each write: nothing goes wrong, it is refused, or it is done and its answer lost. */
  readonly writes: readonly ("done" | DatastoreErrorCode | "lost")[];
  /** Called before a write. */
  readonly before?: (memory: MemoryDatastore, attempt: number) => Promise<unknown>;
};

async function troubled({ writes, before }: Trouble): Promise<{ memory: MemoryDatastore; datastore: Editable }> {
  const memory = createMemoryDatastore();
  let count = 0;
  const write = async <T>(does: () => Promise<T>): Promise<T> => {
    const outcome = writes[count] ?? "done";
    count += 1;
    await before?.(memory, count);
    if (outcome !== "done" && outcome !== "lost") throw new DatastoreError(outcome, `made ${outcome}`);
    const done = await does();
    if (outcome === "lost") throw new DatastoreError("unavailable", "the answer got lost");
    return done;
  };
  const datastore: Editable = {
    get: (...call) => memory.get(...call),
    create: (...call) => write(() => memory.create(...call)),
    update: (...call) => write(() => memory.update(...call)),
    updateStatus: (...call) => write(() => memory.updateStatus(...call)),
    delete: (...call) => write(() => memory.delete(...call)),
  };
  return { memory, datastore };
}

const put = (memory: MemoryDatastore, order: number) => memory.put("Tier", tier(order));

const races: { name: string; trouble: Trouble; starts?: number; attempts: number; ends: number }[] = [
  { name: "an object that is not there is created", trouble: { writes: [] }, attempts: 1, ends: 1 },
  { name: "one that is there is updated", trouble: { writes: [] }, starts: 5, attempts: 1, ends: 6 },
  {
    name: "who was overtaken reads again and adds to what it finds",
    trouble: { writes: [], before: async (memory, attempt) => attempt <= 2 && put(memory, attempt * 10) },
    starts: 5,
    attempts: 3,
    ends: 21,
  },
  {
    name: "what somebody else created meanwhile is updated",
    trouble: { writes: [], before: async (memory, attempt) => attempt === 1 && put(memory, 7) },
    attempts: 2,
    ends: 8,
  },
  {
    name: "what somebody else deleted meanwhile is created",
    trouble: { writes: [], before: async (memory, attempt) => attempt === 1 && memory.delete("Tier", id) },
    starts: 5,
    attempts: 2,
    ends: 1,
  },
  { name: "a server that is busy is asked again", trouble: { writes: ["rate-limited"] }, attempts: 2, ends: 1 },
  { name: "a write that never arrived is sent again", trouble: { writes: ["unavailable"] }, attempts: 2, ends: 1 },
];
for (const { name, trouble, starts, attempts, ends } of races) {
  test(`edit: ${name}`, async () => {
    const { memory, datastore } = await troubled(trouble);
    if (starts !== undefined) await put(memory, starts);
    const edited = await edit(datastore, "Tier", id, addOne, { clock: hurried });
    deepEqual([edited.attempts, orderOf(edited.object)], [attempts, ends]);
    equal(orderOf(await memory.get("Tier", id)), ends);
  });
}

test("edit: a change that was done and whose answer got lost is not done twice, where it can be told", async () => {
  const { memory, datastore } = await troubled({ writes: ["lost"] });
  await put(memory, 5);
  const asked: boolean[] = [];
  const toSix: ChangeObject = (current, { mayBeDone }): Decision => {
    asked.push(mayBeDone);
    return mayBeDone && orderOf(current) === 6 ? "nothing" : { value: tier(orderOf(current) + 1) };
  };
  const edited = await edit(datastore, "Tier", id, toSix, { clock: hurried });
  deepEqual([edited.did, orderOf(await memory.get("Tier", id)), asked], ["nothing", 6, [false, true]]);
});

test("edit: after a lost answer a datastore that cannot be read is asked again", async () => {
  const { memory, datastore } = await troubled({ writes: ["lost"] });
  let reads = 0;
  const get: Editable["get"] = (...call) => {
    reads += 1;
    if (reads === 2 || reads === 3) throw new DatastoreError("unavailable", "away");
    return memory.get(...call);
  };
  const onlyOnce: ChangeObject = (current) => (current === undefined ? { value: tier(1) } : "nothing");
  const edited = await edit({ ...datastore, get }, "Tier", id, onlyOnce, { clock: hurried });
  deepEqual([edited.did, edited.attempts, reads], ["nothing", 4, 4]);
});

const failures: { name: string; trouble: Trouble; change?: ChangeObject; fails: object }[] = [
  {
    name: "a missing right",
    trouble: { writes: ["forbidden"] },
    fails: { code: "forbidden", message: "made forbidden" },
  },
  { name: "a value that is refused", trouble: { writes: ["invalid"] }, fails: { code: "invalid" } },
  { name: "a namespace that is not there", trouble: { writes: ["not-found"] }, fails: { code: "not-found" } },
  { name: "a kind that is not there", trouble: { writes: ["no-such-kind"] }, fails: { code: "no-such-kind" } },
  {
    name: "what the change itself throws, whatever it is",
    trouble: { writes: [] },
    change: () => {
      throw new DatastoreError("conflict", "I do not want to");
    },
    fails: { message: "I do not want to" },
  },
];
for (const { name, trouble, change = addOne, fails } of failures) {
  test(`edit: ${name} ends it at once`, async () => {
    const { datastore } = await troubled(trouble);
    await rejects(edit(datastore, "Tier", id, change, { clock: hurried }), fails);
  });
}

test("edit: a datastore that cannot be read is the caller's business", async () => {
  const { datastore } = await troubled({ writes: [] });
  const get = () => Promise.reject(new DatastoreError("unavailable", "away"));
  await rejects(edit({ ...datastore, get }, "Tier", id, addOne, { clock: hurried }), { message: "away" });
});

test("edit: after so many attempts it says what it met", async () => {
  const { memory, datastore } = await troubled({
    writes: ["done", "unavailable"],
    before: (now, attempt) => put(now, attempt * 100),
  });
  await put(memory, 1);
  const trying = edit(datastore, "Tier", id, addOne, { clock: hurried, mostAttempts: 4 });
  await rejects(trying, (error: DatastoreError) => {
    equal(error.code, "conflict");
    match(error.message, /^Tier a could not be changed in 4 attempts: 3 times conflict, once unavailable;/);
    match(error.message, /may have been done\. Last: Tier a is at revision/);
    match(error.next ?? "", /who else keeps writing/);
    return true;
  });
});

test("edit: who has less patience with silence than with other writers says so", async () => {
  const { memory, datastore } = await troubled({ writes: Array.from({ length: 10 }, () => "unavailable") });
  await put(memory, 1);
  const trying = edit(datastore, "Tier", id, addOne, { clock: hurried, mostUnanswered: 3 });
  await rejects(trying, { code: "unavailable", message: /could not be changed in 3 attempts: 3 times unavailable/ });
});

test("edit: waits grow, are spread from nothing to the whole, and keep to what the server asked for", async () => {
  const clock = new FakeClock();
  const waits: number[] = [];
  const watched: Clock = {
    ...clockOf(clock),
    sleep: async (ms) => {
      waits.push(ms);
    },
  };
  const writes = Array<DatastoreErrorCode>(9).fill("conflict");
  const { datastore } = await troubled({ writes });
  const update = (error: DatastoreError): Editable => ({
    ...datastore,
    get: async () => ({ id, revision: "1" as Revision, value: tier(1) }),
    update: () => Promise.reject(error),
  });
  const options = { clock: watched, mostAttempts: 10, random: () => 0.5 };
  await rejects(edit(update(new DatastoreError("conflict", "x")), "Tier", id, addOne, options));
  deepEqual(waits, [2, 4, 8, 16, 32, 64, 128, 250, 250]);
  waits.length = 0;
  const busy = new DatastoreError("rate-limited", "x", { retryAfterMs: 3000 });
  await rejects(edit(update(busy), "Tier", id, addOne, { ...options, mostAttempts: 2 }));
  deepEqual(waits, [3002]);
});

test("edit: an abort ends the wait", async () => {
  const { datastore } = await troubled({ writes: Array<DatastoreErrorCode>(100).fill("exists") });
  const stopping = new AbortController();
  const clock = new FakeClock();
  const editing = edit(datastore, "Tier", id, addOne, { clock, signal: stopping.signal });
  stopping.abort(new Error("enough"));
  await rejects(editing, /enough/);
});

test("edit: deletes at the revision that was read, and nothing where nothing is", async () => {
  const { memory, datastore } = await troubled({
    writes: [],
    before: async (now, attempt) => attempt === 1 && put(now, 9),
  });
  await put(memory, 1);
  const seen: number[] = [];
  const gone: ChangeObject = (current) => {
    seen.push(orderOf(current));
    return "delete";
  };
  equal((await edit(datastore, "Tier", id, gone, { clock: hurried })).did, "delete");
  equal((await edit(datastore, "Tier", id, gone, { clock: hurried })).did, "nothing");
  deepEqual(seen, [1, 9, 0]);
});

test("edit: a status is written by itself, of an object that is there", async () => {
  const { memory, datastore } = await troubled({ writes: [] });
  const ready: ChangeObject = () => ({ value: { metadata: { name: "a" }, spec: {}, status: { ready: true } } });
  await rejects(edit(datastore, "Tier", id, ready, { part: "status" }), { code: "invalid" });
  await put(memory, 3);
  const { object } = await edit(datastore, "Tier", id, ready, { part: "status" });
  deepEqual([orderOf(object), Object(object?.value).status], [3, { ready: true }]);
});

test("edit: a hundred at once all get through", async () => {
  const memory = createMemoryDatastore();
  const edits = await Promise.all(Array.from({ length: 100 }, () => edit(memory, "Tier", id, addOne)));
  equal(orderOf(await memory.get("Tier", id)), 100);
  ok(edits.some(({ attempts }) => attempts > 1));
});
