// Campaign: addresses are assigned and released by many workers on real datastores, with failing and late writes and killed workers,
// and a mender beside them: none is given twice, and when all is mended an audit finds nothing. Whole: npm run campaign:ipam
// (2,000,000 on etcd and on a folder, 200,000 on Kubernetes).
import { ok } from "node:assert/strict";
import { test } from "node:test";
import { assignmentWorlds } from "../kit/ipam/assignment-worlds.ts";
import { runAssignments } from "../kit/ipam/run-assignments.ts";
import { testSeed } from "../kit/random.ts";

const seed = testSeed();
const counts = { memory: 3000, directory: 400, etcd: 1200, kubernetes: 600 };

for (const { name, missing, open } of await assignmentWorlds()) {
  const count = counts[name];
  test(`${count} addresses assigned and released in ${name} (seed ${seed})`, {
    skip: missing ?? false,
    timeout: 300_000,
  }, async () => {
    await using world = await open();
    const plan = {
      count,
      nodes: 5,
      workers: 10,
      seed,
      failsOneIn: 60,
      killsOneIn: 300,
      atMostMs: 120_000,
      pool: { cidr: "10.88.0.0/25", blockSize: 28 },
    };
    const done = await runAssignments(world, plan);
    ok(done.assigned + done.released > 100, "hardly anything was done");
    ok(done.faults > 0, "nothing failed");
  });
}
