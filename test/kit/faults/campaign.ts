// Random faults under random writes. After each fault every follower must come to hold exactly what the datastore holds.
import { systemClock } from "../../../src/base/lib/index.ts";
import type { Kind } from "../../../src/calico/kinds/index.ts";
import { type Random, seededRandom } from "../random.ts";
import { type Content, type Fault, type FaultWorld, type FollowedContent, followContent } from "./world.ts";

export type CampaignOptions = {
  readonly world: FaultWorld;
  readonly count: number;
  readonly seed: number;
  /** How long followers may take after a fault is healed. */
  readonly settleMs?: number;
  readonly says?: (line: string) => void;
};

export type CampaignResult = {
  readonly faults: number;
  readonly writes: number;
  /** What went wrong, in words with seed and number; empty when nothing did. */
  readonly divergences: readonly string[];
  readonly longestSettleMs: number;
  readonly byFault: ReadonlyMap<string, number>;
};

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { world, count, seed, says = () => undefined } = options;
  const random = seededRandom(seed);
  const writer = new RandomWriter(world, random);
  const followers = new Map<Kind, FollowedContent>();
  for (const kind of world.kinds) followers.set(kind, followContent(world.datastore, kind));
  const divergences: string[] = [];
  const byFault = new Map<string, number>();
  let longestSettleMs = 0;
  try {
    await writer.write(20);
    for (let i = 0; i < count; i++) {
      const fault = pickFault(world.faults, random);
      byFault.set(fault.name, (byFault.get(fault.name) ?? 0) + 1);
      await fault.strike({ random, write: (writes) => writer.write(writes) });
      const startMs = performance.now();
      const difference = await settled(world, followers, options.settleMs ?? 60_000);
      longestSettleMs = Math.max(longestSettleMs, performance.now() - startMs);
      const where = `${world.name}, seed ${seed}, fault ${i} (${fault.name})`;
      if (difference !== undefined) divergences.push(`${where}: ${difference}`);
      for (const { complaints } of followers.values()) {
        for (const complaint of (complaints as string[]).splice(0)) divergences.push(`${where}: ${complaint}`);
      }
      if (divergences.length > 0) says(divergences.at(-1) ?? "");
      if ((i + 1) % 25 === 0) says(`${world.name}: ${i + 1} faults, ${divergences.length} divergences`);
    }
  } finally {
    for (const follower of followers.values()) await follower[Symbol.asyncDispose]();
  }
  return { faults: count, writes: writer.count, divergences, longestSettleMs, byFault };
}

class RandomWriter {
  count = 0;
  readonly #world: FaultWorld;
  readonly #random: Random;
  #serial = 0;

  constructor(world: FaultWorld, random: Random) {
    this.#world = world;
    this.#random = random;
  }

  /** Few names, so that objects are often changed, deleted and made again. */
  async write(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const kind = this.#random.pick(this.#world.kinds);
      const name = `o${this.#random.below(30)}`;
      this.#serial += 1;
      this.count += 1;
      if (this.#random.next() < 0.3) await this.#world.remove(kind, name);
      else await this.#world.put(kind, name, this.#serial);
    }
  }
}

function pickFault(faults: readonly Fault[], random: Random): Fault {
  const total = faults.reduce((sum, { weight = 1 }) => sum + weight, 0);
  let left = random.next() * total;
  for (const fault of faults) {
    left -= fault.weight ?? 1;
    if (left < 0) return fault;
  }
  return random.pick(faults);
}

/** Undefined once every follower equals the truth; otherwise, after the time is up, how they differ. */
export async function settled(
  world: FaultWorld,
  followers: ReadonlyMap<Kind, FollowedContent>,
  limitMs: number,
): Promise<string | undefined> {
  const untilMs = performance.now() + limitMs;
  for (;;) {
    const differences: string[] = [];
    for (const [kind, { content }] of followers) {
      const difference = firstDifference(content, await world.truth(kind));
      if (difference !== undefined) differences.push(`${kind}: ${difference}`);
    }
    if (differences.length === 0) return undefined;
    if (performance.now() > untilMs) return differences.join("; ");
    await systemClock.sleep(10);
  }
}

function firstDifference(seen: Content, truth: Content): string | undefined {
  for (const [key, text] of truth) {
    if (seen.get(key) !== text) return `${key} is ${text}, the follower has ${seen.get(key) ?? "nothing"}`;
  }
  for (const key of seen.keys()) if (!truth.has(key)) return `${key} is gone, the follower still has it`;
  return undefined;
}
