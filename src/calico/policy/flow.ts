// The way of a connection's first packet through the nodes, and who has a word on it: the sender's egress, the host endpoints
// of the nodes that it leaves and enters, the receiver's ingress. The first that denies ends it.
import { type AddressRange, holds } from "../../base/lib/index.ts";
import { type Answer, evaluate, type Question } from "./evaluate.ts";
import type { Packet } from "./match-rule.ts";
import { Members } from "./members.ts";
import type { PolicyData } from "./policy-data.ts";
import { isFailsafe, type NodeSettings, settingsOf } from "./settings.ts";
import type { Direction, Endpoint, HostEndpoint, Policy, Workload } from "./values.ts";

/** An end of a flow. */
export type Place =
  | { readonly is: "workload"; readonly workload: Workload; readonly address: AddressRange }
  /** A process on the node itself. */
  | { readonly is: "node"; readonly node: string; readonly address: AddressRange }
  | { readonly is: "outside"; readonly address: AddressRange };

export type Flow = {
  readonly source: Place;
  readonly destination: Place;
  readonly protocol: number;
  readonly sourcePort?: number;
  readonly destinationPort?: number;
  readonly icmp?: { readonly type: number; readonly code: number };
};

/** Which traffic of an endpoint a stage is about. */
export type StageClass = "endpoint" | "host" | "forwarded" | "before NAT" | "untracked";

export type Stage = {
  readonly node: string;
  readonly endpoint: Endpoint | undefined;
  readonly direction: Direction;
  readonly class: StageClass;
  readonly verdict: "allow" | "deny" | "undecided";
  readonly answer: Answer | undefined;
  /** What its policies were asked about: addresses may be hidden on the way. */
  readonly packet?: Packet;
  /** Where no policy was asked: what decided instead. */
  readonly reason?: Reason;
};

export type Reason =
  | "the endpoint is not active"
  | "the pod asks for source addresses that its node does not allow (WorkloadSourceSpoofing), so it is closed"
  | "pods may not send encapsulated packets"
  | "a node always reaches its own pods"
  | "a pod always reaches itself: its packets do not leave it"
  | "pods may not reach their own node (DefaultEndpointToHostAction)"
  | "pods may reach their own node (DefaultEndpointToHostAction)"
  | "a failsafe port of the host"
  | "the answer is not tracked, and no untracked rule lets it pass"
  | "an untracked rule drops the answer"
  | "only one half of the connection is tracked"
  | "the packet is not tracked, so its answer leaves with the node's address";

export type Verdict = {
  readonly verdict: "allow" | "deny";
  readonly stages: readonly Stage[];
  readonly decisive: Stage | undefined;
};

export type World = {
  readonly data: PolicyData;
  readonly members: Members;
  /** Whether an agent enforces policy there. */
  readonly isEnforcedOn: (node: string) => boolean;
  readonly settingsOf: (node: string) => NodeSettings;
  /** False: of a packet that nobody answers it matters only whether it arrives. */
  readonly asksOfAnswers: boolean;
};

export function worldOf(data: PolicyData, options: Partial<Omit<World, "data" | "members">> = {}): World {
  const known = new Map<string, NodeSettings>();
  const remembered = (node: string) => {
    const settings = known.get(node) ?? settingsOf(data, node);
    known.set(node, settings);
    return settings;
  };
  const members = new Members(data);
  return { data, members, isEnforcedOn: () => true, settingsOf: remembered, asksOfAnswers: true, ...options };
}

export function judge(flow: Flow, world: World): Verdict {
  const stages: Stage[] = [];
  for (const stage of stagesOf(flow, world)) {
    stages.push(stage);
    if (stage.verdict === "deny") return { verdict: "deny", stages, decisive: stage };
  }
  return { verdict: "allow", stages, decisive: stages.findLast(({ verdict }) => verdict === "allow") };
}

function* stagesOf(flow: Flow, world: World): Generator<Stage> {
  const { source, destination } = flow;
  const from = nodeOf(source);
  const to = nodeOf(destination);
  const packet = packetOf(flow);
  const isLocal = from !== undefined && from === to;
  const { family } = packet;
  if (source.is === "workload" && destination.is === "workload" && source.workload === destination.workload) {
    const where = { endpoint: source.workload, direction: "egress", class: "endpoint" } as const;
    yield said(source.workload.host, where, "allow", "a pod always reaches itself: its packets do not leave it");
    return;
  }
  if (from !== undefined && isPoliced(from, family, world)) {
    if (isLocal && source.is === "node") {
      if (destination.is === "workload") {
        yield* closed(destination.workload, "ingress", world);
        yield said(
          from,
          { endpoint: destination.workload, direction: "ingress", class: "endpoint" },
          "allow",
          "a node always reaches its own pods",
        );
      }
      return;
    }
    if (source.is === "workload") {
      yield* fromPod(from, packet, { isForwarded: !isLocal || destination.is === "workload" }, world);
      yield* workloadEgress(source.workload, packet, world);
    }
    if (!isLocal) yield* leave({ source, destination }, from, packet, world);
    else if (destination.is === "node") yield toOwnHost(from, source, world);
  }
  if (to === undefined || !isPoliced(to, family, world)) return;
  const arriving = isLocal ? packet : { ...packet, source: seenFrom(source, destination.address, world) };
  if (!isLocal) yield* enter(destination, to, arriving, world);
  if (destination.is !== "workload") return;
  yield* closed(destination.workload, "ingress", world);
  yield ask(workloadQuestion(destination.workload, "ingress"), arriving, world, to, "endpoint");
  const ofAll = endpointOfAll(to, world.data);
  if (ofAll !== undefined) yield* decided(ask(forwardQuestion(ofAll, "egress"), arriving, world, to, "forwarded"));
}

/** The host endpoint for all interfaces is asked about pods' interfaces, too: what comes in by them before it is translated, and what is forwarded. */
function* fromPod(
  node: string,
  packet: Packet,
  { isForwarded }: { readonly isForwarded: boolean },
  world: World,
): Generator<Stage> {
  const ofAll = endpointOfAll(node, world.data);
  if (ofAll === undefined) return;
  if (!isFailsafe(world.settingsOf(node).failsafe.ingress, "ingress", packet)) {
    const beforeNat = ask(classQuestion(ofAll, "ingress", "pre-DNAT"), packet, world, node, "before NAT");
    yield* decided(beforeNat);
    if (beforeNat.verdict === "allow") return;
  }
  if (isForwarded) yield* decided(ask(forwardQuestion(ofAll, "ingress"), packet, world, node, "forwarded"));
}

function* decided(stage: Stage): Generator<Stage> {
  if (stage.verdict !== "undecided") yield stage;
}

function isPoliced(node: string, family: 4 | 6, { isEnforcedOn, settingsOf }: World): boolean {
  return isEnforcedOn(node) && (family === 4 || settingsOf(node).isIpv6On);
}

/** Endpoints that pass nothing, whatever policies say. */
function* closed(workload: Workload, direction: Direction, world: World): Generator<Stage> {
  const { host, isActive, allowedSources } = workload;
  const where = { endpoint: workload, direction, class: "endpoint" } as const;
  if (!isActive) yield said(host, where, "deny", "the endpoint is not active");
  if (allowedSources.length > 0 && !world.settingsOf(host).allowsSpoofedSources)
    yield said(
      host,
      where,
      "deny",
      "the pod asks for source addresses that its node does not allow (WorkloadSourceSpoofing), so it is closed",
    );
}

function* workloadEgress(workload: Workload, packet: Packet, world: World): Generator<Stage> {
  const { host } = workload;
  const where = { endpoint: workload, direction: "egress", class: "endpoint" } as const;
  yield* closed(workload, "egress", world);
  const settings = world.settingsOf(host);
  const isVxlan =
    packet.protocol === 17 && packet.destinationPort === settings.vxlanPort && !settings.allowsVxlanFromWorkloads;
  const isIpip = packet.protocol === 4 && !settings.allowsIpipFromWorkloads;
  if (isVxlan || isIpip) yield said(host, where, "deny", "pods may not send encapsulated packets");
  yield ask(workloadQuestion(workload, "egress"), packet, world, host, "endpoint");
}

function toOwnHost(node: string, source: Place, world: World): Stage {
  const where = {
    endpoint: source.is === "workload" ? source.workload : undefined,
    direction: "egress",
    class: "host",
  } as const;
  return world.settingsOf(node).endpointToHost === "drop"
    ? said(node, where, "deny", "pods may not reach their own node (DefaultEndpointToHostAction)")
    : said(node, where, "allow", "pods may reach their own node (DefaultEndpointToHostAction)");
}

/** Out of a node, through the host endpoint of its interface. */
function* leave(
  { source, destination }: Pick<Flow, "source" | "destination">,
  node: string,
  packet: Packet,
  world: World,
): Generator<Stage> {
  const endpoint = hostEndpointOf(node, world.data);
  if (endpoint === undefined) return;
  if (source.is === "workload") {
    yield ask(forwardQuestion(endpoint, "egress"), packet, world, node, "forwarded");
    // Failsafe stands before untracked rules, for answers too.
    if (!world.asksOfAnswers || isFailsafe(world.settingsOf(node).failsafe.egress, "egress", packet)) return;
    // Untracked rules come before addresses are translated back: the answer is still to whom the other side has seen.
    const seen = seenFrom(source, destination.address, world);
    const outside = { ...packet, source: seen };
    yield* untrackedAnswer(endpoint, "ingress", outside, world);
    // Not tracked, it is no answer to the pod's chain, but a packet like others.
    const answer = answerOf(outside);
    if (untracked(endpoint, "ingress", answer, world) !== "allow") return;
    if (seen !== source.address)
      // It is sent to the node's address, and nothing knows any more whom it is for.
      yield said(
        node,
        { endpoint, direction: "ingress", class: "untracked" },
        "deny",
        "only one half of the connection is tracked",
      );
    else yield ask(workloadQuestion(source.workload, "ingress"), answer, world, node, "endpoint");
    return;
  }
  yield* hostStages(endpoint, "egress", packet, world);
}

/** Into a node, through the host endpoint of its interface. */
function* enter(destination: Place, node: string, packet: Packet, world: World): Generator<Stage> {
  const endpoint = hostEndpointOf(node, world.data);
  if (endpoint === undefined) return;
  if (destination.is === "node") {
    yield* hostStages(endpoint, "ingress", packet, world);
    return;
  }
  if (isFailsafe(world.settingsOf(node).failsafe.ingress, "ingress", packet)) {
    yield ask(forwardQuestion(endpoint, "ingress"), packet, world, node, "forwarded");
    return;
  }
  const first = untracked(endpoint, "ingress", packet, world);
  if (first !== "undecided") {
    yield ask(classQuestion(endpoint, "ingress", "untracked"), packet, world, node, "untracked");
    if (first === "deny" || destination.is !== "workload" || !world.asksOfAnswers) return;
    yield* trackedAnswer(endpoint, "egress", packet);
    const answer = answerOf(packet);
    yield ask(workloadQuestion(destination.workload, "egress"), answer, world, node, "endpoint");
    yield ask(forwardQuestion(endpoint, "egress"), answer, world, node, "forwarded");
    // To conntrack the answer is the beginning of a connection, and is hidden like one: nobody waits for an answer from there.
    if (seenFrom(destination, packet.source, world) !== destination.address)
      yield said(
        node,
        { endpoint, direction: "egress", class: "untracked" },
        "deny",
        "the packet is not tracked, so its answer leaves with the node's address",
      );
    return;
  }
  const beforeNat = ask(classQuestion(endpoint, "ingress", "pre-DNAT"), packet, world, node, "before NAT");
  if (beforeNat.verdict !== "undecided") yield beforeNat;
  if (beforeNat.verdict === "allow") return;
  yield ask(forwardQuestion(endpoint, "ingress"), packet, world, node, "forwarded");
}

/** To or from a process of the host. */
function* hostStages(endpoint: HostEndpoint, direction: Direction, packet: Packet, world: World): Generator<Stage> {
  const { host } = endpoint;
  const { failsafe } = world.settingsOf(host);
  if (isFailsafe(failsafe[direction], direction, packet)) {
    yield said(host, { endpoint, direction, class: "host" }, "allow", "a failsafe port of the host");
    return;
  }
  const first = untracked(endpoint, direction, packet, world);
  const back: Direction = direction === "ingress" ? "egress" : "ingress";
  const answer = answerOf(packet);
  if (first !== "undecided") {
    yield ask(classQuestion(endpoint, direction, "untracked"), packet, world, host, "untracked");
    const second = untracked(endpoint, back, answer, world);
    if (first === "deny" || second === "allow" || !world.asksOfAnswers) return;
    yield* untrackedAnswer(endpoint, back, packet, world);
    yield* trackedAnswer(endpoint, back, packet);
    yield* trackedStages(endpoint, back, answer, world);
    return;
  }
  if (world.asksOfAnswers) yield* untrackedAnswer(endpoint, back, packet, world);
  yield* trackedStages(endpoint, direction, packet, world);
}

function* trackedStages(endpoint: HostEndpoint, direction: Direction, packet: Packet, world: World): Generator<Stage> {
  const { host } = endpoint;
  if (isFailsafe(world.settingsOf(host).failsafe[direction], direction, packet)) return;
  if (direction === "ingress") {
    const beforeNat = ask(classQuestion(endpoint, direction, "pre-DNAT"), packet, world, host, "before NAT");
    if (beforeNat.verdict !== "undecided") yield beforeNat;
    if (beforeNat.verdict === "allow") return;
  }
  yield ask(hostQuestion(endpoint, direction), packet, world, host, "host");
}

const tcp = 6;
const udp = 17;
const sctp = 132;

/** Of a packet that is tracked: an untracked rule may drop its answer; or let it pass, and then a handshake is not seen to its end. */
function* untrackedAnswer(endpoint: HostEndpoint, back: Direction, packet: Packet, world: World): Generator<Stage> {
  const verdict = untracked(endpoint, back, answerOf(packet), world);
  const where = { endpoint, direction: back, class: "untracked" } as const;
  if (verdict === "deny") yield said(endpoint.host, where, "deny", "an untracked rule drops the answer");
  if (verdict === "allow" && (packet.protocol === tcp || packet.protocol === sctp))
    yield said(endpoint.host, where, "deny", "only one half of the connection is tracked");
}

/** Of a packet that is not tracked: its answer is the first that conntrack sees, which only UDP can begin with. */
function* trackedAnswer(endpoint: HostEndpoint, back: Direction, packet: Packet): Generator<Stage> {
  if (packet.protocol === udp) return;
  const where = { endpoint, direction: back, class: "untracked" } as const;
  yield said(endpoint.host, where, "deny", "the answer is not tracked, and no untracked rule lets it pass");
}

function untracked(endpoint: HostEndpoint, direction: Direction, packet: Packet, world: World): Answer["verdict"] {
  if (endpoint.interfaceName === "*") return "undecided";
  return evaluate(classQuestion(endpoint, direction, "untracked"), packet, world.data, world.members).verdict;
}

function ask(question: Question, packet: Packet, world: World, node: string, stage: StageClass): Stage {
  const answer = evaluate(question, packet, world.data, world.members);
  const { endpoint, direction } = question;
  return { node, endpoint, direction, class: stage, verdict: answer.verdict, answer, packet };
}

function said(
  node: string,
  where: { readonly endpoint: Endpoint | undefined; readonly direction: Direction; readonly class: StageClass },
  verdict: "allow" | "deny",
  reason: Reason,
): Stage {
  return { node, ...where, verdict, answer: undefined, reason };
}

const isNormal = (policy: Policy) => !policy.isStaged && policy.class === "normal";

function workloadQuestion(endpoint: Workload, direction: Direction): Question {
  return { endpoint, direction, isWanted: isNormal, endOfTier: "deny", afterTiers: "profiles" };
}

function hostQuestion(endpoint: HostEndpoint, direction: Direction): Question {
  return { endpoint, direction, isWanted: isNormal, endOfTier: "deny", afterTiers: "profiles" };
}

function forwardQuestion(endpoint: HostEndpoint, direction: Direction): Question {
  const isWanted = (policy: Policy) => isNormal(policy) && policy.appliesOnForward;
  return { endpoint, direction, isWanted, endOfTier: "deny", afterTiers: "nothing decided" };
}

function classQuestion(endpoint: HostEndpoint, direction: Direction, wanted: "untracked" | "pre-DNAT"): Question {
  const isWanted = (policy: Policy) => !policy.isStaged && policy.class === wanted;
  return { endpoint, direction, isWanted, endOfTier: "go on", afterTiers: "nothing decided" };
}

/**
 * The host endpoint of the interface that carries the node's address: by that address, or by any name of an interface (which
 * one has the address is not in the datastore) if it is not said to carry others, or the one for all interfaces. The lowest id of the best
 * kind.
 */
export function hostEndpointOf(node: string, data: PolicyData): HostEndpoint | undefined {
  const candidates = [...data.hostEndpoints.values()]
    .filter(({ host }) => host === node)
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const addresses = data.nodeAddresses.get(node) ?? [];
  const carries = (endpoint: HostEndpoint) =>
    endpoint.addresses.some((one) => addresses.some((other) => holds(one, other)));
  const isNamed = ({ interfaceName }: HostEndpoint) => interfaceName !== "" && interfaceName !== "*";
  return (
    candidates.find(
      (one) => one.interfaceName !== "*" && (carries(one) || (isNamed(one) && one.addresses.length === 0)),
    ) ??
    candidates.find(({ interfaceName }) => interfaceName === "*") ??
    // Perhaps the node's address is another one than the datastore knows.
    candidates.find((one) => isNamed(one) && addresses.length === 0)
  );
}

/** The one for all interfaces that no other one governs. */
export function endpointOfAll(node: string, data: PolicyData): HostEndpoint | undefined {
  const found = [...data.hostEndpoints.values()].filter(
    ({ host, interfaceName }) => host === node && interfaceName === "*",
  );
  return found.sort((a, b) => (a.id < b.id ? -1 : 1))[0];
}

/** The source that the other side sees: a pool may hide its pods behind their node. */
function seenFrom(source: Place, destination: AddressRange, world: World): AddressRange {
  if (source.is !== "workload" || !isPoliced(source.workload.host, source.address.family, world)) return source.address;
  const { host } = source.workload;
  const { nodeAddresses, pools: known } = world.data;
  const { natAddress, hidesFromNodes } = world.settingsOf(host);
  const pools = [...known.values()].filter(({ isForPods }) => isForPods);
  const isHidden =
    pools.some(({ net, isMasqueraded }) => isMasqueraded && holds(net, source.address)) &&
    !pools.some(({ net }) => holds(net, destination)) &&
    (hidesFromNodes || ![...nodeAddresses.values()].flat().some((node) => holds(node, destination)));
  const { family } = source.address;
  const behind = [...(natAddress === undefined ? [] : [natAddress]), ...(nodeAddresses.get(host) ?? [])];
  return isHidden ? (behind.find((one) => one.family === family) ?? source.address) : source.address;
}

function nodeOf(place: Place): string | undefined {
  if (place.is === "workload") return place.workload.host;
  return place.is === "node" ? place.node : undefined;
}

function packetOf(flow: Flow): Packet {
  const { source, destination, protocol, sourcePort, destinationPort, icmp } = flow;
  return {
    family: source.address.family,
    protocol,
    source: source.address,
    destination: destination.address,
    ...(sourcePort === undefined ? {} : { sourcePort }),
    ...(destinationPort === undefined ? {} : { destinationPort }),
    ...(icmp === undefined ? {} : { icmp }),
  };
}

/** An answer to it. Ports that no rule can name stand for one that is not known. */
function answerOf(packet: Packet): Packet {
  const { source, destination, sourcePort, destinationPort, icmp, ...rest } = packet;
  const isEcho = icmp?.type === (packet.family === 4 ? 8 : 128);
  return {
    ...rest,
    source: destination,
    destination: source,
    ...(destinationPort === undefined ? {} : { sourcePort: destinationPort }),
    ...(sourcePort === undefined ? {} : { destinationPort: sourcePort }),
    ...(icmp === undefined ? {} : { icmp: isEcho ? { type: packet.family === 4 ? 0 : 129, code: 0 } : icmp }),
  };
}
