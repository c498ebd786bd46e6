// Every golden case through the syncers: the snapshot after the last write, what a connected client saw of each write and
// in which order, and what a server that starts afterwards says; for all four syncers. known-differences.md lists where
// we differ on purpose.
import { deepEqual } from "node:assert/strict";
import { after, test } from "node:test";
import { syncerTypes } from "../../src/calico/model/index.ts";
import { type GoldenCase, goldenCaseNames, loadGoldenCase } from "./golden-case.ts";
import { compareEvents, compareSnapshot, type Finding, place, type Verdict, worst } from "./golden-compare.ts";
import { baselineObjects, createReplay, finalObjects, startReplay, writeToEvent } from "./golden-replay.ts";

const tally: { [verdict in Verdict]: string[] } = { bytes: [], json: [], different: [] };

for (const name of goldenCaseNames()) {
  test(`${name} is what the real Typha says`, () => {
    const golden = loadGoldenCase(name);
    const findings = [...watching(golden), ...starting(golden)];
    tally[worst(findings)].push(name);
    const wrong = findings.filter(({ verdict }) => verdict === "different").map(({ text }) => text);
    deepEqual(wrong.slice(0, 6), [], wrong.slice(0, 6).join("\n"));
  });
}

after(() => {
  const { bytes, json, different } = tally;
  console.log(`golden: ${bytes.length} byte-equal, ${json.length} JSON-equal, ${different.length} different`);
  if (json.length > 0) console.log(`golden: equal as JSON only: ${json.join(", ")}`);
  if (different.length > 0) console.log(`golden: different: ${different.join(", ")}`);
});

function begin({ usePodCidr }: GoldenCase) {
  const replay = createReplay({ flavour: "kubernetes", usePodCidr });
  startReplay(replay, baselineObjects());
  return { replay, base: new Map(syncerTypes.map((syncer) => [syncer, new Map(replay.snapshot(syncer))])) };
}

/** A server that was there all along. */
function watching(golden: GoldenCase): Finding[] {
  const { replay, base } = begin(golden);
  const findings: Finding[] = [];
  const deltas = new Map(syncerTypes.map((syncer) => [syncer, golden.deltas(syncer)]));
  for (const [at, write] of golden.writes.entries()) {
    const change = writeToEvent(write);
    const seen = change === undefined ? undefined : replay.feed(change.kind, [change.event]);
    for (const syncer of syncerTypes) {
      const expected = deltas.get(syncer)?.[at];
      if (expected === undefined) continue;
      const where = place(syncer, `write ${at} (${write.op} ${write.object})`);
      findings.push(...compareEvents(seen?.get(syncer) ?? [], expected, where));
    }
  }
  for (const syncer of syncerTypes) {
    const expected = golden.snapshot(syncer);
    if (expected === undefined) continue;
    const where = place(syncer, "snapshot");
    findings.push(...compareSnapshot(replay.snapshot(syncer), base.get(syncer) ?? new Map(), expected, where));
  }
  return findings;
}

/** A server that starts after the last write. */
function starting(golden: GoldenCase): Finding[] {
  if (!golden.hasCold) return [];
  const { base } = begin(golden);
  const replay = createReplay({ flavour: "kubernetes", usePodCidr: golden.usePodCidr });
  startReplay(replay, finalObjects(golden));
  return syncerTypes.flatMap((syncer) => {
    const expected = golden.snapshot(syncer, "cold") ?? golden.snapshot(syncer);
    if (expected === undefined) return [];
    const where = place(syncer, "snapshot after a cold start");
    return compareSnapshot(replay.snapshot(syncer), base.get(syncer) ?? new Map(), expected, where);
  });
}
