// A short run of the netlink fuzzer; `npm run fuzz:netlink -- --cases N` is the long one.
import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { fuzzNetlink } from "./netlink-fuzz.ts";

test("bent netlink messages are read or refused, never a crash", () => {
  const tally = fuzzNetlink({ seed: Date.now() % 1_000_000, cases: 20_000 }); // a failure has its bytes
  equal(tally.read + tally.refused, 20_000);
  // Both, or the fuzzer would only scratch the surface.
  ok(tally.read > 1_000 && tally.refused > 1_000, JSON.stringify(tally));
});
