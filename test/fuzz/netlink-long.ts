// npm run fuzz:netlink -- --cases N [--seed S]: the netlink fuzzer for as long as you like, with its speed.
import { parseArgs } from "node:util";
import { record } from "../kit/record.ts";
import { fuzzNetlink, type NetlinkTally } from "./netlink-fuzz.ts";

const { values } = parseArgs({ options: { cases: { type: "string" }, seed: { type: "string" } } });
const total = Number(values.cases ?? 1_000_000);
const firstSeed = Number(values.seed ?? 1);
const casesPerSeed = 250_000;
const started = performance.now();
const sum: NetlinkTally = { cases: 0, read: 0, refused: 0 };
for (let seed = firstSeed; sum.cases < total; seed++) {
  const tally = fuzzNetlink({ seed, cases: Math.min(casesPerSeed, total - sum.cases) });
  for (const key of Object.keys(sum) as (keyof NetlinkTally)[]) sum[key] += tally[key];
  const rate = Math.round(sum.cases / ((performance.now() - started) / 1000));
  console.log(`seed ${seed}: ${sum.cases} cases, ${rate} cases/s, ${JSON.stringify(sum)}`);
}
console.log(`${sum.cases} cases, each read or refused`);
record({ of: "netlink", seed: firstSeed, figures: sum });
