// npm run fuzz:ctl -- --against CMD [--cases 100] [--seed N] [--on kubernetes|etcdv3] [--oddness 12] [--ours CMD] [--verbose]
// Random commands, ours next to the original's calicoctl. Prints each case whose answers differ, with its seed; --cases 1 --seed N
// brings it back.
import { parseArgs } from "node:util";
import { crdManifest, customKinds } from "../../../src/calico/kinds/index.ts";
import { etcdStore } from "../../conformance/ctl/etcd-store.ts";
import { kubernetesStore } from "../../conformance/ctl/kubernetes-store.ts";
import { aProcess, withinTest } from "../../conformance/ctl/programs.ts";
import type { Store } from "../../conformance/ctl/store.ts";
import { startCluster } from "../../kit/cluster.ts";
import { installCrds } from "../../kit/crds.ts";
import { startEtcd } from "../../kit/etcd.ts";
import { tryOne } from "./differential.ts";

const { values: flags } = parseArgs({
  options: {
    against: { type: "string" },
    cases: { type: "string", default: "100" },
    seed: { type: "string", default: `${Date.now() % 1_000_000}` },
    on: { type: "string", default: "kubernetes" },
    oddness: { type: "string", default: "12" },
    ours: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
});
if (flags.against === undefined) throw new Error("--against CMD names the original's calicoctl");
const on = flags.on === "etcdv3" ? "etcdv3" : "kubernetes";
const original = aProcess(flags.against.split(" "));
const ours = flags.ours === undefined ? withinTest : aProcess(flags.ours.split(" "));

await using servers = new AsyncDisposableStack();
const store = await openStore(servers);
let different = 0;
for (let at = 0; at < Number(flags.cases); at++) {
  const seed = Number(flags.seed) + at;
  const { golden, differences } = await tryOne({ seed, store, ours, original, on, oddness: Number(flags.oddness) });
  if (flags.verbose) console.log(JSON.stringify(golden.steps), JSON.stringify(golden.expected.steps, null, 1));
  if (differences.length === 0) continue;
  different += 1;
  console.log(`seed ${seed}:\n  ${differences.slice(0, 4).join("\n  ")}`);
}
console.log(`${flags.cases} cases from seed ${flags.seed} on, ${different} with differences`);

async function openStore(until: AsyncDisposableStack): Promise<Store> {
  if (on === "etcdv3") {
    const { members } = until.use(await startEtcd());
    const [member] = members;
    if (member === undefined) throw new Error("no etcd member");
    return etcdStore(member);
  }
  const cluster = until.use(await startCluster());
  await installCrds(
    cluster,
    customKinds.map((kind) => crdManifest(kind)),
  );
  return await kubernetesStore(cluster);
}
