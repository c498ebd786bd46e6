// ctl ipam check --fix: mends what the audit found, on a cluster at work. What may be somebody's work in progress is looked at twice,
// and only what has stayed the same in between is mended; each write asks again, and compares and swaps.
import { systemClock } from "../../../../base/lib/index.ts";
import {
  type AuditMemory,
  type AuditReport,
  type Finding,
  findingCodes,
  isRipe,
  mendFindings,
  remember,
} from "../../../../calico/ipam/index.ts";
import { carryOutMending, openAsker } from "../../../../calico/ipam-audit/index.ts";
import { openIpamAccess } from "../../../../calico/ipam-client/index.ts";
import type { Connection } from "../../connection.ts";
import type { Console } from "../../console.ts";
import { mendedLines, summaryLine } from "./findings.ts";
import type { Looked } from "./look.ts";

export type FixOptions = {
  readonly connection: Connection;
  readonly patienceMs: number;
  readonly lookAgain: () => Promise<Looked>;
};

/** 1 where something failed. */
export async function fix(first: Looked, options: FixOptions, console: Console): Promise<number> {
  const { looked, memory } = await settled(first, options, console);
  const patience = { unfinishedMs: options.patienceMs, leakMs: options.patienceMs };
  const { nowNs, pools } = looked.audited;
  const { findings } = looked.report;
  const ripe = findings.filter((finding) => isRipe(finding, { memory, nowNs, patience }));
  const { datastore, resources } = options.connection;
  const { signal } = console;
  const access = openIpamAccess(datastore, { clock: systemClock, random: Math.random });
  const { cooldownSeconds } = await access.config({ signal });
  const ask = openAsker({ datastore, resources, services: looked.services });
  const mending = mendFindings(ripe, { pools, cooldownSeconds });
  const results = await carryOutMending(mending, { access, ask }, { signal });
  console.out(`\n${mendedLines(results)}`);
  const unripe = findings.length - ripe.length;
  if (unripe > 0) console.out(`Not mended: ${unripe} that are new or have changed. Run it again to look at them.\n`);
  console.out(summaryLine(results, ripe.filter(({ mend }) => mend === undefined).length));
  return results.some(({ outcome }) => outcome.is === "failed") ? 1 : 0;
}

/** Times are noted in whole milliseconds. */
const clockStepMs = 50;

type Settled = { readonly looked: Looked; readonly memory: AuditMemory };

async function settled(first: Looked, options: FixOptions, console: Console): Promise<Settled> {
  const memory = seen(new Map(), first);
  const { patienceMs } = options;
  const isWaitedFor = ({ code, mend }: Finding) => mend !== undefined && findingCodes[code].patience !== "none";
  const { length: waiting } = first.report.findings.filter(isWaitedFor);
  if (waiting === 0 || patienceMs === 0) return { looked: first, memory };
  console.out(`\nLooking at ${waiting} problems for ${patienceMs / 1000} s: somebody may be at work (--patience).\n`);
  await systemClock.sleep(patienceMs + clockStepMs, console.signal);
  const looked = await options.lookAgain();
  return { looked, memory: seen(memory, looked) };
}

function seen(
  memory: AuditMemory,
  { report, audited }: { report: AuditReport; audited: Looked["audited"] },
): AuditMemory {
  return remember(memory, report.findings, audited.nowNs);
}
