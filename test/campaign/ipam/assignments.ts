// The whole campaign of assignments on one real datastore after another:
//   node test/campaign/ipam/assignments.ts [etcd directory kubernetes memory] [--count N] [--seed 1] [--minutes 60]
// Without --count: 2,000,000 addresses assigned and released on etcd and a folder, 200,000 on Kubernetes. It stops with an error
// at the moment an address is given twice, and after the time it is given with what it has done until then.
import { parseArgs } from "node:util";
import { say, sayWrong } from "../../kit/campaign.ts";
import { assignmentWorlds, useMemoryForFiles } from "../../kit/ipam/assignment-worlds.ts";
import { runAssignments } from "../../kit/ipam/run-assignments.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: "string" },
    seed: { type: "string", default: "1" },
    minutes: { type: "string", default: "60" },
  },
});
const counts = { etcd: 2_000_000, directory: 2_000_000, kubernetes: 200_000, memory: 2_000_000 };
const wanted = positionals.length > 0 ? positionals : ["etcd", "directory", "kubernetes"];
const seed = Number(values.seed);

useMemoryForFiles();
for (const { name, missing, open } of await assignmentWorlds()) {
  if (!wanted.includes(name)) continue;
  if (missing !== undefined) {
    console.log(`skipped: ${name}: ${missing}`);
    continue;
  }
  await using world = await open();
  const count = Number(values.count ?? counts[name]);
  const plan = {
    count,
    nodes: 50,
    workers: 100,
    seed,
    failsOneIn: 200,
    killsOneIn: 2000,
    atMostMs: Number(values.minutes) * 60_000,
    pool: { cidr: "10.88.0.0/21", blockSize: 28 },
  };
  let until: { [name: string]: number } = {};
  try {
    const { foundAtEnd, ...figures } = await runAssignments(world, plan, (done, live) => {
      until = { ...done };
      const sum = done.assigned + done.released;
      console.log(`${name}: ${sum} of ${count} after ${Math.round(done.seconds)} s, ${live} in use`);
    });
    say(name, { ...figures, foundAtEnd: JSON.stringify(foundAtEnd), "given twice": 0, "left after mending": 0 }, seed);
  } catch (error) {
    sayWrong(name, error, until, seed);
    throw error;
  }
}
