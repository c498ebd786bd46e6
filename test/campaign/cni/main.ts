// npm run campaign:cni: pods come and go on several nodes, on real namespaces and a real API server, with everything that can happen to a runtime, its
// pods, the plugin, the agent and the API server in between; after each sequence nothing may be left.
//   npm run campaign:cni -- [--sequences 2000] [--seed 1] [--nodes 4] [--with-agent 7 (of ten)] [--minutes 120]
// CATTAIL_CNI_PLUGINS=FOLDER: another pair of plugins, which leaks what it leaks.
import { parseArgs } from "node:util";
import { say, sayWrong } from "../../kit/campaign.ts";
import { clusterPeer } from "../../kit/cluster.ts";
import { runCniCampaign } from "../../kit/cni-campaign/run-campaign.ts";
import { noNamespaces } from "../../kit/namespace.ts";

const { values } = parseArgs({
  options: {
    sequences: { type: "string", default: "2000" },
    seed: { type: "string", default: "1" },
    nodes: { type: "string", default: "4" },
    "with-agent": { type: "string", default: "7" },
    minutes: { type: "string", default: "120" },
  },
});
const missing = noNamespaces || (await clusterPeer()).missing;
if (missing) {
  console.log(`skipped: ${missing}`);
} else {
  const seed = Number(values.seed);
  const plan = {
    sequences: Number(values.sequences),
    seed,
    nodes: Number(values.nodes),
    residentOfTen: Number(values["with-agent"]),
    atMostMs: Number(values.minutes) * 60_000,
    plugins: process.env.CATTAIL_CNI_PLUGINS,
  };
  let until: { [name: string]: number } = { sequences: 0 };
  try {
    const figures = await runCniCampaign(plan, (so) => {
      until = { ...so };
      if (so.sequences % 50 === 0)
        console.log(`${so.sequences} sequences after ${Math.round(so.seconds)} s, ${so.calls} calls`);
    });
    say("cni", { ...figures, leaked: 0 }, seed);
  } catch (error) {
    sayWrong("cni", error, until, seed);
    throw error;
  }
}
