// The answer to one question: verdict, stages, what staged policies would make of it, and what would change it.
import { addressText, CattailError } from "../../base/lib/index.ts";
import {
  asIfEnforced,
  type Flow,
  judge,
  judgePorts,
  type Place,
  type PolicyData,
  type PortsWithVerdict,
  type Verdict,
  type World,
  worldOf,
} from "../policy/index.ts";
import { checkPort, echoOf, isWithPorts, readProtocol, trafficText } from "./protocol.ts";
import { placesOf, type Subject, subjectText } from "./subject.ts";
import { type PassedBy, passedBy } from "./without-rules.ts";

export type Asked = {
  readonly source: Subject;
  readonly destination: Subject;
  readonly protocol: string;
  readonly port: number | undefined;
  readonly family: 4 | 6 | undefined;
};

export type Answered = {
  readonly source: string;
  readonly destination: string;
  readonly flow: Flow;
  /** "tcp 80", "icmp": what was asked about. */
  readonly traffic: string;
  /** Of the port that was asked about; undefined: it depends on the port, and `ports` says how. */
  readonly verdict: Verdict | undefined;
  readonly ports: readonly PortsWithVerdict[];
  /** Host endpoints are known, which may be asked anywhere on the way. */
  readonly hasHosts: boolean;
  /** The rules that let it pass. Asks again, so only who shows it calls it, and before the data change. */
  readonly passedBy: () => PassedBy;
  /** Where staged policies would change the verdict. */
  readonly staged: { readonly verdict: Verdict | undefined; readonly ports: readonly PortsWithVerdict[] } | undefined;
};

/** The data may get pods that do not exist: hand over a copy that nobody else needs. */
export function answer(asked: Asked, data: PolicyData): Answered {
  const from = placesOf(asked.source, data);
  const to = placesOf(asked.destination, data);
  const { source, destination } = sameFamily(from, to, asked);
  const flow = flowOf(source, destination, asked);
  const now = verdictsOf(flow, asked.port, worldOf(data));
  const staged = asIfEnforced(data);
  const then = staged === undefined ? undefined : verdictsOf(flow, asked.port, worldOf(staged));
  return {
    source: nameOf(asked.source, source),
    destination: nameOf(asked.destination, destination),
    flow,
    traffic: trafficText(flow.protocol, flow.destinationPort),
    ...now,
    hasHosts: data.hostEndpoints.size > 0,
    passedBy: () => passedBy(now.verdict, data, (less) => verdictsOf(flow, asked.port, worldOf(less)).verdict),
    staged: then === undefined || isSame(now, then) ? undefined : then,
  };
}

function verdictsOf(flow: Flow, port: number | undefined, world: World) {
  if (port !== undefined || flow.icmp !== undefined || !isWithPorts(flow.protocol))
    return { verdict: judge(flow, world), ports: [] };
  const ports = judgePorts(flow, world);
  const [only, ...others] = ports;
  return { verdict: others.length === 0 ? only?.verdict : undefined, ports };
}

function isSame(a: ReturnType<typeof verdictsOf>, b: ReturnType<typeof verdictsOf>): boolean {
  const summary = ({ verdict, ports }: typeof a) =>
    JSON.stringify([verdict?.verdict, ports.map((one) => [one.first, one.last, one.verdict.verdict])]);
  return summary(a) === summary(b);
}

function flowOf(source: Place, destination: Place, { protocol: name, port }: Asked): Flow {
  const protocol = readProtocol(name, source.address.family);
  checkPort(protocol, port);
  const icmp = echoOf(protocol);
  return {
    source,
    destination,
    protocol,
    ...(port === undefined ? {} : { destinationPort: port }),
    ...(icmp === undefined ? {} : { icmp }),
  };
}

function sameFamily(from: readonly Place[], to: readonly Place[], { source, destination, family }: Asked) {
  for (const wanted of family === undefined ? ([4, 6] as const) : [family]) {
    const [a, b] = [from, to].map((places) => places.find(({ address }) => address.family === wanted));
    if (a !== undefined && b !== undefined) return { source: a, destination: b };
  }
  const which = family === undefined ? "one family of addresses" : `IPv${family}`;
  throw new CattailError("EXPLAIN_FAMILY", {
    problem: `${subjectText(source)} and ${subjectText(destination)} have not both an address of ${which}`,
    next: "Ask about two that have, or about one of their addresses",
  });
}

/** An address is told with whose it is, a pod with its address. */
function nameOf(subject: Subject, place: Place): string {
  const address = addressText(place.address.family, place.address.first);
  if (subject.is !== "address") return subjectText(subject);
  if (place.is === "workload") return `${address} (${place.workload.workload})`;
  return place.is === "node" ? `${address} (node ${place.node})` : `${address} (nobody's that is known)`;
}
