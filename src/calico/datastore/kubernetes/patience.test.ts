// How long an API server is waited for, on a clock that the test moves.
import { rejects } from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../../test/kit/eventually.ts";
import { type FakeAnswer, startFakeApi } from "../../../../test/kit/fake-api.ts";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { silentLog } from "../../../base/lib/index.ts";
import { openKubernetes } from "./kubernetes-datastore.ts";

const cases: { name: string; answer: FakeAnswer; says: RegExp }[] = [
  { name: "no answer", answer: { after: "never" }, says: /GET .*tiers\/a: no answer for 60 s/ },
  {
    name: "half an answer",
    answer: { body: '{"metadata":', after: "hang" },
    says: /GET .*tiers\/a was silent for 60 s/,
  },
];
for (const { name, answer, says } of cases) {
  test(`${name} is waited for for a minute`, async () => {
    const clock = new FakeClock();
    await using api = await startFakeApi([answer]);
    await using datastore = await openKubernetes(
      { apiEndpoint: api.url, apiGroup: "crd.projectcalico.org/v1" },
      { clock, log: silentLog },
    );
    const asking = datastore.get("Tier", { namespace: "", name: "a" });
    let isOver = false;
    const failing = rejects(asking, { code: "unavailable", message: says }).finally(() => (isOver = true));
    await eventually(() => api.asked.length === 1, "the question");
    // Whether half an answer has been read yet cannot be seen from here, so the minute may be counted from later on.
    await eventually(async () => {
      await clock.advance(10_000);
      return isOver;
    }, "the end of patience");
    await failing;
  });
}
