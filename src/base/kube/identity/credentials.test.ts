import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { silentLog } from "../../lib/index.ts";
import { credentials as credentialsOf } from "./credentials.ts";
import type { Identity } from "./load-identity.ts";

const identity = (token: string, cert = "C"): Identity => ({
  from: "a test",
  server: new URL("https://x"),
  headers: { authorization: token },
  tls: { rejectUnauthorized: true, cert },
});

function make(answers: (Identity | Error)[]) {
  const clock = new FakeClock();
  let reads = 0;
  const load = async () => {
    const answer = answers[Math.min(reads++, answers.length - 1)];
    if (answer instanceof Error || answer === undefined) throw answer;
    return answer;
  };
  return { clock, credentials: credentialsOf({ clock, log: silentLog, load }), reads: () => reads };
}

test("credentials are read again after a minute", async () => {
  const { clock, credentials, reads } = make([identity("1"), identity("2")]);
  await credentials.current();
  await clock.advance(59_000);
  equal((await credentials.current()).headers.authorization, "1");
  await clock.advance(1000);
  equal((await credentials.current()).headers.authorization, "2");
  equal(reads(), 2);
});

test("refused credentials are read again at once, but only once for all who were refused", async () => {
  const { credentials, reads } = make([identity("1"), identity("2")]);
  const old = await credentials.current();
  credentials.refuse(old);
  const both = await Promise.all([credentials.current(), credentials.current()]);
  credentials.refuse(old);
  await credentials.current();
  deepEqual([both.map((one) => one.headers.authorization), reads()], [["2", "2"], 2]);
});

test("files that are missing for a moment leave the last credentials in place", async () => {
  const { clock, credentials } = make([identity("1"), new Error("ENOENT"), identity("3")]);
  await credentials.current();
  await clock.advance(60_000);
  equal((await credentials.current()).headers.authorization, "1");
  await clock.advance(60_000);
  equal((await credentials.current()).headers.authorization, "3");
});

test("credentials that never could be read are an error", () =>
  rejects(make([new Error("ENOENT")]).credentials.current(), /ENOENT/));

test("a new certificate makes new connections, a new token does not", async () => {
  const { credentials } = make([identity("1"), identity("2"), identity("2", "D")]);
  const first = await credentials.current();
  credentials.refuse(first);
  const second = await credentials.current();
  credentials.refuse(second);
  const third = await credentials.current();
  deepEqual(
    [first.connectionKey === second.connectionKey, second.connectionKey === third.connectionKey],
    [true, false],
  );
});
