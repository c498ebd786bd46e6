// Campaign: workers on a model of the datastore, interleaved at every call, with failing and late writes and killed workers; all rules
// are checked after every write, and when all is mended an audit finds nothing. Whole: npm run campaign:ipam (1,000,000 schedules).
import { ok, throws } from "node:assert/strict";
import { test } from "node:test";
import { playSchedule } from "../kit/ipam/play-schedule.ts";
import { playSchedules } from "../kit/ipam/play-schedules.ts";
import { testSeed } from "../kit/random.ts";

const seed = testSeed();

test(`2,000 schedules of two to five workers keep every rule (seed ${seed})`, () => {
  const { schedules, kills, faults, conflicts, mended } = playSchedules({ first: seed, count: 2000 });
  ok(schedules === 2000 && kills > 0 && faults > 0 && conflicts > 0 && mended.mended > 0, "the schedules are too tame");
});

test("the campaign finds a mender that does not wait: it takes a handle from somebody who is about to use it", () => {
  const patience = { unfinishedMs: 0, leakMs: 0 };
  throws(() => {
    for (let at = 1; at <= 2000; at += 1) playSchedule(at, { withFaults: false, patience });
  }, /BrokenRule|counts 0/);
});
