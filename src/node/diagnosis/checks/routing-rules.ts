// Rules of routing that somebody has made (policy routing): they send packets of pods another way than those of the node, which are all that a look
// into its routes shows. Asked only of pods whose pings have no answer.
import type { ClusterFacts, HostFacts, PodLookup } from "../facts.ts";
import { finding, type NodeFinding } from "../finding.ts";

export function checkRoutingRules(
  { node, podLookups = [], lookups, rules = [] }: HostFacts,
  { pods }: ClusterFacts,
): NodeFinding[] {
  const strayed = podLookups.filter((each) => {
    const own = lookups.find(({ to }) => to === each.to);
    return own !== undefined && own.refused === undefined && !isSame(each, own);
  });
  const [first] = strayed;
  if (first === undefined) return [];
  const isOfStrayed = (address: string) => strayed.some(({ from, to }) => address === from || address === to);
  const isStrayed = (name: string) =>
    pods.some((pod) => `${pod.namespace}/${pod.name}` === name && isOfStrayed(pod.address ?? ""));
  return [
    finding({
      code: "ROUTING_RULE",
      node,
      what: `a rule of routing on ${node} sends packets from ${first.from} to ${first.to} another way: ${wayText(first)}`,
      evidence: [
        `ip route get ${first.to} from ${first.from} iif ${first.arrives}: ${wayText(first)}`,
        ...rules.map((rule) => `ip rule: ${rule}`),
      ],
      explains: ({ kind, from, fromNode, node: to, address }) =>
        (kind === "pod" || kind === "pod to pod") &&
        (fromNode === node || to === node) &&
        (isOfStrayed(address) || isStrayed(from)),
    }),
  ];
}

function isSame(one: PodLookup, other: { readonly gateway?: string; readonly link?: string }): boolean {
  return one.refused === undefined && one.link === other.link && one.gateway === other.gateway;
}

function wayText({ refused, gateway, link }: PodLookup): string {
  if (refused !== undefined) return refused;
  return gateway === undefined ? `dev ${link}` : `via ${gateway} dev ${link}`;
}
