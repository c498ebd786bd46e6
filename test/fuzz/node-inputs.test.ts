// A short run of the fuzzer of what a node reads; `npm run fuzz:node -- --cases N` is the long one.
import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { fuzzNode, fuzzTargets } from "./node/fuzz.ts";

for (const target of fuzzTargets)
  test(`bent input is read or refused, never a crash: ${target}`, () => {
    const seed = Date.now() % 1_000_000;
    const cases = target === "bird-text" ? 500 : 5_000; // a whole configuration each
    const tally = fuzzNode(target, { seed, cases }); // a failure has its input
    equal(tally.read + tally.refused, cases);
    // Or the fuzzer would only scratch the surface. Of configurations that a runtime gives, a wrong type anywhere is refused.
    ok(tally.read > cases / (target === "cni" ? 25 : 10), JSON.stringify(tally));
  });
