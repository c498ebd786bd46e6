import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { KeyTable } from "./key-table.ts";

// Small, odd and even lengths, characters beyond ASCII and beyond 16 bits, and names from the prototype of objects.
const awkward = [
  "",
  "a",
  "ab",
  "/calico/v1/ü",
  "üa",
  "üb",
  "aü",
  "\u{1f9a6}",
  "\u{1f9a6}a",
  "__proto__",
  "constructor",
  "a\0",
  "a\0\0",
];

const sequences: { name: string; random: () => number; paths: number; steps: number }[] = [
  { name: "growing from empty", random: Math.random, paths: 5000, steps: 20_000 },
  { name: "a few paths that come and go", random: Math.random, paths: 8, steps: 20_000 },
  // Every hash is the same or nearly: slow, and right.
  { name: "a random source that always says nothing", random: () => 0, paths: 300, steps: 3000 },
  { name: "a random source that always says nearly one", random: () => 1 - 2 ** -53, paths: 300, steps: 3000 },
];
for (const { name, random, paths, steps } of sequences) {
  test(`a key table does what a Map does: ${name}`, () => {
    const table = new KeyTable(random);
    const model = new Map<string, number>();
    for (let step = 0; step < steps; step += 1) {
      // A fixed walk over the paths; in its last third it mostly deletes, so that the table shrinks.
      const index = (step * 7919 + (step >> 5)) % paths;
      const path = index < awkward.length ? (awkward[index] ?? "") : `/calico/v1/host/node-${index}/x`;
      if (step % 5 === 0 || (step > (steps * 2) / 3 && step % 5 < 4)) equal(table.delete(path), model.delete(path));
      else {
        equal(table.set(path, step % 3), !model.has(path));
        model.set(path, step % 3);
      }
      equal(table.size, model.size);
    }
    const others = [...model].filter(([, number]) => number !== 1).map(([path]) => path);
    deepEqual(table.pathsBut(1).sort(), others.sort());
  });
}

test("a table that was emptied is an empty table", () => {
  const table = new KeyTable(Math.random);
  for (let index = 0; index < 10_000; index += 1) table.set(`/${index}`, 1);
  for (let index = 0; index < 10_000; index += 1) equal(table.delete(`/${index}`), true);
  deepEqual({ size: table.size, paths: table.pathsBut(2) }, { size: 0, paths: [] });
  equal(table.set("/7", 1), true);
});
