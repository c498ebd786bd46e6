// Every recorded case of the original's packets, with packets of our own: the part of the agent that enforces policy works in a namespace,
// and every flow of every step has the recorded outcome, twice in a row. npm test plays a share of them, npm run test:all the rest.
import { deepEqual } from "node:assert/strict";
import { after, before, test } from "node:test";
import { PolicyLab } from "../kit/policy/lab.ts";
import { noPolicyLab } from "../kit/policy/needs.ts";
import { PartUnderTest } from "../kit/policy/part-under-test.ts";
import { CaseRunner } from "../kit/policy/run-case.ts";
import { policyCases } from "../kit/policy-world.ts";
import { shareOf } from "../kit/share.ts";

const limits = { timeoutMs: 200, patienceMs: 40_000 };
let lab: PolicyLab;
let part: PartUnderTest;
let runner: CaseRunner;

before(async () => {
  if (noPolicyLab !== false) return;
  lab = new PolicyLab();
  part = new PartUnderTest({
    node: "node-a",
    namespace: lab.node.path,
    settings: { DefaultEndpointToHostAction: "Accept" },
  });
  runner = new CaseRunner(lab, part, limits);
  await runner.begin();
});

after(async () => {
  await part?.stop();
  lab?.[Symbol.dispose]();
});

const only = process.env.CATTAIL_POLICY_CASES?.split(",");
const cases = shareOf(policyCases()).filter(({ name }) => only === undefined || only.includes(name));
for (const one of cases)
  test(`packets: ${one.name}`, { skip: noPolicyLab, timeout: 120_000 }, async () => {
    deepEqual(await runner.play(one), []);
  });
