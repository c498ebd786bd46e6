// The way of a packet, there and back, station by station, from facts alone: what each says, or that nobody has looked at it yet, and with which
// command that is done. It ends with one cause, if there is one.
//
//   policy ─▶ interface of the sender ─▶ its node: forwarding, firewalls, route ─▶ between: plain or in a tunnel, probes
//          ─▶ the receiver's node: forwarding, firewalls, interface ─▶ and the route back
import type { Family } from "../../../base/lib/index.ts";
import { forwardingOf } from "../checks/host.ts";
import { wrongWay } from "../checks/routes.ts";
import { diagnose, diagnoseFamily } from "../diagnose.ts";
import type { Facts, HostFacts, PingVerdict, Probe } from "../facts.ts";
import { factsOf, type WholeFacts } from "../families.ts";
import { finding, type NodeFinding } from "../finding.ts";
import { nodeNamed, poolOf, wayBetween } from "../networks.ts";
import type { PathEnd, PathEnds } from "./ends.ts";

export type Station = {
  readonly where: string;
  readonly is: "good" | "bad" | "unseen";
  readonly what: string;
  /** Of what was not looked at: what to run, and where. */
  readonly command?: string;
};

export type Walk = {
  readonly family: Family;
  readonly from: PathEnd;
  readonly to: PathEnd;
  readonly stations: readonly Station[];
  readonly cause: NodeFinding | undefined;
  /** Findings that have no part in this path. */
  readonly others: readonly NodeFinding[];
};

export type WalkOptions = PathEnds & {
  readonly facts: WholeFacts;
  /** Of a ping there; undefined: policies know nothing of these ends. */
  readonly verdict: Omit<PingVerdict, "from" | "to"> | undefined;
};

type Walked = Omit<WalkOptions, "facts"> & { readonly facts: Facts };

export function walkPath({ facts: whole, ...options }: WalkOptions): Walk {
  const { family, from, to } = options;
  const facts = factsOf(whole, family);
  const findings = diagnoseFamily(facts);
  const denial = deniedBy(options);
  const probes = [probeOf(from, to), probeOf(to, from)];
  // What stops small packets comes before what stops large ones alone.
  const asked = [probes, probes.map((probe): Probe => ({ ...probe, kind: "large" }))];
  const causes = [...new Set(asked.flatMap((some) => findings.filter(({ explains }) => some.some(explains))))];
  const bad = causes.filter(({ level }) => level !== "note");
  const cause = denial ?? bad[0] ?? causes[0];
  const isTold = ({ code, node, what }: NodeFinding) =>
    causes.some((each) => each.code === code && each.node === node && each.what === what);
  const others = diagnose(whole).filter((each) => !isTold(each));
  return { family, from, to, stations: stationsOf({ ...options, facts }), cause, others };
}

function probeOf(from: PathEnd, to: PathEnd): Probe {
  const kind = to.is === "node" ? "node" : from.is === "node" ? "pod" : "pod to pod";
  const [fromNode, node] = [from.node ?? "", to.node ?? ""];
  return { kind, from: from.name, fromNode, to: to.name, node, address: to.address, ok: false };
}

function deniedBy({ from, to, verdict }: Omit<WalkOptions, "facts">): NodeFinding | undefined {
  if (verdict?.verdict !== "deny") return undefined;
  const explain = `cattail explain ${subject(from)} ${subject(to)} --protocol icmp`;
  return finding({
    code: "POLICY_DENIES",
    level: "broken",
    what: `${verdict.by ?? "a policy"} denies pings from ${from.name} to ${to.name}`,
    evidence: [explain],
    fix: `${explain} says which rule would let it pass`,
  });
}

function subject({ is, name, address }: PathEnd): string {
  return is === "node" ? `node/${name}` : is === "pod" ? name : address;
}

function stationsOf(options: Walked): Station[] {
  const { from, to, verdict } = options;
  const policy: Station =
    verdict === undefined
      ? { where: "policies", is: "good", what: "know nothing of these ends" }
      : {
          where: "policies",
          is: verdict.verdict === "allow" ? "good" : "bad",
          what: verdict.verdict === "allow" ? "allow pings" : `deny pings: ${verdict.by}`,
        };
  const isAcross = from.node !== to.node;
  return [
    policy,
    ...atNode(from, to, options),
    ...(isAcross ? between(options) : []),
    ...(isAcross ? atNode(to, from, options) : []),
  ];
}

/** What the node of one end does with packets to the other, and to its own. */
function atNode(own: PathEnd, other: PathEnd, { facts, family }: Walked): Station[] {
  if (own.node === undefined)
    return [
      {
        where: own.address,
        is: "unseen",
        what: "is not in the cluster",
        command: `ip route get ${other.address}, on it`,
      },
    ];
  const where = `node ${own.node}`;
  const host = facts.hosts.find(({ node }) => node === own.node);
  if (host === undefined)
    return [
      {
        where,
        is: "unseen",
        what: "has not been looked at",
        command: `cattail doctor node -o facts > ${own.node}.json, on ${own.node}; then --facts ${own.node}.json here`,
      },
    ];
  const isForwarding = host.sysctls[forwardingOf[family]] !== "0";
  return [
    ...(own.is === "pod" ? [interfaceStation(own, host, where)] : []),
    { where, is: isForwarding ? "good" : "bad", what: isForwarding ? "forwards packets" : "does not forward packets" },
    ...host.foreignDrops.map(
      ({ table, chain, what }): Station => ({ where, is: "bad", what: `chain ${chain} of table ${table}: ${what}` }),
    ),
    ...routeStation(other, host, { where, facts }),
  ];
}

function interfaceStation(own: PathEnd, { links, lookups }: HostFacts, where: string): Station {
  const link = own.link ?? "";
  const found = links.find((each) => each.name === link);
  const lookup = lookups.find(({ to }) => to === own.address);
  if (found === undefined) return { where, is: "bad", what: `has no interface ${link} for ${own.name}` };
  if (!found.isUp) return { where, is: "bad", what: `the interface ${link} of ${own.name} is down` };
  const isLed = lookup === undefined || lookup.link === link;
  return {
    where,
    is: isLed ? "good" : "bad",
    what: `${own.address} leads to ${isLed ? `its interface ${link}` : (lookup?.link ?? "nowhere")}`,
  };
}

function routeStation(other: PathEnd, host: HostFacts, { where, facts }: { where: string; facts: Facts }): Station[] {
  const lookup = host.lookups.find(({ to }) => to === other.address);
  if (lookup === undefined || other.node === host.node) return [];
  if (lookup.refused !== undefined)
    return [{ where, is: "bad", what: `has no route to ${other.address} (${lookup.refused})` }];
  const via = lookup.gateway === undefined ? "" : ` via ${lookup.gateway}`;
  const what = `sends packets for ${other.address}${via} by ${lookup.link}`;
  const right = wrongWay({ address: other.address, owner: other.node ?? "" }, host, facts.cluster);
  return [right === undefined ? { where, is: "good", what } : { where, is: "bad", what: `${what}, and not ${right}` }];
}

function between({ from, to, facts }: Walked): Station[] {
  const { cluster, hosts } = facts;
  const [one, other] = [nodeNamed(from.node, cluster), nodeNamed(to.node, cluster)];
  if (one === undefined || other === undefined) return [];
  const where = `between ${one.name} and ${other.name}`;
  const pool = poolOf(to.is === "pod" ? to.address : from.address, cluster.pools);
  const way = pool === undefined ? "plain" : wayBetween(one, other, pool);
  const probes = hosts
    .flatMap((host) => host.probes)
    .filter((probe) => [probe.fromNode, probe.node].sort().join() === [one.name, other.name].sort().join());
  const words = {
    node: "pings between the nodes",
    large: "large packets between the nodes",
    bgp: "TCP port 179",
    arrival: "packets to pods, as far as the other node",
    pod: "pings from a node to pods of the other",
    "pod to pod": "pings between their pods",
  };
  const told = (["node", "large", "bgp", "arrival", "pod", "pod to pod"] as const).flatMap((kind): Station[] => {
    const own = probes.filter((probe) => probe.kind === kind);
    if (own.length === 0) return [];
    const good = own.filter(({ ok }) => ok).length;
    const what = `${words[kind]}: ${good} of ${own.length} ${kind === "arrival" ? "arrive" : "are answered"}`;
    return [{ where, is: good === own.length ? "good" : "bad", what }];
  });
  const unseen: Station = {
    where,
    is: "unseen",
    what: "nothing was probed from here",
    command: `cattail doctor path ${from.name} ${to.name}, on ${one.name}`,
  };
  const carried = {
    plain: "packets go as they are",
    vxlan: "packets go in VXLAN (UDP port 4789)",
    ipip: "packets go in IPIP (protocol 4)",
  }[way];
  return [{ where, is: "good", what: carried }, ...(told.length === 0 ? [unseen] : told)];
}
