// The agent of a host: that there is one, that there are not two, that nothing of its is left behind, and that its Typha answers.
import type { ClusterFacts, HostFacts } from "../facts.ts";
import { finding, type NodeFinding } from "../finding.ts";
import { interfaceOfPod } from "../pod-interface.ts";

export function checkAgent(host: HostFacts, cluster: ClusterFacts): NodeFinding[] {
  return [...checkTypha(host), ...checkRunning(host), ...checkAgents(host), ...checkLeftovers(host, cluster)];
}

function checkRunning({ node, agent }: HostFacts): NodeFinding[] {
  if (agent === undefined || agent.isThere) return [];
  return [
    finding({
      code: "AGENT_SILENT",
      node,
      what: `no agent runs on ${node}`,
      evidence: agent.asked.map((place) => `nobody listens at ${place}`),
    }),
  ];
}

function checkAgents({ node, ruleOwners }: HostFacts): NodeFinding[] {
  if (ruleOwners.length < 2) return [];
  return [
    finding({
      code: "AGENTS_TWO",
      node,
      what: `${node} has packet rules of two agents: Cattail's and the original's`,
      evidence: ["nft list tables: inet cattail, and calico (or chains cali-* of iptables)"],
    }),
  ];
}

function checkTypha({ node, typha }: HostFacts): NodeFinding[] {
  if (typha?.problem === undefined) return [];
  return [
    finding({
      code: "NODE_TYPHA_UNREACHABLE",
      node,
      what: `Typha at ${typha.address}, from ${node}: ${typha.problem}`,
    }),
  ];
}

/** Where no pod is known at all, nobody can tell whose an interface is. */
function checkLeftovers({ node, links }: HostFacts, { pods }: ClusterFacts): NodeFinding[] {
  if (pods.length === 0) return [];
  const known = new Set(pods.map(interfaceOfPod));
  return links
    .filter(({ name, kind }) => /^cali[0-9a-f]{11}$/.test(name) && kind === "veth" && !known.has(name))
    .map(({ name }) => finding({ code: "LEFTOVER_INTERFACE", node, what: `${name} on ${node} belongs to no pod` }));
}
