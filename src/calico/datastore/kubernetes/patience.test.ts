// How long an API server is waited for, on a clock that the test moves.
import { equal, ok, rejects } from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../../test/kit/eventually.ts";
import { type FakeAnswer, startFakeApi } from "../../../../test/kit/fake-api.ts";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { silentLog } from "../../../base/lib/index.ts";
import { isDatastoreError } from "../errors.ts";
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

const busy: FakeAnswer = { status: 429, headers: { "retry-after": "3" }, body: { message: "storage is initializing" } };
const tier = { body: { metadata: { name: "a", resourceVersion: "1" } } };
const busyServers: {
  name: string;
  readsAgain?: number;
  answers: FakeAnswer[];
  asked: number;
  is: "read" | "refused";
}[] = [
  { name: "is asked once by those who have other things to do", answers: [busy, tier], asked: 1, is: "refused" },
  { name: "is asked again by those who wait", readsAgain: 2, answers: [busy, busy, tier], asked: 3, is: "read" },
  { name: "is asked again only so often", readsAgain: 2, answers: [busy, busy, busy, tier], asked: 3, is: "refused" },
];
for (const { name, readsAgain, answers, asked, is } of busyServers) {
  test(`a server that is busy ${name}`, async () => {
    const clock = new FakeClock();
    await using api = await startFakeApi(answers);
    const settings = { apiEndpoint: api.url, apiGroup: "crd.projectcalico.org/v1" };
    await using datastore = await openKubernetes(
      { ...settings, ...(readsAgain === undefined ? {} : { readsAgain }) },
      { clock, log: silentLog },
    );
    let end: "read" | "refused" | undefined;
    datastore.get("Tier", { namespace: "", name: "a" }).then(
      () => (end = "read"),
      (error: unknown) => {
        ok(isDatastoreError(error, "rate-limited"), String(error));
        end = "refused";
      },
    );
    await eventually(async () => {
      await clock.advance(1_000);
      return end !== undefined;
    }, "the end");
    equal(end, is);
    equal(api.asked.length, asked);
  });
}
