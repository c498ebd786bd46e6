// The slow background check that a node offers: audits now and then, looks a second time at what it found, and mends it if it is told
// to. It is off unless an interval is set. Rounds come out one by one; `auditMetrics` makes figures of the last one.
//
//   for await (const round of auditEvery({ everyMs, mends, read, mend, clock, random, signal })) metrics.set(auditMetrics(round));
import type { Clock } from "../../base/lib/index.ts";
import {
  type Audited,
  type AuditMemory,
  audit,
  type Finding,
  type FindingCode,
  findingCodes,
  isRipe,
  type MendResult,
  type PatienceLimits,
  remember,
  usualPatience,
} from "../ipam/index.ts";
import { delayBeforeAudit, delayBeforeSecondLook } from "./audit-schedule.ts";

export type AuditEveryOptions = {
  /** 0: off. */
  readonly everyMs: number;
  /** Whether what is found is mended, or only counted. */
  readonly mends: boolean;
  readonly read: () => Promise<Audited>;
  readonly mend: (findings: readonly Finding[], audited: Audited) => Promise<readonly MendResult[]>;
  readonly patience?: PatienceLimits;
  readonly clock: Clock;
  /** At least 0, below 1. */
  readonly random: () => number;
  readonly signal: AbortSignal;
};

export type AuditRound =
  | {
      readonly is: "audited";
      /** Those that were there at both looks. */
      readonly findings: readonly Finding[];
      readonly results: readonly MendResult[];
      readonly tookMs: number;
    }
  | { readonly is: "failed"; readonly error: unknown; readonly tookMs: number };

/** Ends when the signal aborts. */
export async function* auditEvery(options: AuditEveryOptions): AsyncGenerator<AuditRound, void, undefined> {
  const { everyMs, clock, random, signal } = options;
  let nodes = 1;
  let failures = 0;
  for (;;) {
    const delayMs = delayBeforeAudit({ everyMs, nodes, failures, random: random() });
    if (delayMs === undefined || !(await slept(delayMs, options))) return;
    const startedMs = clock.monotonicMs();
    try {
      const round = await auditTwice(options);
      if (round === undefined) return;
      nodes = round.audited.nodes.length;
      failures = 0;
      yield { is: "audited", ...round, tookMs: clock.monotonicMs() - startedMs };
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      yield { is: "failed", error, tookMs: clock.monotonicMs() - startedMs };
    }
  }
}

type Twice = {
  readonly audited: Audited;
  readonly findings: readonly Finding[];
  readonly results: readonly MendResult[];
};

/** Undefined: there is no time for the second look. */
async function auditTwice(options: AuditEveryOptions): Promise<Twice | undefined> {
  const { read, mend, mends, patience = usualPatience } = options;
  const first = await read();
  const before = audit(first).findings;
  if (before.length === 0) return { audited: first, findings: [], results: [] };
  const memory = remember(new Map(), before, first.nowNs);
  if (!(await slept(delayBeforeSecondLook(longestPatienceMs(before, patience)), options))) return undefined;
  const audited = await read();
  const findings = audit(audited).findings.filter(({ key }) => memory.has(key));
  const ripe = findings.filter((finding) => isRipeNow(finding, { memory, audited, patience }));
  return { audited, findings, results: mends && ripe.length > 0 ? await mend(ripe, audited) : [] };
}

type Looks = { readonly memory: AuditMemory; readonly audited: Audited; readonly patience: PatienceLimits };

function isRipeNow(finding: Finding, { memory, audited, patience }: Looks): boolean {
  return isRipe(finding, { memory, nowNs: audited.nowNs, patience });
}

function longestPatienceMs(findings: readonly Finding[], { unfinishedMs, leakMs }: PatienceLimits): number {
  return findings.some(({ code }) => findingCodes[code].patience === "leak") ? leakMs : unfinishedMs;
}

/** False: the signal aborted. */
async function slept(delayMs: number, { clock, signal }: AuditEveryOptions): Promise<boolean> {
  if (signal.aborted) return false;
  return await clock.sleep(delayMs, signal).then(
    () => true,
    () => false,
  );
}

export type AuditFigure = {
  readonly name: string;
  readonly labels: { readonly [name: string]: string };
  readonly value: number;
};

export function auditMetrics(round: AuditRound): AuditFigure[] {
  if (round.is === "failed") return [{ name: "cattail_ipam_audit_failures", labels: {}, value: 1 }];
  const counts = new Map<FindingCode, number>();
  for (const { code } of round.findings) counts.set(code, (counts.get(code) ?? 0) + 1);
  const codes = Object.keys(findingCodes) as FindingCode[]; // the keys of that very table
  const mended = round.results.filter(({ outcome }) => outcome.is === "mended").length;
  return [
    { name: "cattail_ipam_audit_failures", labels: {}, value: 0 },
    { name: "cattail_ipam_mended", labels: {}, value: mended },
    ...codes.map((code) => ({ name: "cattail_ipam_findings", labels: { code }, value: counts.get(code) ?? 0 })),
  ];
}
