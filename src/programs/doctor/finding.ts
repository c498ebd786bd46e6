// What a check answers: what it looked at and found good, or a problem out of the catalogue.

import type { NodeFindingCode } from "../../node/diagnosis/index.ts";
import { catalogue, type FindingCode, type Level } from "./catalogue.ts";

export type Passed = { readonly level: "ok"; readonly what: string };

export type ProblemFinding = {
  readonly level: Level;
  readonly code: FindingCode | NodeFindingCode;
  /** What was seen. */
  readonly what: string;
  /** One by one, where there is more to show: what a command printed, which packet had no answer. */
  readonly evidence?: readonly string[];
  readonly why: string;
  readonly fix: string;
};

export type Finding = Passed | ProblemFinding;

/** One part of the examination, e.g. "TLS files" or "server 10.0.0.7:5473". */
export type Section = { readonly name: string; readonly findings: readonly Finding[] };

export function passed(what: string): Passed {
  return { level: "ok", what };
}

export function problem(code: FindingCode, what: string, better: { fix?: string; level?: Level } = {}): ProblemFinding {
  const { level, why, fix } = catalogue[code];
  return { code, level: better.level ?? level, what, why, fix: better.fix ?? fix };
}

export function isProblem(finding: Finding): finding is ProblemFinding {
  return finding.level !== "ok";
}

/** 0: all is well, notes included. 1: warnings. 2: something is broken. */
export function exitCodeOf(sections: readonly Section[]): 0 | 1 | 2 {
  const levels = new Set(sections.flatMap(({ findings }) => findings.map(({ level }) => level)));
  return levels.has("broken") ? 2 : levels.has("warning") ? 1 : 0;
}
