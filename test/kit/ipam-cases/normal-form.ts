// Stored objects as the recordings have them: times of the run are "$NOW", a block's number "$S" and its addresses' "$S-n", allocations
// {"length":64,"3":0}, free ordinals a text of runs: "4-63 0".
import { isRecord, type JsonRecord } from "../../../src/base/lib/index.ts";

/** `startedMs` is when the case began. */
export function normalStore(objects: ReadonlyMap<string, unknown>, startedMs: number): JsonRecord {
  const sorted = [...objects].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    sorted.map(([name, value]) => [name, normalTimes(normalBlock(value, startedMs), startedMs)]),
  );
}

function normalBlock(value: unknown, startedMs: number): unknown {
  if (!isRecord(value)) return value;
  if (isRecord(value.spec)) return { ...value, spec: normalBlock(value.spec, startedMs) };
  if (!Array.isArray(value.allocations)) return value;
  const { allocations, unallocated, sequenceNumber, sequenceNumberForAllocation } = value;
  const held = allocations.flatMap((index, ordinal) => (index === null ? [] : [[String(ordinal), index]]));
  return {
    ...value,
    allocations: { length: allocations.length, ...Object.fromEntries(held) },
    ...(Array.isArray(unallocated) ? { unallocated: runs(unallocated.map(Number)) } : {}),
    ...normalNumbers(sequenceNumber, sequenceNumberForAllocation, startedMs),
  };
}

/** Numbers of the run are nanoseconds; a case's own are small. */
function normalNumbers(base: unknown, numbers: unknown, startedMs: number): JsonRecord {
  if (typeof base !== "bigint") return {};
  const isOfRun = base / 1_000_000n >= BigInt(startedMs) - 2000n && base / 1_000_000n <= BigInt(Date.now()) + 2000n;
  const relative = Object.entries(isRecord(numbers) ? numbers : {}).map(([ordinal, number]) => [
    ordinal,
    `$S-${base - BigInt(number as bigint)}`, // read from JSON: a number
  ]);
  return {
    sequenceNumber: isOfRun ? "$S" : `not a time of this run: ${base}`,
    sequenceNumberForAllocation: Object.fromEntries(relative),
  };
}

function runs(numbers: readonly number[]): string {
  const found: [number, number][] = [];
  for (const number of numbers) {
    const last = found.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else found.push([number, number]);
  }
  return found.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(" ");
}

const stamp = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.\d+)?( \+0000 UTC|Z)$/;

function normalTimes(value: unknown, startedMs: number): unknown {
  if (typeof value === "string") {
    const [, date, time] = stamp.exec(value) ?? [];
    const thenMs = Date.parse(`${date}T${time}Z`);
    return thenMs >= startedMs - 2000 && thenMs <= Date.now() + 2000 ? "$NOW" : value;
  }
  if (Array.isArray(value)) return value.map((each) => normalTimes(each, startedMs));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, normalTimes(each, startedMs)]));
}
