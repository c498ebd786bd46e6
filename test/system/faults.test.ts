// The fault table: every fault that every world can suffer, one by one, each with the end state compared to the truth.
// The campaign (npm run faults) does the same at random, a thousand times.
import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { runCampaign } from "../kit/faults/campaign.ts";
import { openMemoryWorld } from "../kit/faults/memory-world.ts";
import type { FaultWorld } from "../kit/faults/world.ts";
import { faultWorlds } from "../kit/faults/worlds.ts";
import { testSeed } from "../kit/random.ts";

const worlds = await faultWorlds();
const seed = testSeed();
// Side by side: they share nothing, and mostly wait for servers to start, to elect a leader, or to be given up.
describe("worlds", { concurrency: worlds.length }, () => {
  for (const { name, missing, open } of worlds) {
    const skip = missing ?? false;
    // With three members the network's faults are the same ones, three times over.
    const isWanted = (index: number) => name !== "etcd-3" || index >= 21;
    test(`${name}: each of its faults leaves its followers with what it holds`, {
      skip,
      timeout: 600_000,
    }, async (t) => {
      await using world = await open();
      for (const [index, fault] of world.faults.entries()) {
        if (!isWanted(index)) continue;
        await t.test(`${name}: ${fault.name}`, async () => {
          const only: FaultWorld = { ...world, faults: [fault] };
          const count = (fault.weight ?? 1) < 1 ? 1 : 2;
          deepEqual((await runCampaign({ world: only, count, seed: seed + index })).divergences, []);
        });
      }
    });
  }
});

test("a campaign finds a follower that misses one event in fifty", async () => {
  await using world = await openMemoryWorld();
  let events = 0;
  const lossy: FaultWorld = {
    ...world,
    faults: [{ name: "writes alone", strike: ({ write }) => write(10) }],
    datastore: {
      ...world.datastore,
      async *watch(kind, options) {
        for await (const event of world.datastore.watch(kind, options)) {
          events += 1;
          if (events % 50 !== 0) yield event;
        }
      },
    },
  };
  const { divergences } = await runCampaign({ world: lossy, count: 20, seed: 1, settleMs: 200 });
  equal(divergences.length > 0, true);
});
