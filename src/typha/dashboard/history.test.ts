import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/kit/fake-clock.ts";
import { History, sampleIntervalMs } from "./history.ts";

const hourMs = 3_600_000;

const cases: { name: string; jumpMs: number }[] = [
  { name: "the clock goes on", jumpMs: 0 },
  { name: "the clock is set back", jumpMs: -hourMs },
  { name: "the clock is set forward", jumpMs: hourMs },
];

for (const { name, jumpMs } of cases) {
  test(`${name}: samples stay five seconds apart, their rates are true and the newest is of now`, async () => {
    const clock = new FakeClock(10 * hourMs);
    const history = new History(clock);
    for (let index = 0; index < 4; index += 1) {
      if (index > 0) await clock.advance(sampleIntervalMs);
      if (index === 2) clock.jumpWall(jumpMs);
      history.add({ updatesTotal: index * 50, deliveryP50Ms: 1, deliveryP99Ms: 2 });
    }
    const { timesMs, updatesPerSecond, deliveryP50Ms, deliveryP99Ms } = history.view();
    const nowMs = 10 * hourMs + 3 * sampleIntervalMs + jumpMs;
    deepEqual(timesMs, [nowMs - 2 * sampleIntervalMs, nowMs - sampleIntervalMs, nowMs]);
    deepEqual(updatesPerSecond, [10, 10, 10]);
    deepEqual(
      [deliveryP50Ms, deliveryP99Ms],
      [
        [1, 1, 1],
        [2, 2, 2],
      ],
    );
  });
}

test("a quarter of an hour is kept, however long it runs", async () => {
  const clock = new FakeClock();
  const history = new History(clock);
  for (let index = 0; index < 400; index += 1) {
    history.add({ updatesTotal: index, deliveryP50Ms: null, deliveryP99Ms: null });
    await clock.advance(sampleIntervalMs);
  }
  equal(history.view().timesMs.length, 180);
});
