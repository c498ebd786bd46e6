import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { testAuthority } from "../../../../test/kit/certificates.ts";
import { type LogFields, silentLog, systemClock } from "../../lib/index.ts";
import { createRefusalLog } from "./refusals.ts";

function setUp(maxPeers?: number) {
  const lines: { message: string; fields: LogFields }[] = [];
  let nowMs = 0;
  const log = { ...silentLog, warn: (message: string, fields: LogFields = {}) => void lines.push({ message, fields }) };
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const refusals = createRefusalLog({ log, clock, ...(maxPeers === undefined ? {} : { maxPeers }) });
  return { lines, refusals, pass: (ms: number) => (nowMs += ms) };
}

const refusal = (address: string) => ({
  address,
  check: "no-certificate" as const,
  says: "the peer sent no certificate",
});

test("a peer that keeps coming is named once a minute, then with how often", () => {
  const { lines, refusals, pass } = setUp();
  for (let i = 0; i < 100; i++) refusals.report(refusal("10.0.0.1"));
  equal(lines.length, 1);
  pass(60_000);
  refusals.report(refusal("10.0.0.1"));
  deepEqual(
    lines.map(({ message, fields }) => [message, fields.count]),
    [
      ["Refused connection", undefined],
      ["Refused connections again", 99],
      ["Refused connection", undefined],
    ],
  );
});

test("a peer that is refused for another reason gets another line at once", () => {
  const { lines, refusals } = setUp();
  for (let i = 0; i < 10; i++) {
    refusals.report({ ...refusal("10.0.0.1"), check: "not-tls" });
    refusals.report(refusal("10.0.0.1"));
  }
  deepEqual(
    lines.map(({ fields }) => fields.check),
    ["not-tls", "no-certificate"],
  );
});

test("more peers than the bound are counted, not listed", () => {
  const { lines, refusals, pass } = setUp(10);
  for (let i = 0; i < 500; i++) refusals.report(refusal(`fd00::${i}`));
  equal(lines.length, 10);
  pass(60_000);
  refusals.report(refusal("10.0.0.1"));
  equal(lines.length, 12);
  equal(lines[10]?.fields.count, 490);
});

test("the line names the address, CN, issuer, expiry and the check that failed", () => {
  const { lines, refusals } = setUp();
  const { certificate } = testAuthority("Some CA").clientMaterial({ notAfterMs: Date.UTC(2030, 0, 2) });
  refusals.report({ ...refusal("10.0.0.1"), check: "common-name", certificate });
  deepEqual(lines[0]?.fields, {
    address: "10.0.0.1",
    check: "common-name",
    reason: "the peer sent no certificate",
    cn: "calico-node",
    issuer: "CN=Some CA",
    expiry: "2030-01-02T00:00:00.000Z",
  });
});
