// Plays one schedule: two to five workers, whose steps are taken in an order that a seed says, with writes that fail, come late or
// are refused, and workers that are killed. Every rule is checked after every write; when all is quiet the mender puts the rest right,
// and an audit must find nothing then.
import { type AddressRange, parseRange } from "../../../src/base/lib/index.ts";
import {
  type Answer,
  audit,
  type FindingCode,
  type IpamSettings,
  type MendAnswer,
  type MendStep,
  newBlock,
  type PatienceLimits,
  type Pool,
  readPool,
  usualPatience,
} from "../../../src/calico/ipam/index.ts";
import { type Random, seededRandom } from "../random.ts";
import { isWrite } from "./model-store.ts";
import {
  giveClaimBack,
  type Life,
  leave,
  life,
  type MenderCount,
  mender,
  type Pause,
  type Work,
} from "./model-workers.ts";
import { BrokenRule, ModelWorld } from "./model-world.ts";

export type Played = {
  readonly steps: number;
  readonly checks: number;
  readonly conflicts: number;
  readonly faults: number;
  readonly kills: number;
  readonly mended: MenderCount;
  readonly left: readonly FindingCode[];
};

type Worker = {
  readonly work: Work;
  next: IteratorResult<MendStep | Pause, void>;
  /** Of the request that it is in. */
  startedNs: bigint;
  sleepsUntilNs: bigint;
  /** A pod that stays when it is killed. */
  readonly pod: string | undefined;
};

const second = 1_000_000_000n;
/** A request may take 90 s, and 30 s more to undo what it did. */
const longestRequestNs = 120n * second;
const nodes = ["n1", "n2", "n3"];
/** Two blocks for three nodes, and four blocks: taken over and borrowed from, or enough for all. */
const sizes = ["10.9.0.0/29", "10.9.0.0/28"];
const poolsOf: readonly (readonly Pool[])[] = sizes.map((cidr) => {
  const pool = readPool({ name: "tiny", spec: { cidr, blockSize: 30 } });
  return pool === undefined ? [] : [pool];
});

/** Without any fault: a claim whose release met its owner, who finishes it when he looks; and what nodes leave that are gone. */
const mayBeLeft: ReadonlySet<FindingCode> = new Set(["CLAIM_UNFINISHED", "NODE_GONE"]);

export type ScheduleOptions = {
  readonly withFaults: boolean;
  /** Other than the usual, to see that it matters. */
  readonly patience?: PatienceLimits;
};

export function playSchedule(seed: number, options: ScheduleOptions): Played {
  const { withFaults } = options;
  const schedule = new Schedule(seededRandom(seed), options);
  try {
    return schedule.play();
  } catch (error) {
    if (!(error instanceof BrokenRule)) throw error;
    throw new BrokenRule(`schedule ${seed}${withFaults ? " with faults" : ""}: ${error.message}`);
  }
}

class Schedule {
  readonly #random: Random;
  readonly #withFaults: boolean;
  readonly #patience: PatienceLimits;
  readonly #world: ModelWorld;
  readonly #settings: IpamSettings;
  readonly #workers: Worker[];
  readonly #mended: MenderCount = { mended: 0, changed: 0, left: 0, failed: 0 };
  #steps = 0;
  #faults = 0;
  #kills = 0;

  constructor(random: Random, { withFaults, patience = usualPatience }: ScheduleOptions) {
    this.#random = random;
    this.#patience = patience;
    this.#withFaults = withFaults;
    this.#world = new ModelWorld(random.pick(poolsOf), nodes);
    this.#settings = {
      strictAffinity: random.isOneIn(4),
      autoAllocateBlocks: true,
      maxBlocksPerHost: 0,
      cooldownSeconds: random.isOneIn(5) ? 30 : 0,
    };
    if (random.isOneIn(3)) this.#standEmpty();
    const count = 2 + random.below(4);
    this.#workers = Array.from({ length: count }, (_, at) => this.#worker(at));
  }

  play(): Played {
    this.#run();
    this.#world.store.forgetLate();
    // Nobody is at work any more. Pods whose plugin was killed are gone, and so are their containers.
    for (const [pod, { addresses }] of this.#world.pods) if (addresses === undefined) this.#world.pods.delete(pod);
    for (const { node } of this.#world.pods.values()) this.#world.join(node);
    const left = this.#kills === 0 && this.#faults === 0 ? this.#unclean() : [];
    this.#settle();
    const { store, checks } = this.#world;
    return {
      steps: this.#steps,
      checks,
      conflicts: store.lost,
      faults: this.#faults,
      kills: this.#kills,
      mended: this.#mended,
      left,
    };
  }

  #run(): void {
    for (let left = 50_000; ; left -= 1) {
      if (left === 0) throw new BrokenRule("the workers do not come to an end");
      const waiting = this.#workers.filter(({ next }) => !next.done);
      if (waiting.length === 0) return;
      const ready = waiting.filter(({ sleepsUntilNs }) => sleepsUntilNs <= this.#world.store.nowNs);
      if (ready.length === 0) this.#passTime(waiting);
      else this.#turn(this.#random.pick(ready));
    }
  }

  #turn(worker: Worker): void {
    const { store } = this.#world;
    store.turn();
    if (this.#random.isOneIn(80)) store.nowNs += 61n * second;
    const isOverdue = store.nowNs - worker.startedNs > longestRequestNs;
    if (isOverdue || (this.#withFaults && this.#random.isOneIn(150))) this.#kill(worker);
    else this.#advance(worker);
  }

  #advance(worker: Worker): void {
    if (worker.next.done) return;
    this.#steps += 1;
    const step = worker.next.value;
    if (step.do === "pause") {
      const { nowNs } = this.#world.store;
      if (step.begins) worker.startedNs = nowNs;
      worker.sleepsUntilNs = nowNs + BigInt(step.waitMs) * 1_000_000n;
      worker.next = worker.work.next(undefined);
      if (step.waitMs > 0) worker.startedNs = worker.sleepsUntilNs;
      return;
    }
    worker.next = worker.work.next(this.#answer(step));
  }

  #answer(step: MendStep): MendAnswer {
    if (step.do === "ask who uses" || step.do === "ask for node") return this.#world.reply(step);
    const { store } = this.#world;
    if (!this.#withFaults || !isWrite(step) || !this.#random.isOneIn(12)) return store.answer(step);
    this.#faults += 1;
    const failed = (wasWritten: "no" | "perhaps"): Answer => ({ is: "failed", error: "timeout", wasWritten });
    switch (this.#random.below(5)) {
      case 0:
        return failed("no");
      case 1:
        return failed("perhaps");
      case 2:
        store.write(step);
        return failed("perhaps");
      case 3:
        store.writeLate(step, 1 + this.#random.below(20));
        return failed("perhaps");
      default:
        // Somebody is faster, and changes nothing but the revision.
        store.touch(step);
        return store.answer(step);
    }
  }

  /** A process dies: what it has sent may still be written; nobody is told its result. */
  #kill(worker: Worker): void {
    this.#kills += 1;
    const step = worker.next.done ? undefined : worker.next.value;
    if (step !== undefined && isWrite(step) && this.#random.isOneIn(2)) this.#world.store.write(step);
    worker.next = { done: true, value: undefined };
    const { pod } = worker;
    if (pod === undefined) return;
    for (const container of [1, 2]) this.#world.takeBack(`net.${pod}-${container}`);
    this.#world.pods.delete(pod);
  }

  /** All that can work waits for a later time: by then every request of now has ended, one way or the other. */
  #passTime(waiting: readonly Worker[]): void {
    const { store } = this.#world;
    store.forgetLate();
    // Those who wake at about the same time work at the same time.
    store.nowNs = waiting.map(({ sleepsUntilNs }) => sleepsUntilNs).reduce((a, b) => (a < b ? a : b)) + 2n * second;
  }

  /** What is not as it should be although nothing failed. */
  #unclean(): FindingCode[] {
    const codes = audit(this.#world.audited()).findings.map(({ code }) => code);
    const wrong = codes.find((code) => !mayBeLeft.has(code));
    if (wrong !== undefined) throw new BrokenRule(`nothing failed, and an audit finds ${wrong}`);
    return codes;
  }

  #settle(): void {
    const options = { rounds: 4, cooldownSeconds: this.#settings.cooldownSeconds, count: this.#mended };
    const work = mender(this.#world, options);
    this.#workers.push({ work, next: work.next(), startedNs: 0n, sleepsUntilNs: 0n, pod: undefined });
    const worker = this.#workers.at(-1);
    while (worker !== undefined && !worker.next.done) {
      this.#steps += 1;
      const step = worker.next.value;
      if (step.do === "pause") this.#world.store.nowNs += BigInt(step.waitMs) * 1_000_000n;
      const isQuestion = step.do === "ask who uses" || step.do === "ask for node";
      const answer =
        step.do === "pause" ? undefined : isQuestion ? this.#world.reply(step) : this.#world.store.answer(step);
      worker.next = worker.work.next(answer);
    }
    const [finding] = audit(this.#world.audited()).findings;
    if (finding !== undefined) throw new BrokenRule(`after mending an audit finds ${finding.code}: ${finding.says}`);
  }

  #worker(at: number): Worker {
    const random = this.#random;
    const made = (work: Work, pod?: string): Worker => ({
      work,
      next: work.next(),
      startedNs: this.#world.store.nowNs,
      sleepsUntilNs: 0n,
      pod,
    });
    if (at > 0 && random.isOneIn(8)) {
      const { cooldownSeconds } = this.#settings;
      return made(mender(this.#world, { rounds: 3, cooldownSeconds, count: this.#mended }, this.#patience));
    }
    if (at > 0 && random.isOneIn(10)) {
      return made(giveClaimBack(random.pick(nodes), this.#block(random.below(2)), this.#settings.cooldownSeconds));
    }
    if (at > 0 && random.isOneIn(12)) return made(leave(this.#world, random.pick(nodes)));
    const plan = this.#plan(at);
    return made(life(this.#world, plan), plan.pod);
  }

  #plan(at: number): Life {
    const random = this.#random;
    const first = this.#block(0);
    const named = { ...first, prefixLength: 32, first: first.first + BigInt(random.below(8)) };
    return {
      pod: `p${at}`,
      startsAfterMs: random.isOneIn(5) ? random.pick([150_000, 1_050_000, 1_200_000]) : 0,
      node: random.pick(nodes),
      settings: this.#settings,
      count: random.isOneIn(3) ? 3 : 1,
      named: random.isOneIn(5) ? named : undefined,
      containers: 2,
      end: random.pick(["stays", "by handle", "by handle", "by address", "object first"]),
    };
  }

  #block(at: number): AddressRange {
    const range = parseRange(`10.9.0.${at * 4}/30`);
    if (range === undefined) throw new Error("no range");
    return range;
  }

  /** Both blocks have stood empty for long, so that a third node takes one over just as its owner uses it. */
  #standEmpty(): void {
    const { store } = this.#world;
    for (const [at, node] of ["n1", "n2"].entries()) {
      const range = this.#block(at);
      const owner = { type: "host", name: node } as const;
      store.answer({
        do: "create",
        object: {
          kind: "block",
          value: newBlock({ range, owner: `host:${node}`, nowNs: store.nowNs - 3600n * second }),
        },
      });
      const value = { owner, cidr: `10.9.0.${at * 4}/30`, state: "confirmed", isDeleted: false } as const;
      store.answer({ do: "create", object: { kind: "affinity", value } });
    }
  }
}
