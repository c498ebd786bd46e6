// The search for the largest packet that passes, and how few steps it takes.
import { deepEqual, ok } from "node:assert/strict";
import { test } from "node:test";
import { largestThatPasses } from "./probes.ts";

for (const limit of [576, 1280, 1399, 1400, 1450, 1476, 1480, 1492, 1499, 8950, 8999])
  for (const tooLarge of [1500, 9000].filter((mtu) => mtu > limit))
    test(`a way for ${limit} bytes, of an interface for ${tooLarge}, is found to the byte`, async () => {
      const asked: number[] = [];
      const passes = async (bytes: number) => {
        asked.push(bytes);
        return bytes <= limit;
      };
      deepEqual(await largestThatPasses(tooLarge, passes), limit);
      ok(asked.length < 60, `${asked.length} sizes were tried`);
    });

test("a way that takes none of the usual sizes has no largest", async () => {
  deepEqual(await largestThatPasses(1500, async () => false), undefined);
});
