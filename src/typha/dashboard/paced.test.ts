import { equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { Paced, paces } from "./paced.ts";

function paced() {
  const time = { nowMs: 0 };
  let made = 0;
  const answers = new Paced<number>(() => time.nowMs);
  const ask = async (costMs: number, question = "q") =>
    (
      await answers.get(question, async () => {
        time.nowMs += costMs;
        made += 1;
        return made;
      })
    ).value;
  return { time, ask, answers };
}

const cases: { name: string; costMs: number; afterMs: number; isAnew: boolean }[] = [
  { name: "a cheap answer is given again within half a second", costMs: 0, afterMs: 499, isAnew: false },
  { name: "a cheap answer is made anew after that", costMs: 0, afterMs: 500, isAnew: true },
  { name: "one that took 20 ms is given again for three seconds", costMs: 20, afterMs: 2999, isAnew: false },
  { name: "and made anew then", costMs: 20, afterMs: 3000, isAnew: true },
  { name: "however long it took, it is made anew after ten seconds", costMs: 5000, afterMs: 10_000, isAnew: true },
];

for (const { name, costMs, afterMs, isAnew } of cases) {
  test(name, async () => {
    const { time, ask } = paced();
    equal(await ask(costMs), 1);
    time.nowMs += afterMs;
    equal(await ask(costMs), isAnew ? 2 : 1);
  });
}

test("what waits for others is made anew after half a second, however long it took", async () => {
  const time = { nowMs: 0 };
  const answers = new Paced<number>(() => time.nowMs);
  const ask = () => answers.get("q", async () => (time.nowMs += 5000), paces.bySource);
  equal((await ask()).number, 1);
  time.nowMs += 500;
  equal((await ask()).number, 2);
});

test("what is paced from the question on is made anew for who asks just as often", async () => {
  const time = { nowMs: 0 };
  const answers = new Paced<number>(() => time.nowMs);
  const ask = () => answers.get("q", async () => (time.nowMs += 100), { ...paces.bySource, since: "asked" });
  equal((await ask()).number, 1);
  time.nowMs = 499;
  equal((await ask()).number, 1);
  time.nowMs = 500;
  equal((await ask()).number, 2);
});

test("who asks while an answer is being made waits for that one", async () => {
  const { ask } = paced();
  equal((await Promise.all([ask(1), ask(1), ask(1)])).join(), "1,1,1");
});

test("a failure is not remembered", async () => {
  const { answers, ask } = paced();
  await rejects(answers.get("q", async () => Promise.reject(new Error("no"))));
  equal(await ask(0), 1);
});

test("no more than a few answers are kept", async () => {
  const { ask } = paced();
  for (let index = 0; index < 20; index += 1) await ask(0, `q${index}`);
  equal(await ask(0, "q0"), 21);
  equal(await ask(0, "q19"), 20);
});
