// Random faults under random writes, against real datastores; after each, every follower must hold what the datastore
// holds.
//   npm run faults -- [--count 1000] [--seed 1] [--world etcd|etcd-3|kubernetes|directory|memory] [--together]
// One datastore after the other, or with --together side by side: most of the time is spent waiting for one to come back.
// Closes with one line that counts faults and divergences, and fails when there is one.
import { parseArgs } from "node:util";
import { runCampaign } from "../test/kit/faults/campaign.ts";
import { faultWorlds, type WorldEntry } from "../test/kit/faults/worlds.ts";
import { record } from "../test/kit/record.ts";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    world: { type: "string" },
    together: { type: "boolean", default: false },
  },
});
const count = Number(values.count);
const seed = Number(values.seed);
if (!Number.isInteger(count) || count < 1 || !Number.isInteger(seed)) {
  console.error("--count and --seed must be whole numbers, --count at least 1");
  process.exit(2);
}
const all = await faultWorlds();
const asked = all.filter(({ name }) => values.world === undefined || name === values.world);
if (asked.length === 0) {
  console.error(`--world must be one of ${all.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}
for (const { name, missing } of asked) if (missing !== undefined) console.log(`skipped: ${name} (${missing})`);
const worlds = asked.filter(({ missing }) => missing === undefined);
const startMs = performance.now();
let [faults, writes] = [0, 0];
const divergences: string[] = [];
const parts = shares(worlds).filter(([, part]) => part > 0);
if (values.together) await Promise.all(parts.map(([entry, part]) => strike(entry, part)));
else for (const [entry, part] of parts) await strike(entry, part);
for (const line of divergences) console.log(`DIVERGED  ${line}`);
const minutes = ((performance.now() - startMs) / 60_000).toFixed(1);
console.log(`\n${faults} faults, ${writes} writes, seed ${seed}, ${divergences.length} divergences, ${minutes} min`);
process.exit(divergences.length === 0 && worlds.length > 0 ? 0 : 1);

async function strike(entry: WorldEntry, part: number): Promise<void> {
  const beganMs = performance.now();
  await using world = await entry.open();
  const result = await runCampaign({ world, count: part, seed, says: (line) => console.log(line) });
  faults += result.faults;
  writes += result.writes;
  divergences.push(...result.divergences);
  const seconds = ((performance.now() - beganMs) / 1000).toFixed(0);
  const longest = (result.longestSettleMs / 1000).toFixed(1);
  console.log(`\n${entry.name}: ${part} faults, ${result.writes} writes, ${seconds} s, at most ${longest} s to settle`);
  record({
    of: entry.name,
    seed,
    figures: {
      faults: part,
      writes: result.writes,
      divergences: result.divergences.length,
      longestSettleMs: Math.round(result.longestSettleMs),
      byFault: Object.fromEntries([...result.byFault].sort()),
    },
  });
  for (const [name, times] of [...result.byFault].sort(([, a], [, b]) => b - a)) console.log(`  ${times} x ${name}`);
}

/** Whole numbers in proportion to the shares, which add up to the count. */
function shares(entries: readonly WorldEntry[]): [WorldEntry, number][] {
  const total = entries.reduce((sum, { share }) => sum + share, 0);
  let left = count;
  return entries.map((entry, index) => {
    const isLast = index === entries.length - 1;
    const part = isLast ? left : Math.min(left, Math.round((count * entry.share) / total));
    left -= part;
    return [entry, part];
  });
}
