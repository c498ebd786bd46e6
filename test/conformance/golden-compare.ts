// Compares what we said with what the real Typha said, and tells equal bytes, equal JSON and difference apart.
import { isDeepStrictEqual } from "node:util";
import { parseJson } from "../../src/base/lib/index.ts";
import type { SyncerType } from "../../src/calico/model/index.ts";
import type { ExpectedEvent, ExpectedKv, ExpectedSnapshot, ExpectedWrite } from "./golden-case.ts";

export type Verdict = "bytes" | "json" | "different";
export type Finding = { readonly verdict: Exclude<Verdict, "bytes">; readonly text: string };

export function worst(findings: readonly Finding[]): Verdict {
  if (findings.length === 0) return "bytes";
  return findings.some(({ verdict }) => verdict === "different") ? "different" : "json";
}

/** Undefined: equal in every byte. */
export function compareKvs(ours: ExpectedKv | undefined, theirs: ExpectedKv | undefined, where: string): Finding[] {
  if (ours === undefined || theirs === undefined) {
    const key = (ours ?? theirs)?.key ?? "";
    return [{ verdict: "different", text: `${where}: ${key} ${ours === undefined ? "is missing" : "is too much"}` }];
  }
  const findings: Finding[] = [];
  for (const field of ["key", "revision", "type", "v3rv"] as const) {
    const isFree = theirs[field] === "<any>" || theirs[field] === "<rv>";
    if (isFree || ours[field] === theirs[field]) continue;
    const text = `${where}: ${theirs.key} has ${field} ${ours[field]}, expected ${theirs[field]}`;
    findings.push({ verdict: "different", text });
  }
  if (ours.value !== theirs.value) {
    const verdict = isSameJson(ours.value, theirs.value) ? "json" : "different";
    findings.push({
      verdict,
      text: `${where}: ${theirs.key}\n    ours     ${ours.value}\n    expected ${theirs.value}`,
    });
  }
  return findings;
}

function isSameJson(ours: string | null, theirs: string | null): boolean {
  if (ours === null || theirs === null) return false;
  try {
    return isDeepStrictEqual(parseJson(ours), parseJson(theirs));
  } catch {
    return false; // raw text, which is equal as bytes or not at all
  }
}

/** A snapshot is compared with the recording of what in it differs from the baseline. */
export function compareSnapshot(
  ours: ReadonlyMap<string, ExpectedKv>,
  base: ReadonlyMap<string, ExpectedKv>,
  theirs: ExpectedSnapshot,
  where: string,
): Finding[] {
  const isChanged = ({ key, value }: ExpectedKv) => !base.has(key) || base.get(key)?.value !== value;
  const changed = new Map([...ours.values()].filter(isChanged).map((kv) => [kv.key, kv]));
  const removed = [...base.keys()].filter((key) => !ours.has(key)).sort();
  const keys = new Set([...changed.keys(), ...theirs.kvs.map(({ key }) => key)]);
  const findings = [...keys].flatMap((key) => compareKvs(changed.get(key), byKey(theirs.kvs).get(key), where));
  if (!isDeepStrictEqual(removed, theirs.removed)) {
    findings.push({ verdict: "different", text: `${where}: removed ${removed}, expected ${theirs.removed}` });
  }
  return findings;
}

const indexes = new WeakMap<readonly ExpectedKv[], ReadonlyMap<string, ExpectedKv>>();

function byKey(kvs: readonly ExpectedKv[]): ReadonlyMap<string, ExpectedKv> {
  const index = indexes.get(kvs) ?? new Map(kvs.map((kv) => [kv.key, kv]));
  indexes.set(kvs, index);
  return index;
}

/** The events of one write, in order unless the real Typha's own order varied. */
export function compareEvents(
  ours: readonly ExpectedEvent[],
  { events, unordered }: ExpectedWrite,
  where: string,
): Finding[] {
  const mine = unordered ? sorted(ours) : ours;
  const theirs = unordered ? sorted(events) : events;
  const length = Math.max(mine.length, theirs.length);
  return Array.from({ length }, (_, at) => at).flatMap((at) => {
    const left = mine[at];
    const right = theirs[at];
    if ((left === undefined || "kv" in left) && (right === undefined || "kv" in right)) {
      return compareKvs(left?.kv, right?.kv, `${where} event ${at}`);
    }
    if (isDeepStrictEqual(left, right)) return [];
    const text = `${where} event ${at}: ${JSON.stringify(left)}, expected ${JSON.stringify(right)}`;
    return [{ verdict: "different" as const, text }];
  });
}

function sorted(events: readonly ExpectedEvent[]): ExpectedEvent[] {
  const keyOf = (event: ExpectedEvent) => ("kv" in event ? event.kv.key : "");
  return events.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

export function place(syncer: SyncerType, what: string): string {
  return `${syncer} ${what}`;
}
