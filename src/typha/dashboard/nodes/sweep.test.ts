import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { Sweep, type Target } from "./sweep.ts";

const targets = (count: number): Target[] =>
  Array.from({ length: count }, (_, at) => ({ node: `n${at}`, address: `192.0.2.${at}` }));

function setUp(answer: (target: Target) => Promise<string>) {
  const clock = new FakeClock();
  const asked: string[] = [];
  const ask = (target: Target) => {
    asked.push(target.node);
    return answer(target);
  };
  return { clock, asked, sweep: new Sweep({ ask, clock, everyMs: 5_000 }) };
}

test("every node is asked again and again while somebody looks, and nobody when nobody does", async () => {
  const { clock, asked, sweep } = setUp(async ({ node }) => `of ${node}`);
  equal(sweep.look(targets(3)).get("n0")?.value, undefined);
  await clock.advance(1_000);
  deepEqual(asked, ["n0", "n1", "n2"]);
  equal(sweep.look(targets(3)).get("n1")?.value, "of n1");
  await clock.advance(6_000);
  equal(asked.length, 6);
  await clock.advance(20_000);
  const { length } = asked;
  await clock.advance(600_000);
  equal(asked.length, length, "nobody looks any more");
  sweep.look(targets(3));
  await clock.advance(1_000);
  equal(asked.length, length + 3);
});

test("of thousands so many are asked at a time, and so many a second", async () => {
  let [now, most] = [0, 0];
  const { clock, asked, sweep } = setUp(async () => {
    now += 1;
    most = Math.max(most, now);
    await clock.sleep(1_000);
    now -= 1;
    return "";
  });
  sweep.look(targets(2_000));
  await clock.advance(10_000);
  equal(most, 16);
  ok(asked.length <= 16 * 11, `${asked.length} in ten seconds`);
  equal(new Set(asked).size, asked.length, "nobody twice before everybody was asked");
});

test("one that fails keeps what it said, with the time since when, and is asked less often", async () => {
  let isDown = false;
  const { clock, asked, sweep } = setUp(async () => {
    if (isDown) throw new Error("no answer within 4 s");
    return "well";
  });
  const [target] = targets(1);
  if (target === undefined) throw new Error("there is one");
  equal((await sweep.one(target, 1_000)).value, "well");
  equal((await sweep.one(target, 1_000)).value, "well");
  equal(asked.length, 1, "what is fresh is not asked for again");
  isDown = true;
  await clock.advance(2_000);
  const failedAtMs = clock.wallMs();
  const problem = { why: "no answer within 4 s", sinceMs: failedAtMs };
  deepEqual((await sweep.one(target, 1_000)).problem, problem);
  await clock.advance(2_000);
  const heard = await sweep.one(target, 1_000);
  deepEqual([heard.value, heard.problem, asked.length], ["well", problem, 2]);
  isDown = false;
  await clock.advance(10_000);
  deepEqual((await sweep.one(target, 1_000)).problem, undefined);
});
