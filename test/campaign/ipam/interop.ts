// Our IPAM plugin and the original's on one datastore at the same time:
//   CATTAIL_ORIGINAL_IPAM=/path/to/calico-ipam node test/campaign/ipam/interop.ts [--calls 400] [--workers 8] [--seed 1]
// Once without, and once with calls that are killed. The original is any release's calico-ipam, or its combined program.
import { parseArgs } from "node:util";
import { say, sayWrong } from "../../kit/campaign.ts";
import { interopOnEtcd, interopOnKubernetes } from "../../kit/ipam/interop.ts";
import { seededRandom } from "../../kit/random.ts";

const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "400" },
    workers: { type: "string", default: "8" },
    seed: { type: "string", default: "1" },
  },
});
const original = process.env.CATTAIL_ORIGINAL_IPAM ?? "";
const seed = Number(values.seed);
if (original === "") console.log("skipped: CATTAIL_ORIGINAL_IPAM names no calico-ipam of the original");
const datastores = [
  { name: "etcd", run: interopOnEtcd },
  { name: "kubernetes", run: interopOnKubernetes },
];
for (const { name, run } of original === "" ? [] : datastores) {
  for (const kills of [0, 0.2]) {
    const plan = { calls: Number(values.calls), workers: Number(values.workers), kills, random: seededRandom(seed) };
    const of = `interop on ${name}, ${kills * 100} % killed`;
    const { refused, ...figures } = await run(original, plan).catch((error: unknown) => {
      sayWrong(of, error, {}, seed);
      throw error;
    });
    say(of, { ...figures, refused: JSON.stringify(Object.fromEntries(refused)), "given twice": 0 }, seed);
  }
}
