// How long a finding is watched before it is mended. An audit reads objects one after another while others write them, so what it sees
// may be somebody's work in progress, or a pod whose container is still being taken down. A finding is ripe when it was seen,
// unchanged, for long enough: its key has the revision or sequence number, so a change begins a new one.
import { type Finding, findingCodes } from "./finding.ts";

/** Of each finding that is there now, when it was first seen. */
export type AuditMemory = ReadonlyMap<string, bigint>;

export type PatienceLimits = {
  /** More than a request may take: 90 s, and 30 s to undo it. */
  readonly unfinishedMs: number;
  /** What the original's controllers wait before they free an address. */
  readonly leakMs: number;
};

export const usualPatience: PatienceLimits = { unfinishedMs: 150_000, leakMs: 900_000 };

export function remember(memory: AuditMemory, findings: readonly Finding[], nowNs: bigint): AuditMemory {
  return new Map(findings.map(({ key }) => [key, memory.get(key) ?? nowNs]));
}

export function isRipe(
  finding: Finding,
  { memory, nowNs, patience }: { memory: AuditMemory; nowNs: bigint; patience: PatienceLimits },
): boolean {
  const waitMs = { none: 0, unfinished: patience.unfinishedMs, leak: patience.leakMs }[
    findingCodes[finding.code].patience
  ];
  const waitNs = BigInt(Math.round(waitMs * 1_000_000));
  const seenNs = memory.get(finding.key) ?? nowNs;
  const isYoung = finding.sinceNs !== undefined && nowNs - finding.sinceNs < waitNs;
  return nowNs - seenNs >= waitNs && !isYoung;
}
