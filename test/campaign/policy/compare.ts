// Packets against explain: a random cluster is loaded, flows between its pods, its node and the world are tried, and each outcome is
// compared with what the policies mean. What differs is tried again with patience before it is called a difference.
import { judge, nodeSettings, worldOf } from "../../../src/calico/policy/index.ts";
import { type ProbedFlow, readFlow } from "../../kit/policy/flow.ts";
import type { PolicyLab } from "../../kit/policy/lab.ts";
import type { PartUnderTest } from "../../kit/policy/part-under-test.ts";
import { probe } from "../../kit/policy/probe.ts";
import type { Random } from "../../kit/random.ts";
import type { RandomCluster } from "./random-cluster.ts";

const pods = ["red/web", "red/db", "blue/web", "blue/client", "green/tools"];
const others = ["red/far", "ext1", "node"];
const probes = [
  "tcp:80",
  "tcp:8080",
  "tcp:22",
  "tcp:443",
  "udp:53",
  "udp:8080",
  "sctp:8080",
  "icmp",
  "tcp6:80",
  "tcp6:8080",
  "udp6:53",
  "sctp6:80",
  "icmp6",
  "icmp:13/0",
  "icmp:13/1",
];

/** Every pair once, each with a few of the probes. */
export function flowsFor(random: Random): readonly ProbedFlow[] {
  const places = [...pods, ...others];
  const texts = places.flatMap((from) =>
    places.flatMap((to) => {
      const isInside = pods.includes(from) || pods.includes(to) || from === "node" || to === "node";
      if (from === to || !isInside) return [];
      return [random.pick(probes), random.pick(probes)].map((one) => `${from} > ${to} ${one}`);
    }),
  );
  return [...new Set(texts)].map(readFlow);
}

export type Difference = { readonly flow: string; readonly packets: string; readonly means: string };

export async function compare(
  { world, values }: RandomCluster,
  flows: readonly ProbedFlow[],
  { lab, part, timeoutMs }: { readonly lab: PolicyLab; readonly part: PartUnderTest; readonly timeoutMs: number },
): Promise<readonly Difference[]> {
  part.sayAll(values);
  await part.settled();
  lab.forgetConnections();
  const settings: { readonly [name: string]: string } = { defaultendpointtohostaction: "Accept" };
  const connections = worldOf(world.data, {
    isEnforcedOn: (node) => node === "node-a",
    settingsOf: (node) => nodeSettings((name) => settings[name.toLowerCase()] ?? world.data.setting(node, name)),
  });
  // ICMP of a type of its own is a probe that nobody answers: it has passed when it arrives, whatever would become of an answer.
  const packetsAlone = { ...connections, asksOfAnswers: false };
  const meant = new Map<string, string>();
  for (const flow of flows) {
    const known = isKnown(flow, values);
    const said = world.flow(flow.text);
    if ("left" in said) continue;
    // Without an endpoint an interface passes nothing; what the node itself sends arrives there, but no answer comes back.
    if (!known && flow.from === "node") continue;
    if (flow.family === 6 && !connections.settingsOf("node-a").isIpv6On) meant.set(flow.text, "allow");
    else
      meant.set(flow.text, known ? judge(said, flow.icmp === undefined ? connections : packetsAlone).verdict : "deny");
  }
  let open = flows.filter(({ text }) => meant.has(text));
  let differences: Difference[] = [];
  for (const limitMs of [timeoutMs, timeoutMs * 4, 2_000, 10_000]) {
    const got = await probe(open, { resolve: lab.resolve, servers: lab.servers, timeoutMs: limitMs });
    differences = open.flatMap(({ text }) => {
      const packets = got.get(text) === "reject" ? "deny" : (got.get(text) ?? "");
      const means = meant.get(text) ?? "";
      return packets === means ? [] : [{ flow: text, packets, means }];
    });
    open = open.filter(({ text }) => differences.some(({ flow }) => flow === text));
    if (open.length === 0) break;
  }
  return differences;
}

/** Whether both ends that are local pods have an endpoint. */
function isKnown({ from, to }: ProbedFlow, values: ReadonlyMap<string, string>): boolean {
  const has = (place: string) =>
    !pods.includes(place) ||
    values.has(`/calico/v1/host/node-a/workload/k8s/${place.replace("/", "%2f")}/endpoint/eth0`);
  return has(from) && has(to);
}
