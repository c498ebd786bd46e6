// What is wrong with objects of one kind, now: counted by rule, and logged once when it appears. A bad object says so
// with its name and field and delays nobody.

import type { Log } from "../../base/lib/index.ts";
import type { ConversionProblem } from "../convert/index.ts";
import type { Kind } from "../kinds/index.ts";

export type ProblemCount = {
  readonly kind: Kind;
  readonly rule: string;
  readonly effect: ConversionProblem["effect"];
  readonly count: number;
};

export type ProblemBook = {
  /** The object's problems as of now; none says that it is good. */
  set(objectKey: string, problems: readonly ConversionProblem[]): void;
  forget(objectKey: string): void;
  /** How many objects have problems. */
  readonly size: number;
  counts(): readonly ProblemCount[];
  /** Up to `limit` current problems, for `cattail doctor` and the dashboard. */
  list(limit: number): readonly ConversionProblem[];
};

// One object can break a rule in each of thousands of entries; saying a few of them names the object just as well.
const maxPerObject = 20;

export function createProblemBook(kind: Kind, log: Log): ProblemBook {
  const byObject = new Map<string, readonly ConversionProblem[]>();

  const set = (objectKey: string, problems: readonly ConversionProblem[]) => {
    const before = byObject.get(objectKey);
    if (problems.length === 0) {
      if (before === undefined) return;
      byObject.delete(objectKey);
      log.info("object is good again", { kind, object: before[0]?.object ?? objectKey });
      return;
    }
    const kept = problems.slice(0, maxPerObject);
    byObject.set(objectKey, kept);
    for (const problem of kept) {
      if (before?.some((old) => isSame(old, problem))) continue;
      const { object, field, rule, effect } = problem;
      log.warn("object breaks a rule", { kind, object, field, rule, effect });
    }
  };

  return {
    set,
    forget: (objectKey) => void byObject.delete(objectKey),
    get size() {
      return byObject.size;
    },
    counts: () => countByRule(kind, byObject.values()),
    list: (limit) => first(limit, byObject.values()),
  };
}

function first(limit: number, objects: Iterable<readonly ConversionProblem[]>): readonly ConversionProblem[] {
  const found: ConversionProblem[] = [];
  for (const problems of objects) {
    if (found.length >= limit) break;
    found.push(...problems);
  }
  return found.slice(0, limit);
}

/** An object counts once for a rule, however often it breaks it. */
function countByRule(kind: Kind, objects: Iterable<readonly ConversionProblem[]>): readonly ProblemCount[] {
  const found = new Map<string, ProblemCount>();
  for (const problems of objects) {
    const rules = new Map(problems.map((problem) => [`${problem.effect} ${problem.rule}`, problem]));
    for (const [key, { rule, effect }] of rules) {
      found.set(key, { kind, rule, effect, count: (found.get(key)?.count ?? 0) + 1 });
    }
  }
  return [...found.values()];
}

function isSame(a: ConversionProblem, b: ConversionProblem): boolean {
  return a.field === b.field && a.rule === b.rule && a.effect === b.effect;
}
