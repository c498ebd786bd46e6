// Facts in, findings out. What is wrong in itself comes first; of what fails in the probes only that is told which nothing else explains. Each family
// of addresses is looked at by itself; what is wrong with both (a lost name, a switch port) is told once.
import { checkCluster } from "./checks/cluster.ts";
import { checkHost } from "./checks/host.ts";
import { checkProbes } from "./checks/probes.ts";
import { checkRoutes } from "./checks/routes.ts";
import type { ClusterFacts, Facts, Probe } from "./facts.ts";
import { factsOf, familiesOf, type WholeFacts } from "./families.ts";
import type { NodeFinding } from "./finding.ts";

export function diagnose(whole: WholeFacts): NodeFinding[] {
  const found = familiesOf(whole.cluster).flatMap((family) => diagnoseFamily(factsOf(whole, family)));
  const once = new Map<string, NodeFinding>();
  for (const each of found) {
    if (each.isOfOtherFamily) continue;
    const key = JSON.stringify([each.code, each.node, each.what]);
    if (!once.has(key)) once.set(key, each);
  }
  return [...once.values()];
}

export function diagnoseFamily(facts: Facts): NodeFinding[] {
  const { cluster, hosts, nowMs } = facts;
  const direct = [
    ...checkCluster(facts),
    ...hosts.flatMap((host) => [...checkHost(host, { cluster, nowMs }), ...checkRoutes(host, cluster)]),
  ];
  return withoutConsequences([...direct, ...checkProbes(facts, direct)], cluster);
}

/**
 * A session with a BIRD that is silent or waits is down, or about to be, and so is one with a node that does not answer, or has no agent: those say it
 * all.
 */
const isSaying: ReadonlySet<string> = new Set(["BGP_WAITS", "BIRD_SILENT", "AGENT_SILENT", "NODE_UNREACHABLE"]);

/** An agent that meets them ends, and begins anew: that it is not there is no more than that. */
const isEnding: ReadonlySet<string> = new Set([
  "DATASTORE_LOCKED",
  "NODE_RIGHTS_MISSING",
  "NODE_ADDRESS_DUPLICATE",
  "NODE_UNKNOWN",
]);

/** Without an agent there is nobody to start BIRD, and none of a new pod's routes and rules. */
const needsAgent: ReadonlySet<string> = new Set(["BIRD_SILENT", "POD_ROUTE_MISSING", "POD_SILENT"]);

function withoutConsequences(all: readonly NodeFinding[], { nodes }: ClusterFacts): NodeFinding[] {
  const isEnded = all.some(({ code }) => isEnding.has(code));
  const running = all.filter(({ code }) => code !== "AGENT_SILENT" || !isEnded);
  const isWithout = (node: string) => running.some((each) => each.code === "AGENT_SILENT" && each.node === node);
  const findings = running.filter(({ code, node }) => !needsAgent.has(code) || !isWithout(node));
  const waiting = findings.filter(({ code }) => isSaying.has(code));
  const strayed = findings.filter(({ code }) => code === "NEIGHBOUR_WRONG");
  const isOf = (cause: NodeFinding, session: NodeFinding) =>
    nodes
      .map(({ name }) => between(session.node, name))
      .some((probe) => session.explains(probe) && cause.explains(probe));
  return findings.filter(
    (each) =>
      each.code !== "BGP_SESSION_DOWN" ||
      !(
        waiting.some(({ node }) => each.explains(between(each.node, node))) ||
        strayed.some((cause) => isOf(cause, each))
      ),
  );
}

function between(fromNode: string, node: string): Probe {
  return { kind: "pod", from: fromNode, fromNode, to: node, node, address: "", ok: false };
}
