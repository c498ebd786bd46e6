// A short run of the differential fuzzer against Go's encoding/gob. The long one: npm run fuzz:gob -- --cases N.
import { ok } from "node:assert/strict";
import { test } from "node:test";
import { goPeer } from "../kit/go.ts";
import { testSeed } from "../kit/random.ts";
import { fuzz } from "./gob-fuzz.ts";

const peer = await goPeer("test/vectors/make/gob");

test("30,000 bent and invented streams: Go and we agree on each", { skip: peer.missing ?? false }, async () => {
  const seed = testSeed();
  console.log(`gob fuzz: CATTAIL_SEED=${seed} brings these cases back`);
  const tally = await fuzz({ oraclePath: peer.path ?? "", seed, cases: 30_000 });
  console.log(`gob fuzz: ${JSON.stringify(tally)}`);
  ok(tally.accepted > 2500, "enough streams are good for the values to be compared");
  ok(tally.refused > 2500, "enough streams are bad for the refusals to be compared");
});
