// Many schedules one after another, every second one with faults, and what they met.
import type { FindingCode } from "../../../src/calico/ipam/index.ts";
import { playSchedule } from "./play-schedule.ts";

export type SchedulesPlan = { readonly first: number; readonly count: number };

const tellsEvery = 25_000;

export type SchedulesPlayed = {
  schedules: number;
  steps: number;
  checks: number;
  conflicts: number;
  faults: number;
  kills: number;
  readonly mended: { mended: number; changed: number; left: number; failed: number };
  /** What was left to mend although nothing failed. */
  readonly left: { [code in FindingCode]?: number };
};

export function playSchedules(
  { first, count }: SchedulesPlan,
  tell: (played: number) => void = () => undefined,
): SchedulesPlayed {
  const sum: SchedulesPlayed = {
    schedules: 0,
    steps: 0,
    checks: 0,
    conflicts: 0,
    faults: 0,
    kills: 0,
    mended: { mended: 0, changed: 0, left: 0, failed: 0 },
    left: {},
  };
  for (let at = 0; at < count; at += 1) {
    // By its own number, so that it is the same schedule whichever process plays it.
    add(sum, playSchedule(first + at, { withFaults: (first + at) % 2 === 0 }));
    if (sum.schedules % tellsEvery === 0) tell(sum.schedules);
  }
  return sum;
}

function add(sum: SchedulesPlayed, played: ReturnType<typeof playSchedule>): void {
  sum.schedules += 1;
  for (const name of ["steps", "checks", "conflicts", "faults", "kills"] as const) sum[name] += played[name];
  for (const name of ["mended", "changed", "left", "failed"] as const) sum.mended[name] += played.mended[name];
  for (const code of played.left) sum.left[code] = (sum.left[code] ?? 0) + 1;
}

export function addPlayed(a: SchedulesPlayed, b: SchedulesPlayed): SchedulesPlayed {
  const codes = new Set([...Object.keys(a.left), ...Object.keys(b.left)] as FindingCode[]); // keys of the records
  return {
    schedules: a.schedules + b.schedules,
    steps: a.steps + b.steps,
    checks: a.checks + b.checks,
    conflicts: a.conflicts + b.conflicts,
    faults: a.faults + b.faults,
    kills: a.kills + b.kills,
    mended: {
      mended: a.mended.mended + b.mended.mended,
      changed: a.mended.changed + b.mended.changed,
      left: a.mended.left + b.mended.left,
      failed: a.mended.failed + b.mended.failed,
    },
    left: Object.fromEntries([...codes].map((code) => [code, (a.left[code] ?? 0) + (b.left[code] ?? 0)])),
  };
}
