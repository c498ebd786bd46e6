// One answer for each port, without asking 65,536 times: verdicts change only where some rule names a port.

import { evaluateSelector } from "../model/index.ts";
import { endpointOfAll, type Flow, hostEndpointOf, judge, type Verdict, type World } from "./flow.ts";
import type { PortRange, Rule } from "./rule.ts";
import type { SetSpec } from "./set-spec.ts";
import type { Endpoint, Policy } from "./values.ts";

export type PortsWithVerdict = PortRange & { readonly verdict: Verdict };

/** Neighbouring ports that are decided in the same way stand together. In the order of the ports. */
export function judgePorts(flow: Flow, world: World): readonly PortsWithVerdict[] {
  const ranges: PortsWithVerdict[] = [];
  const starts = [...startsOf(flow, world)].sort((a, b) => a - b);
  for (const [index, first] of starts.entries()) {
    const verdict = judge({ ...flow, destinationPort: first }, world);
    const last = (starts[index + 1] ?? 65536) - 1;
    const before = ranges.at(-1);
    if (before !== undefined && isSameDecision(before.verdict, verdict)) ranges.splice(-1, 1, { ...before, last });
    else ranges.push({ first, last, verdict });
  }
  return ranges;
}

/** Every port at which some rule that may be asked begins or ends to hold. */
function startsOf(flow: Flow, world: World): ReadonlySet<number> {
  const starts = new Set([0]);
  const add = ({ first, last }: PortRange) => {
    starts.add(first);
    if (last < 65535) starts.add(last + 1);
  };
  for (const rule of rulesAsked(flow, world)) {
    // Untracked rules are asked about answers, too, in which the port is the source's.
    for (const { ports, notPorts, namedPorts, notNamedPorts, service } of [rule.destination, rule.source]) {
      for (const range of [...ports, ...notPorts]) add(range);
      for (const set of [...namedPorts, ...notNamedPorts, service]) for (const port of portsOf(set, world)) add(port);
    }
  }
  for (const node of nodesOf(flow)) {
    const { failsafe, vxlanPort } = world.settingsOf(node);
    for (const { port } of [...failsafe.ingress, ...failsafe.egress]) add({ first: port, last: port });
    add({ first: vxlanPort, last: vxlanPort });
  }
  return starts;
}

function* rulesAsked(flow: Flow, world: World): Generator<Rule> {
  const endpoints = endpointsOf(flow, world);
  const isAsked = (policy: Policy) =>
    endpoints.some((endpoint) => evaluateSelector(policy.selector, world.members.labelsOf(endpoint)));
  for (const policy of world.data.policies.values())
    if (isAsked(policy)) yield* [...policy.rules.ingress, ...policy.rules.egress];
  for (const id of endpoints.flatMap(({ profileIds }) => profileIds)) {
    const profile = world.data.profiles.get(id);
    if (profile !== undefined) yield* [...profile.rules.ingress, ...profile.rules.egress];
  }
}

function endpointsOf(flow: Flow, { data }: World): readonly Endpoint[] {
  const workloads = [flow.source, flow.destination].flatMap((place) =>
    place.is === "workload" ? [place.workload] : [],
  );
  const hosts = nodesOf(flow).flatMap((node) => [hostEndpointOf(node, data), endpointOfAll(node, data)]);
  return [...workloads, ...hosts.filter((one) => one !== undefined)];
}

function nodesOf({ source, destination }: Flow): readonly string[] {
  return [source, destination].flatMap((place) => {
    if (place.is === "workload") return [place.workload.host];
    return place.is === "node" ? [place.node] : [];
  });
}

function portsOf(set: SetSpec | undefined, { members }: World): readonly PortRange[] {
  if (set === undefined) return [];
  return members.of(set).flatMap(({ port }) => (port === undefined ? [] : [{ first: port, last: port }]));
}

/** Whether the same rule, or the same end of a tier, has decided. */
export function isSameDecision(a: Verdict, b: Verdict): boolean {
  const [one, other] = [a.decisive, b.decisive];
  if (a.verdict !== b.verdict || one?.reason !== other?.reason || one?.class !== other?.class) return false;
  if (one?.direction !== other?.direction || one?.endpoint !== other?.endpoint) return false;
  const [first, second] = [one?.answer?.cause, other?.answer?.cause];
  if (first?.is !== second?.is) return false;
  const ruleOf = (cause: typeof first) => (cause?.is === "rule" || cause?.is === "profile" ? cause.at.rule : undefined);
  return ruleOf(first) === ruleOf(second);
}
