// Several workers on one datastore, their steps interleaved in any order, with writes that fail: no address is ever held twice, no
// address is ever without a handle, and when all is quiet the handles count exactly what the blocks hold.
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { IpamStore } from "../../../../test/kit/ipam-store.ts";
import { parseRange, rangeText } from "../../../base/lib/index.ts";
import { type Block, blockSpec, cidrOf, readBlock } from "../block.ts";
import { newBlock } from "../block-changes.ts";
import { readPool } from "../pools.ts";
import { type AssignRequest, autoAssign } from "./auto-assign.ts";
import { releaseHandle } from "./release-by-handle.ts";
import { type Answer, replay, type Step, StepFailed, type Steps, TooManyConflicts } from "./step.ts";

/** Two blocks of four addresses: enough for two nodes, so that blocks are taken over and borrowed from. */
const pools = [{ name: "tiny", spec: { cidr: "10.9.0.0/29", blockSize: 30 } }].flatMap((pool) => readPool(pool) ?? []);

function request(node: string, handle: string, change: Partial<AssignRequest> = {}): AssignRequest {
  return {
    owner: { type: "host", name: node },
    family: 4,
    count: 1,
    use: "Workload",
    handle,
    secondary: { node },
    requestedPools: [],
    nodeLabels: {},
    namespaceLabels: {},
    pools,
    reservations: [],
    settings: { strictAffinity: false, autoAllocateBlocks: true, maxBlocksPerHost: 0, cooldownSeconds: 0 },
    maxBlocks: 0,
    randomSeed: 1n,
    ...change,
  };
}

type Task = { readonly node: string; readonly count: number; readonly thenRelease: boolean; readonly strict: boolean };
type Outcome = { readonly addresses: string[]; readonly failed: boolean };

/** Takes addresses and, if told, gives them back. */
function* life(
  { node, count, thenRelease, strict }: Task,
  handle: string,
  outcome: (held: Outcome) => void,
): Steps<void> {
  const settings = { strictAffinity: strict, autoAllocateBlocks: true, maxBlocksPerHost: 0, cooldownSeconds: 0 };
  try {
    const done = yield* autoAssign(request(node, handle, { count, settings }));
    outcome({ addresses: done.addresses.map(({ address }) => rangeText(address)), failed: false });
    if (!thenRelease) return;
    outcome({ addresses: [], failed: false });
    yield* releaseHandle({ id: handle, cooldownSeconds: 0 });
  } catch (error) {
    if (!(error instanceof StepFailed || error instanceof TooManyConflicts)) throw error;
    outcome({ addresses: [], failed: true });
  }
}

const anyTask = fc.record<Task>({
  node: fc.constantFrom("n1", "n2", "n3"),
  count: fc.integer({ min: 1, max: 3 }),
  thenRelease: fc.boolean(),
  strict: fc.boolean(),
});
/** Whose turn it is, how much later, and whether its write fails: before it happened, or after. */
const anyTurn = fc.record({
  who: fc.nat({ max: 4 }),
  secondsLater: fc.oneof({ weight: 10, arbitrary: fc.constant(0) }, fc.constant(61)),
  fault: fc.oneof({ weight: 30, arbitrary: fc.constant("none") }, fc.constantFrom("before", "after")),
});

/** Both blocks have stood empty for long, so that a third node takes one over just as its owner uses it. */
function emptyBlocks(): IpamStore {
  const store = new IpamStore();
  for (const [node, cidr] of [
    ["n1", "10.9.0.0/30"],
    ["n2", "10.9.0.4/30"],
  ] as const) {
    const range = parseRange(cidr);
    if (range === undefined) throw new Error(`${cidr} is no range`);
    const owner = { type: "host", name: node } as const;
    const nowNs = store.nowNs - 3_600_000_000_000n;
    store.put({ kind: "block", value: newBlock({ range, owner: `host:${node}`, nowNs }) });
    store.put({ kind: "affinity", value: { owner, cidr, state: "confirmed", isDeleted: false } });
  }
  return store;
}

type Turn = { readonly who: number; readonly secondsLater: number; readonly fault: string };

function play(tasks: readonly Task[], turns: readonly Turn[], withFaults: boolean) {
  const store = emptyBlocks();
  const outcomes = tasks.map((): Outcome => ({ addresses: [], failed: false }));
  const workers = tasks.map((task, at) => {
    const steps = life(task, `h${at}`, (outcome) => {
      outcomes[at] = outcome;
    });
    return { steps, next: steps.next() };
  });
  let turn = 0;
  for (let left = 20_000; workers.some(({ next }) => !next.done); left -= 1, turn += 1) {
    ok(left > 0, "the workers do not come to an end");
    const { who, fault, secondsLater } = turns[turn] ?? { who: turn, fault: "none", secondsLater: 0 };
    store.nowNs += BigInt(secondsLater) * 1_000_000_000n;
    const waiting = workers.filter(({ next }) => !next.done);
    const worker = waiting[who % waiting.length];
    if (worker === undefined || worker.next.done) continue;
    const answer = answered(store, worker.next.value, withFaults ? fault : "none");
    worker.next = worker.steps.next(answer);
    checkAlways(store, outcomes);
  }
  return { store, outcomes };
}

function answered(store: IpamStore, step: Step, fault: string): Answer {
  const isWrite = step.do === "create" || step.do === "update" || step.do === "delete";
  if (!isWrite || fault === "none") return store.answer(step);
  const error = new Error("timeout");
  if (fault === "before") return { is: "failed", error, wasWritten: "perhaps" };
  store.answer(step);
  return { is: "failed", error, wasWritten: "perhaps" };
}

function blocksOf(store: IpamStore): Block[] {
  return store.objects().flatMap((object) => (object.kind === "block" ? [object.value] : []));
}

function held(block: Block): { address: string; handle: string }[] {
  return block.allocations.flatMap((index, ordinal) => {
    const range = parseRange(cidrOf(block));
    if (index === null || range === undefined) return [];
    const address = rangeText({ ...range, first: range.first + BigInt(ordinal), prefixLength: 32 });
    return [{ address, handle: block.attributes[index]?.handle_id ?? "" }];
  });
}

function counted(store: IpamStore): Map<string, number> {
  return new Map(
    store.objects().flatMap((object) => {
      if (object.kind !== "handle") return [];
      return [...object.value.blocks].map(([cidr, count]): [string, number] => [`${object.value.id} ${cidr}`, count]);
    }),
  );
}

function allocatedBy(store: IpamStore): Map<string, number> {
  const counts = new Map<string, number>();
  for (const block of blocksOf(store)) {
    for (const { handle } of held(block)) {
      const key = `${handle} ${cidrOf(block)}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return counts;
}

function checkAlways(store: IpamStore, outcomes: readonly Outcome[]): void {
  for (const block of blocksOf(store)) {
    equal(readBlock(blockSpec(block)).is, "block");
    equal(block.unallocated.length + held(block).length, block.allocations.length);
    equal(block.sequenceNumbers.size, held(block).length);
  }
  const inUse = outcomes.flatMap(({ addresses }) => addresses);
  equal(new Set(inUse).size, inUse.length, "an address was given twice");
  const owners = new Map(
    blocksOf(store).flatMap((block) => held(block).map(({ address, handle }) => [address, handle])),
  );
  for (const [at, { addresses }] of outcomes.entries()) {
    for (const address of addresses) equal(owners.get(address), `h${at}`, "an address that was given is not held");
  }
  const handles = counted(store);
  for (const [key, count] of allocatedBy(store))
    ok((handles.get(key) ?? 0) >= count, `${key} has addresses without handle`);
}

function sorted(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
}

const anyTasks = fc.array(anyTask, { minLength: 2, maxLength: 5 });
const anyTurns = fc.array(anyTurn, { minLength: 1, maxLength: 120 });

test("any interleaving without faults: at the end handles count what is held, and each block has its owner's affinity", () => {
  let takeOversLost = 0; // its owner finishes the claim when it next looks
  fc.assert(
    fc.property(anyTasks, anyTurns, (tasks, turns) => {
      const { store, outcomes } = play(tasks, turns, false);
      equal(
        outcomes.some(({ failed }) => failed),
        false,
      );
      deepEqual(sorted(counted(store)), sorted(allocatedBy(store)));
      const claims = store.objects().flatMap((object) => {
        if (object.kind !== "affinity") return [];
        if (object.value.state === "pendingDeletion") takeOversLost += 1;
        return [`host:${object.value.owner.name} ${object.value.cidr}`];
      });
      for (const block of blocksOf(store))
        ok(claims.includes(`${block.owner} ${cidrOf(block)}`), `${cidrOf(block)} has no affinity`);
    }),
    { numRuns: 400 },
  );
  ok(takeOversLost > 0, "no owner was ever faster than a node that takes its block over");
});

test("any interleaving with failed writes: no address twice, none without handle", () => {
  fc.assert(
    fc.property(anyTasks, anyTurns, (tasks, turns) => {
      play(tasks, turns, true);
    }),
    { numRuns: 400 },
  );
});

test("a worker stands where its answers have brought it", () => {
  const store = new IpamStore();
  const steps = autoAssign(request("n1", "h"));
  const answers: Answer[] = [];
  for (let next = steps.next(); !next.done; ) {
    const again = replay(() => autoAssign(request("n1", "h")), answers);
    deepEqual(again, next);
    const answer = store.answer(next.value);
    answers.push(answer);
    next = steps.next(answer);
  }
  ok(answers.length > 5);
});
