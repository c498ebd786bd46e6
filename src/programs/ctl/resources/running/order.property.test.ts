// Many objects at the same time end as if they had come one after the other, whatever the datastore's answers take; and what
// a dry run says is what then happens. Over random inputs in which much depends on the order: the same names again, tiers
// and their policies, pools that overlap, filters and their peers.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import type { JsonRecord } from "../../../../base/lib/index.ts";
import { createMemoryDatastore, type MemoryDatastore } from "../../../../calico/datastore/index.ts";
import { type ApiKind, openResources, v3Version } from "../../../../calico/resources/index.ts";
import { pretendToApply } from "../changes/pretend.ts";
import { reasonOf } from "../said/reasons.ts";
import { nameOf, type Target } from "../targets/targets.ts";
import { perform, type WritingVerb } from "./perform.ts";
import type { Outcome } from "./run-all.ts";
import { forEachTarget } from "./run-verb.ts";

const signal = new AbortController().signal;
const options = { skipsExisting: false, skipsMissing: false };
const kinds: readonly ApiKind[] = ["Tier", "GlobalNetworkPolicy", "IPPool", "GlobalNetworkSet", "BGPFilter", "BGPPeer"];

function target(kind: ApiKind, name: string, spec: JsonRecord): Target {
  const object = { kind, apiVersion: v3Version, metadata: { name }, spec } as const;
  return { kind, id: { namespace: "", name }, isEverywhere: false, object };
}

const tiers = fc.constantFrom("red", "blue");
const one: fc.Arbitrary<Target> = fc.oneof(
  fc.tuple(tiers, fc.nat({ max: 9 })).map(([name, order]) => target("Tier", name, { order })),
  fc
    .tuple(tiers, fc.constantFrom("a", "b"), fc.nat({ max: 3 }))
    .map(([tier, name, order]) => target("GlobalNetworkPolicy", `${tier}.${name}`, { tier, order, selector: "all()" })),
  fc
    .tuple(
      fc.constantFrom("p", "q", "r"),
      fc.constantFrom("10.0.0.0/16", "10.0.0.0/17", "10.1.0.0/16", "10.0.0.0/8", "x"),
    )
    .map(([name, cidr]) => target("IPPool", name, { cidr })),
  fc
    .tuple(fc.constantFrom("s", "t"), fc.nat({ max: 3 }))
    .map(([name, n]) => target("GlobalNetworkSet", name, { nets: [`10.${n}.0.0/16`] })),
  fc.constantFrom("f", "g").map((name) => target("BGPFilter", name, {})),
  fc
    .tuple(fc.constantFrom("x", "y"), fc.subarray(["f", "g"]))
    .map(([name, filters]) => target("BGPPeer", name, { peerIP: "10.0.0.1", asNumber: 1, filters })),
);
const input = fc.array(one, { maxLength: 25 });

function say<T>(targets: readonly Target[], outcomes: readonly Outcome<T>[]): string[] {
  return outcomes.map((outcome, at) => {
    const name = targets[at] === undefined ? "" : nameOf(targets[at]);
    return `${name}: ${outcome.is === "failed" ? reasonOf(outcome.error) : outcome.is}`;
  });
}

/** Each answer takes as many turns as the next of these numbers says. */
function slowly(memory: MemoryDatastore, delays: readonly number[]): void {
  let at = 0;
  memory.setIntercept(async () => {
    for (let left = delays[at++ % delays.length] ?? 0; left > 0; left--) await turn();
  });
}

async function writeAll(
  verb: WritingVerb,
  targets: readonly Target[],
  how: { atMost: number; delays: readonly number[]; memory?: MemoryDatastore },
) {
  const memory = how.memory ?? createMemoryDatastore();
  slowly(memory, how.delays);
  const resources = openResources(memory);
  const outcomes = await forEachTarget(verb, targets, {
    signal,
    atMost: how.atMost,
    doing: (each, late) => perform(verb, each, { resources, call: { signal: late }, options }),
  });
  memory.setIntercept(undefined);
  return { memory, said: say(targets, outcomes), stored: await contentOf(memory) };
}

async function contentOf(memory: MemoryDatastore): Promise<unknown> {
  const resources = openResources(memory);
  const found: unknown[] = [];
  for (const kind of kinds) {
    for (const { metadata, spec } of (await resources.list(kind)).items) found.push([kind, metadata.name, spec]);
  }
  return found;
}

const delays = fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 17 });

for (const verb of ["apply", "create"] as const) {
  test(`${verb}: eight at a time end as one at a time does`, async () => {
    await fc.assert(
      fc.asyncProperty(input, delays, async (targets, waits) => {
        const slow = await writeAll(verb, targets, { atMost: 1, delays: [0] });
        const fast = await writeAll(verb, targets, { atMost: 8, delays: waits });
        deepEqual(fast.said, slow.said);
        deepEqual(fast.stored, slow.stored);
      }),
      { numRuns: 60 },
    );
  });
}

test("delete: eight at a time end as one at a time does", async () => {
  const notPools = input.map((targets) => targets.filter(({ kind }) => kind !== "IPPool")); // which take half a second each
  await fc.assert(
    fc.asyncProperty(notPools, notPools, delays, async (there, gone, waits) => {
      const before = async () => (await writeAll("apply", there, { atMost: 1, delays: [0] })).memory;
      const slow = await writeAll("delete", gone, { atMost: 1, delays: [0], memory: await before() });
      const fast = await writeAll("delete", gone, { atMost: 8, delays: waits, memory: await before() });
      deepEqual(fast.said, slow.said);
      deepEqual(fast.stored, slow.stored);
    }),
    { numRuns: 40 },
  );
});

test("a dry run says what apply then does, and writes nothing; afterwards it has nothing to say", async () => {
  await fc.assert(
    fc.asyncProperty(input, input, async (there, targets) => {
      const { memory, stored } = await writeAll("apply", there, { atMost: 1, delays: [0] });
      const dry = await pretendToApply(targets, { datastore: memory }, signal);
      deepEqual(await contentOf(memory), stored);
      const wet = await writeAll("apply", targets, { atMost: 1, delays: [0], memory });
      deepEqual(say(targets, dry), wet.said);
      // Objects that stand once in the input, and were written, are as the input says now.
      const names = targets.map(nameOf);
      const isOnce = (name: string) => names.indexOf(name) === names.lastIndexOf(name);
      const once = targets.filter((each, at) => isOnce(nameOf(each)) && wet.said[at]?.endsWith(": done"));
      for (const outcome of await pretendToApply(once, { datastore: memory }, signal)) {
        if (outcome.is === "done") deepEqual(outcome.value, { is: "nothing" });
      }
    }),
    { numRuns: 40 },
  );
});
