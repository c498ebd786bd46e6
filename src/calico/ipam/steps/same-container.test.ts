// Calls for one container at the same time: ADDs that mean the same address, and DELs. However their steps interleave, every address has
// a handle that leads to it, so that the last DEL leaves nothing; and an ADD repeated after another has ended gets its address.
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { IpamStore } from "../../../../test/kit/ipam-store.ts";
import { parseRange, rangeText } from "../../../base/lib/index.ts";
import { cidrOf } from "../block.ts";
import { readPool } from "../pools.ts";
import { assignAddress } from "./assign-named.ts";
import { type AssignRequest, autoAssign, ensureBlock } from "./auto-assign.ts";
import { releaseIps } from "./release-addresses.ts";
import { releaseHandle } from "./release-by-handle.ts";
import { type Answer, type Step, StepFailed, type Steps, TooManyConflicts } from "./step.ts";

const pools = [{ name: "tiny", spec: { cidr: "10.9.0.0/29", blockSize: 30 } }].flatMap((pool) => readPool(pool) ?? []);
const settings = { strictAffinity: false, autoAllocateBlocks: true, maxBlocksPerHost: 0, cooldownSeconds: 0 };
const request: AssignRequest = {
  owner: { type: "host", name: "n1" },
  family: 4,
  count: 1,
  use: "Workload",
  handle: "h",
  secondary: { node: "n1" },
  requestedPools: [],
  nodeLabels: undefined,
  namespaceLabels: {},
  pools,
  reservations: [],
  settings,
  maxBlocks: 0,
  randomSeed: 1n,
  isSame: ({ secondary }) => secondary?.node === "n1",
};

function* add(): Steps<string[]> {
  return (yield* autoAssign(request)).addresses.map(({ address }) => rangeText(address));
}

function* addNamed(): Steps<string[]> {
  const address = parseRange("10.9.0.4");
  const done = address === undefined ? undefined : yield* assignAddress({ ...request, address });
  return done?.is === "assigned" ? [rangeText(done.address)] : [];
}

function* del(): Steps<string[]> {
  yield* releaseHandle({ id: "h", cooldownSeconds: 0 });
  return [];
}

/** What an ADD for two families does when the second one fails. Safe beside a DEL only where datastores tell objects apart. */
function* addAndUndo(): Steps<string[]> {
  const { addresses } = yield* autoAssign(request);
  const taken = addresses.filter(({ wasHeld }) => wasHeld !== true);
  yield* releaseIps(
    taken.map(({ address }) => ({ address, handle: "h" })),
    { pools, cooldownSeconds: 0 },
  );
  return [];
}

const starts = { add, named: addNamed, undo: addAndUndo, del };
type Call = keyof typeof starts;

/** So many steps of one worker, so that whole calls fit between two steps of another. A crash: it takes no further step. */
type Turn = { readonly who: number; readonly steps: number; readonly fault: "none" | "before" | "after" | "crash" };

function play(calls: readonly Call[], turns: readonly Turn[], tellsWhenMade: boolean): IpamStore {
  const store = new IpamStore({ tellsWhenMade });
  store.run(ensureBlock(request));
  const workers = calls.map((call) => {
    const steps = starts[call]();
    return { steps, next: steps.next() as IteratorResult<Step, string[] | undefined> };
  });
  for (let turn = 0; workers.some(({ next }) => !next.done); turn += 1) {
    ok(turn < 20_000, "the workers do not come to an end");
    const { who, fault, steps } = turns[turn] ?? { who: turn, fault: "none", steps: 1 };
    const waiting = workers.filter(({ next }) => !next.done);
    const worker = waiting[who % waiting.length];
    if (worker !== undefined && fault === "crash") worker.next = { done: true, value: undefined };
    for (let left = steps; worker !== undefined && !worker.next.done && left > 0; left -= 1) {
      worker.next = goOn(worker.steps, answered(store, worker.next.value, left === 1 ? fault : "none"));
      everyAddressHasItsHandle(store);
    }
  }
  return store;
}

function goOn(steps: Steps<string[]>, answer: Answer): IteratorResult<Step, string[] | undefined> {
  try {
    return steps.next(answer);
  } catch (error) {
    if (!(error instanceof StepFailed || error instanceof TooManyConflicts)) throw error;
    return { done: true, value: undefined };
  }
}

function answered(store: IpamStore, step: Step, fault: Turn["fault"]): Answer {
  const isWrite = step.do === "create" || step.do === "update" || step.do === "delete";
  if (!isWrite || fault === "none") return store.answer(step);
  if (fault === "after") store.answer(step);
  return { is: "failed", error: new Error("timeout"), wasWritten: "perhaps" };
}

function heldIn(store: IpamStore): Map<string, number> {
  const blocks = store.objects().flatMap((object) => (object.kind === "block" ? [object.value] : []));
  return new Map(
    blocks.map((block) => [cidrOf(block), block.allocations.filter((index) => index !== null).length] as const),
  );
}

function everyAddressHasItsHandle(store: IpamStore): void {
  const [handle] = store.objects().flatMap((object) => (object.kind === "handle" ? [object.value] : []));
  for (const [cidr, count] of heldIn(store)) {
    ok(count === 0 || (handle?.blocks.get(cidr) ?? 0) > 0, `${cidr} holds ${count}, and no handle leads there`);
  }
}

const anyCalls = fc.array(fc.constantFrom<Call>("add", "add", "named", "undo", "del", "del"), {
  minLength: 2,
  maxLength: 4,
});
const anyTurns = (faults: readonly Turn["fault"][]) =>
  fc.array(
    fc.record<Turn>({
      who: fc.nat({ max: 3 }),
      steps: fc.integer({ min: 1, max: 7 }),
      fault: fc.constantFrom(...faults),
    }),
    {
      minLength: 1,
      maxLength: 80,
    },
  );
const rarely = (fault: Turn["fault"]): Turn["fault"][] => [...new Array<"none">(20).fill("none"), fault];

for (const [name, faults] of [
  ["without faults", rarely("none")],
  ["with writes that fail, whether they happened or not", [...rarely("before"), ...rarely("after")]],
  ["with workers that crash", rarely("crash")],
] as const)
  test(`calls for one container at once, ${name}: every address has its handle, and the last DEL leaves nothing`, () => {
    fc.assert(
      fc.property(anyCalls, anyTurns(faults), fc.boolean(), (calls, turns, mayTell) => {
        const store = play(calls, turns, mayTell || calls.includes("undo"));
        store.run(del());
        deepEqual(
          [...heldIn(store).values()].filter((count) => count > 0),
          [],
        );
        deepEqual(
          store.objects().filter(({ kind }) => kind === "handle"),
          [],
        );
      }),
      { numRuns: 2000 },
    );
  });

test("one ADD after the other gets the same address", () => {
  const store = new IpamStore();
  const first = store.run(add());
  equal(first.length, 1);
  deepEqual(store.run(add()), first);
  deepEqual([...heldIn(store).values()], [1]);
});

const others = [
  { name: "its pool is disabled", tiny: { cidr: "10.9.0.0/29", blockSize: 30, disabled: true }, requestedPools: [] },
  { name: "others are asked for", tiny: { cidr: "10.9.0.0/29", blockSize: 30 }, requestedPools: ["10.8.0.0/29"] },
];
for (const { name, tiny, requestedPools } of others)
  test(`one ADD after the other gets another address where ${name}, and DEL gives both back`, () => {
    const store = new IpamStore();
    equal(store.run(add()).length, 1);
    const now = { tiny, other: { cidr: "10.8.0.0/29", blockSize: 30 } };
    const changed = Object.entries(now).flatMap(([pool, spec]) => readPool({ name: pool, spec }) ?? []);
    const { addresses } = store.run(autoAssign({ ...request, pools: changed, requestedPools }));
    deepEqual(
      addresses.map(({ address, wasHeld = false }) => [rangeText(address).startsWith("10.8.0."), wasHeld]),
      [[true, false]],
    );
    deepEqual(store.run(autoAssign({ ...request, pools: changed, requestedPools })).addresses[0]?.wasHeld, true);
    store.run(del());
    deepEqual(
      [...heldIn(store).values()].filter((count) => count > 0),
      [],
    );
  });
