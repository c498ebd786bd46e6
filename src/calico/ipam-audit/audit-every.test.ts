// The background check with a clock of its own: off by default, never often, and only what two looks have found is counted or mended.
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/kit/fake-clock.ts";
import type { Audited, Finding } from "../ipam/index.ts";
import { type AuditEveryOptions, type AuditRound, auditEvery, auditMetrics } from "./audit-every.ts";
import { delayBeforeAudit } from "./audit-schedule.ts";

const minute = 60_000;
const hour = 60 * minute;

const paces: { name: string; pace: Parameters<typeof delayBeforeAudit>[0]; delayMs: number | undefined }[] = [
  { name: "off", pace: { everyMs: 0, nodes: 5, failures: 0, random: 0.5 }, delayMs: undefined },
  { name: "one node", pace: { everyMs: hour, nodes: 1, failures: 0, random: 0.5 }, delayMs: hour },
  {
    name: "a thousand nodes share the work",
    pace: { everyMs: hour, nodes: 1000, failures: 0, random: 0.5 },
    delayMs: 1000 * hour,
  },
  { name: "early", pace: { everyMs: hour, nodes: 1, failures: 0, random: 0 }, delayMs: hour / 2 },
  { name: "after failures", pace: { everyMs: hour, nodes: 1, failures: 2, random: 0.5 }, delayMs: 4 * hour },
  {
    name: "failures do not add up for ever",
    pace: { everyMs: hour, nodes: 1, failures: 99, random: 0.5 },
    delayMs: 64 * hour,
  },
  {
    name: "never more often than every minute",
    pace: { everyMs: 1, nodes: 1, failures: 0, random: 0 },
    delayMs: minute,
  },
];
for (const { name, pace, delayMs } of paces) {
  test(`schedule: ${name}`, () => equal(delayBeforeAudit(pace), delayMs));
}

function seen(clock: FakeClock, idle: readonly string[]): Audited {
  return {
    blocks: [],
    unreadable: [],
    affinities: [],
    handles: idle.map((id) => ({
      value: { id, blocks: new Map([["10.0.0.0/30", 1]]), isDeleted: false },
      revision: "1",
    })),
    pools: [],
    uses: [],
    starting: [],
    nodes: ["n1"],
    nowNs: BigInt(Math.floor(clock.wallMs())) * 1_000_000n,
  };
}

/** The first round, with these handles at its first and second look. */
async function firstRound(looks: readonly (readonly string[] | Error)[], mends = true) {
  const clock = new FakeClock();
  const stopping = new AbortController();
  const mended: string[] = [];
  let look = 0;
  const options: AuditEveryOptions = {
    everyMs: hour,
    mends,
    clock,
    random: () => 0.5,
    signal: stopping.signal,
    read: async () => {
      const found = looks[look] ?? [];
      look += 1;
      if (found instanceof Error) throw found;
      return seen(clock, found);
    },
    mend: async (findings: readonly Finding[]) => {
      mended.push(...findings.map(({ key }) => key));
      return findings.map((finding) => ({ finding, outcome: { is: "mended" } }));
    },
  };
  const rounds = auditEvery(options);
  const next = rounds.next();
  let round: IteratorResult<AuditRound, void> | undefined;
  next.then((value) => {
    round = value;
  });
  for (let turn = 0; turn < 200 && round === undefined; turn += 1) await clock.advance(minute);
  stopping.abort();
  await rounds.return();
  ok(round !== undefined && !round.done, "there was no round");
  return { round: round.value, mended };
}

test("what both looks find is mended; what only one finds is not", async () => {
  const { round, mended } = await firstRound([
    ["stays", "goes"],
    ["stays", "new"],
  ]);
  deepEqual(mended, ["HANDLE_COUNTS_TOO_MUCH stays 1"]);
  equal(round.is === "audited" ? round.findings.length : -1, 1);
  const figures = auditMetrics(round);
  const of = (name: string, code?: string) =>
    figures.find((figure) => figure.name === name && (code === undefined || figure.labels.code === code))?.value;
  equal(of("cattail_ipam_findings", "HANDLE_COUNTS_TOO_MUCH"), 1);
  equal(of("cattail_ipam_findings", "ADDRESS_LEAKED"), 0);
  equal(of("cattail_ipam_mended"), 1);
});

test("who only counts mends nothing", async () => {
  const { mended } = await firstRound([["stays"], ["stays"]], false);
  deepEqual(mended, []);
});

test("a look that fails is a round of its own", async () => {
  const { round } = await firstRound([new Error("no rights")]);
  equal(round.is, "failed");
  deepEqual(auditMetrics(round), [{ name: "cattail_ipam_audit_failures", labels: {}, value: 1 }]);
});

test("without an interval nothing is ever read", async () => {
  const rounds = auditEvery({
    everyMs: 0,
    mends: true,
    clock: new FakeClock(),
    random: Math.random,
    signal: new AbortController().signal,
    read: () => Promise.reject(new Error("read")),
    mend: () => Promise.reject(new Error("mended")),
  });
  equal((await rounds.next()).done, true);
});
