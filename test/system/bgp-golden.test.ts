// Recorded cases of the original's confd and BIRD, played on namespaces with a real BIRD 2: the same sessions, the same routes received, the same routes
// in the kernel, and the same sessions that stay up through a change. npm test plays every sixth, npm run test:all the rest.
import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { bgpCaseNames, readBgpCase } from "../kit/bgp/case.ts";
import { noBird } from "../kit/bgp/daemon.ts";
import { PlayedCase } from "../kit/bgp/play.ts";
import { noNamespaces } from "../kit/namespace.ts";
import { shareOf } from "../kit/share.ts";

const skip = noNamespaces || noBird;

describe("recorded BGP", { concurrency: 4, skip }, () => {
  for (const name of shareOf(bgpCaseNames, process.env.CATTAIL_TEST_PART, 6)) {
    test(name, { timeout: 590_000 }, async () => {
      const { played, expected } = readBgpCase(name);
      await using run = await PlayedCase.start(played);
      for (const [at, facts] of expected.entries()) {
        if (at > 0) await run.stage(played.stages?.[at - 1] ?? {});
        deepEqual(await run.settle(facts), [], `stage ${at} of ${name}`);
      }
    });
  }
});
