// What several do to one block is the same, whether each writes it by itself or they share a write.
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseRange } from "../../base/lib/index.ts";
import {
  assign,
  type Block,
  blockFaults,
  forWrite,
  newBlock,
  releaseByHandle,
  sweep,
  withoutOwner,
} from "../ipam/index.ts";
import { rebaseBlock } from "./rebase-block.ts";

const range = parseRange("10.0.0.0/29");
ok(range !== undefined);
const empty = newBlock({ range, owner: "host:n1", nowNs: 1_000n });
const holder = (handle: string) => ({
  attribute: { handle_id: handle, secondary: { node: "n1", pod: handle } },
  owner: "host:n1",
  strictAffinity: false,
});

function take(block: Block, handle: string, count = 1): Block {
  const done = assign(block, { ...holder(handle), count, reservations: [] });
  ok(done.is === "assigned");
  return forWrite(done.block);
}

function give(block: Block, handle: string, cooldownSeconds = 0): Block {
  return forWrite(releaseByHandle(block, { handle, nowNs: 1_700_000_000_000_000_000n, cooldownSeconds }).block);
}

/** As a request sees it that shall not take what another is about to take. */
function without(block: Block, ordinals: readonly number[]): Block {
  return { ...block, unallocated: block.unallocated.filter((ordinal) => !ordinals.includes(ordinal)) };
}

function holders({ allocations, attributes }: Block): (string | undefined)[] {
  return allocations.map((index) => (index === null ? undefined : attributes[index]?.handle_id));
}

test("two that take different addresses share a write, and each has its own number", () => {
  const first = take(empty, "a");
  const seen = without(empty, [0]);
  const both = rebaseBlock(empty, take(seen, "b"), first);
  ok(both !== undefined);
  deepEqual(holders(both).slice(0, 3), ["a", "b", undefined]);
  deepEqual(both.unallocated, [2, 3, 4, 5, 6, 7]);
  equal(both.sequenceNumber, empty.sequenceNumber + 2n);
  deepEqual(blockFaults(both), []);
});

test("two that take the same address do not go together", () => {
  equal(rebaseBlock(empty, take(empty, "b"), take(empty, "a")), undefined);
});

test("one gives back while another takes: what is freed stands at the end of the queue", () => {
  const start = take(empty, "a");
  const taken = take(start, "b");
  const both = rebaseBlock(start, give(start, "a"), taken);
  ok(both !== undefined);
  deepEqual(holders(both).slice(0, 3), [undefined, "b", undefined]);
  deepEqual(both.unallocated, [2, 3, 4, 5, 6, 7, 0]);
  deepEqual(blockFaults(both), []);
});

test("both have swept the same address: it is free once", () => {
  const waiting = give(take(empty, "a"), "a", 60);
  const swept = forWrite(sweep(waiting, { nowNs: 1_800_000_000_000_000_000n, cooldownSeconds: 60 }));
  const both = rebaseBlock(waiting, take(swept, "b"), take(swept, "c", 0));
  ok(both !== undefined);
  deepEqual(blockFaults(both), []);
  equal(both.unallocated.filter((ordinal) => ordinal === 0).length, 1);
});

test("who gives the block up does not go together with who has given it up, and takes along what others did", () => {
  const left = forWrite(withoutOwner(empty));
  const both = rebaseBlock(empty, left, take(empty, "a"));
  equal(both?.owner, undefined);
  equal(both === undefined ? "" : holders(both)[0], "a");
  equal(rebaseBlock(empty, left, left), undefined);
});

type Action = { readonly take: string } | { readonly give: string };
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ take: fc.constantFrom("a", "b", "c", "d") }),
  fc.record({ give: fc.constantFrom("a", "b", "c", "d") }),
);
const done = (block: Block, act: Action): Block => ("take" in act ? take(block, act.take) : give(block, act.give));

test("for any history, a change to the block that it was made to is that change itself", () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 12 }), action, (history, last) => {
      const base = history.reduce(done, empty);
      deepEqual(rebaseBlock(base, done(base, last), base), done(base, last));
    }),
  );
});

test("for any two changes that go together, the block is sound, and nobody loses or gets an address twice", () => {
  fc.assert(
    fc.property(
      fc.array(action, { maxLength: 12 }),
      fc.array(action, { maxLength: 4 }),
      action,
      (history, meanwhile, last) => {
        const base = history.reduce(done, empty);
        const onto = meanwhile.reduce(done, base);
        const changed = done(base, last);
        const both = rebaseBlock(base, changed, onto);
        if (both === undefined) return;
        deepEqual(blockFaults(both), []);
        for (const [ordinal, holder] of holders(both).entries()) {
          const isOurs = holders(base)[ordinal] !== holders(changed)[ordinal];
          equal(holder, isOurs ? holders(changed)[ordinal] : holders(onto)[ordinal]);
        }
      },
    ),
  );
});
