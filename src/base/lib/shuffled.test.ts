import { deepEqual, ok } from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../../test/kit/random.ts";
import { shuffled } from "./shuffled.ts";

test("a shuffled list has what the list has, and leaves the list alone", () => {
  const items = [1, 2, 3, 4, 5, 6, 7];
  deepEqual(shuffled(items, Math.random).sort(), items);
  deepEqual(items, [1, 2, 3, 4, 5, 6, 7]);
  deepEqual(shuffled([], Math.random), []);
});

test("all orders come about equally often", () => {
  const random = seededRandom(7).next;
  const counts = new Map<string, number>();
  for (let round = 0; round < 6000; round += 1) {
    const order = shuffled(["a", "b", "c"], random).join("");
    counts.set(order, (counts.get(order) ?? 0) + 1);
  }
  ok(counts.size === 6 && [...counts.values()].every((count) => count > 850 && count < 1150), `${[...counts]}`);
});
