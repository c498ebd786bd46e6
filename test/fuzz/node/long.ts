// npm run fuzz:node -- --cases N [--seed S] [--target NAME]: the fuzzer of what a node reads and writes for as long as you like; N cases of each kind.
import { parseArgs } from "node:util";
import { record } from "../../kit/record.ts";
import { fuzzNode, fuzzTargets } from "./fuzz.ts";

const { values } = parseArgs({
  options: { cases: { type: "string" }, seed: { type: "string" }, target: { type: "string" } },
});
const total = Number(values.cases ?? 1_000_000);
const firstSeed = Number(values.seed ?? 1);
const casesPerSeed = 100_000;
const figures: { [target: string]: { cases: number; read: number; refused: number; seconds: number } } = {};
for (const target of fuzzTargets) {
  if (values.target !== undefined && values.target !== target) continue;
  const sum = { cases: 0, read: 0, refused: 0 };
  const startedMs = performance.now();
  for (let seed = firstSeed; sum.cases < total; seed++) {
    const tally = fuzzNode(target, { seed, cases: Math.min(casesPerSeed, total - sum.cases) });
    sum.cases += tally.cases;
    sum.read += tally.read;
    sum.refused += tally.refused;
  }
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  figures[target] = { ...sum, seconds };
  console.log(
    `${target}: ${sum.cases} cases from seed ${firstSeed} on: ${sum.read} read, ${sum.refused} refused, ${seconds} s`,
  );
}
record({ of: "node-inputs", seed: firstSeed, figures });
