// What an operator sees of policy on a node: counters of rules, and denied packets with what denied them.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";
import { drops, policyCounters } from "../../src/node/dataplane/index.ts";
import { lineOf } from "../../src/programs/node/drops.ts";
import { prometheusText, tableText } from "../../src/programs/node/policies.ts";
import { eventually } from "../kit/eventually.ts";
import { readFlow } from "../kit/policy/flow.ts";
import { PolicyLab } from "../kit/policy/lab.ts";
import { noPolicyLab } from "../kit/policy/needs.ts";
import { PartUnderTest } from "../kit/policy/part-under-test.ts";
import { probe } from "../kit/policy/probe.ts";
import { PolicyWorld } from "../kit/policy-world.ts";

const skip = noPolicyLab;
let lab: PolicyLab;
let part: PartUnderTest;

before(async () => {
  if (noPolicyLab !== false) return;
  lab = new PolicyLab();
  const world = new PolicyWorld();
  for (const pod of world.pods) lab.addPod(pod.namespace, pod.name, pod.ips, pod.node === "node-a");
  part = new PartUnderTest({ node: "node-a", namespace: lab.node.path });
  part.start();
  part.sayAll(world.said);
  part.say(
    "/calico/v1/policy/GlobalNetworkPolicy//web",
    JSON.stringify({
      tier: "default",
      selector: "app == 'web'",
      types: ["ingress"],
      inbound_rules: [
        { action: "allow", protocol: "tcp", dst_ports: [80] },
        { action: "deny", protocol: "udp" },
      ],
    }),
  );
  await part.settled();
});

after(async () => {
  await part?.stop();
  lab?.[Symbol.dispose]();
});

const tryOne = async (text: string) =>
  (await probe([readFlow(text)], { resolve: lab.resolve, servers: lab.servers, timeoutMs: 500 })).get(text);

test("counters say which rule of which policy met how many packets", { skip }, async () => {
  equal(await tryOne("red/db > red/web tcp:80"), "allow");
  equal(await tryOne("red/db > red/web udp:53"), "deny");
  const counts = (await policyCounters({ namespace: lab.node.path })) ?? [];
  const of = (rule: number) => counts.find((one) => one.policy === "GlobalNetworkPolicy web" && one.rule === rule);
  deepEqual([of(1)?.action, of(1)?.direction, of(2)?.action], ["allow", "ingress", "deny"]);
  ok((of(1)?.packets ?? 0) >= 1 && (of(2)?.packets ?? 0) >= 1);
  match(tableText(counts), /^POLICY +RULE +DIRECTION +ACTION +PACKETS +BYTES\n/);
  match(
    prometheusText(counts),
    /cattail_policy_packets\{policy="GlobalNetworkPolicy web",rule="2",direction="ingress",action="deny"\} \d+\n/,
  );
});

test("metrics say what there is in the cluster, and what of it matters to this node", { skip }, async () => {
  const text = await part.metrics.text();
  const of = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
  deepEqual(
    [of("felix_active_local_endpoints"), of("felix_active_local_policies"), of("felix_cluster_num_policies")],
    [5, 1, 1],
  );
  deepEqual([of("felix_cluster_num_hosts"), of("felix_cluster_num_workload_endpoints")], [2, 7]);
  ok(of("felix_cluster_num_profiles") > 0 && of("felix_cluster_num_tiers") > 0);
  ok(of("felix_label_index_num_endpoints") >= 7 && of("felix_calc_graph_output_events") > 0);
  ok(of("felix_int_dataplane_msg_batch_size_count") > 0 && of("felix_int_dataplane_msg_batch_size_sum") > 0);
});

test("a node without our table has no counters", { skip }, async () => {
  equal(
    await policyCounters({ namespace: `/proc/${process.pid}/ns/net` }).then((found) => found === undefined),
    !hasTable(),
  );
});

test("denied packets are shown with the rule that denied them, where samples are asked for", { skip }, async () => {
  const stop = new AbortController();
  const seen: string[] = [];
  const following = (async () => {
    for await (const drop of drops({ namespace: lab.node.path, signal: stop.signal })) seen.push(lineOf(drop));
  })();
  equal(await tryOne("red/db > red/web udp:53"), "deny");
  deepEqual(seen, [], "nobody asked for samples");
  part.configure({ DropSamplesPerSecond: "10" });
  await part.settled();
  equal(await tryOne("red/db > red/web udp:53"), "deny");
  equal(await tryOne("red/db > red/web tcp:443"), "deny");
  await eventually(() => seen.length >= 2, "samples to be shown", 10_000);
  const text = seen.join("\n");
  match(text, /^udp 10\.65\.0\.3:\d+ > 10\.65\.0\.2:53 \(cali\w+ to cali\w+\): GlobalNetworkPolicy web rule 2$/m);
  match(text, /^tcp 10\.65\.0\.3:\d+ > 10\.65\.0\.2:443 .*: end of tier default$/m);
  stop.abort();
  await following;
});

function hasTable(): boolean {
  return execFileSync("nft", ["list", "tables"], { encoding: "utf8" }).includes("inet cattail\n");
}
