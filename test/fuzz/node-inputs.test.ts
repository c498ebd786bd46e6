// A short run of the fuzzer of what a node reads; `npm run fuzz:node -- --cases N` is the long one.
import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { fuzzNodeInput, fuzzTargets } from "./node-inputs-fuzz.ts";

for (const target of fuzzTargets)
  test(`bent input is read or refused, never a crash: ${target}`, () => {
    const seed = Date.now() % 1_000_000;
    const tally = fuzzNodeInput(target, { seed, cases: 5_000 }); // a failure has its input
    equal(tally.read + tally.refused, 5_000);
    ok(tally.read > 500, JSON.stringify(tally)); // or the fuzzer would only scratch the surface
  });
