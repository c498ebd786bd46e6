// npm run fuzz:gob -- --cases N [--seed S]: the differential fuzzer for as long as you like, with its speed.
import { parseArgs } from "node:util";
import { goPeer } from "../kit/go.ts";
import { record } from "../kit/record.ts";
import { fuzz, type Tally } from "./gob-fuzz.ts";

const { values } = parseArgs({ options: { cases: { type: "string" }, seed: { type: "string" } } });
const total = Number(values.cases ?? 1_000_000);
const firstSeed = Number(values.seed ?? 1);
const peer = await goPeer("test/vectors/make/gob");
if (peer.path === undefined) throw new Error(`the fuzzer needs Go: ${peer.missing}`);

// A new seed, and with it a new corpus from Go's encoder, every so often.
const casesPerSeed = 250_000;
const started = performance.now();
const sum: Tally = { cases: 0, accepted: 0, refused: 0, limited: 0, ambiguous: 0 };
for (let seed = firstSeed; sum.cases < total; seed++) {
  const tally = await fuzz({ oraclePath: peer.path, seed, cases: Math.min(casesPerSeed, total - sum.cases) });
  for (const key of Object.keys(sum) as (keyof Tally)[]) sum[key] += tally[key];
  const rate = Math.round(sum.cases / ((performance.now() - started) / 1000));
  console.log(`seed ${seed}: ${sum.cases} cases, ${rate} cases/s, ${JSON.stringify(sum)}`);
}
console.log(`${sum.cases} cases, no disagreement`);
record({ of: "gob", seed: firstSeed, figures: sum });
