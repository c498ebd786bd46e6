// One run of the campaign of assignments: workers, and a mender beside them; then everybody stops, what killed workers left is mended,
// and an audit must find nothing but the addresses that are in use.
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../../src/base/lib/index.ts";
import type { FindingCode } from "../../../src/calico/ipam/index.ts";
import { openIpamAccess } from "../../../src/calico/ipam-client/index.ts";
import { openIpamObjects } from "../../../src/calico/resources/index.ts";
import type { AssignmentWorld } from "./assignment-worlds.ts";
import {
  type AssignmentsDone,
  type AssignmentsPlan,
  assignAndRelease,
  isTransient,
  LiveAddresses,
} from "./assignments.ts";
import { findingsOf, type MendingOf, mendRipe } from "./mend-beside.ts";

export type RunDone = AssignmentsDone & {
  readonly audits: number;
  readonly mendedBeside: number;
  readonly foundAtEnd: { [code in FindingCode]?: number };
  readonly mendedAtEnd: number;
  readonly liveAtEnd: number;
};

/** These are wrong at any time, whoever is at work. */
const never: ReadonlySet<FindingCode> = new Set([
  "BLOCK_UNREADABLE",
  "BLOCK_BROKEN",
  "BLOCKS_OVERLAP",
  "ADDRESS_TWICE",
  "BLOCK_OUTSIDE_POOLS",
]);

const betweenAuditsMs = 10_000;
/** Shorter than for a cluster: here a request takes less than this, and never minutes. */
const patienceBeside = { unfinishedMs: 20_000, leakMs: 20_000 };

export async function runAssignments(
  { datastore }: AssignmentWorld,
  plan: AssignmentsPlan,
  tell: (done: AssignmentsDone, live: number) => void = () => undefined,
): Promise<RunDone> {
  const access = openIpamAccess(datastore, { clock: systemClock, random: Math.random });
  const live = new LiveAddresses();
  const of: MendingOf = { objects: openIpamObjects(datastore), access, live, plan };
  const beside = new Beside(of);
  const mending = beside.run();
  let done: AssignmentsDone;
  try {
    done = await assignAndRelease(access, { live, plan, tell });
  } finally {
    beside.stop();
  }
  await mending;
  const found = await findingsOf(of);
  const foundAtEnd: { [code in FindingCode]?: number } = {};
  for (const { code } of found) foundAtEnd[code] = (foundAtEnd[code] ?? 0) + 1;
  // Nobody is at work: no need to wait. Addresses before handles, and those before claims, so twice is enough.
  let mendedAtEnd = 0;
  for (let turn = 0; turn < 3; turn += 1) {
    const { results } = await mendRipe(of, new Map(), { unfinishedMs: 0, leakMs: 0 });
    mendedAtEnd += results.filter(({ outcome }) => outcome.is === "mended").length;
  }
  const [left] = await findingsOf(of);
  if (left !== undefined) throw new Error(`after mending an audit finds ${left.code}: ${left.says}`);
  return { ...done, audits: beside.audits, mendedBeside: beside.mended, foundAtEnd, mendedAtEnd, liveAtEnd: live.size };
}

class Beside {
  readonly #of: MendingOf;
  readonly #stopping = new AbortController();
  audits = 0;
  mended = 0;

  constructor(of: MendingOf) {
    this.#of = of;
  }

  stop(): void {
    this.#stopping.abort();
  }

  async run(): Promise<void> {
    const { signal } = this.#stopping;
    let memory: ReadonlyMap<string, bigint> = new Map();
    while (!signal.aborted) {
      await sleep(betweenAuditsMs, undefined, { signal }).catch(() => undefined);
      const round = await mendRipe(this.#of, memory, patienceBeside).catch((error: unknown) => {
        if (isTransient(error)) return undefined;
        throw error;
      });
      if (round === undefined) continue;
      const { findings, results } = round;
      memory = round.memory;
      this.audits += 1;
      this.mended += results.filter(({ outcome }) => outcome.is === "mended").length;
      const wrong = findings.find(({ code }) => never.has(code));
      if (wrong !== undefined) throw new Error(`${wrong.code}: ${wrong.says}`);
    }
  }
}
