// The values that policy is made of, read from what the felix data set says. Each reader throws VoidValue for a value that
// makes no sense; whoever keeps the data then treats it as absent, as the original does, and can say why.
import {
  type AddressRange,
  isRecord,
  type JsonRecord,
  parseAddress,
  parseJson,
  parseRange,
} from "../../base/lib/index.ts";
import { isPlainName, type Labels, type PolicyKind, policyKinds, type Selector, type V1Rule } from "../model/index.ts";
import { hasPorts, protocolNumber } from "./protocols.ts";
import { type Rule, readNets, readRule, readSelector, VoidValue } from "./rule.ts";

export type EndpointPort = { readonly name: string; readonly protocol: number; readonly port: number };

type Labelled = { readonly labels: Labels; readonly profileIds: readonly string[] };

export type Workload = Labelled & {
  readonly is: "workload";
  readonly host: string;
  readonly orchestrator: string;
  /** NAMESPACE/POD in Kubernetes. */
  readonly workload: string;
  readonly endpoint: string;
  readonly interfaceName: string;
  readonly isActive: boolean;
  /** Single addresses. */
  readonly addresses: readonly AddressRange[];
  readonly ports: readonly EndpointPort[];
  readonly allowedSources: readonly AddressRange[];
};

export type HostEndpoint = Labelled & {
  readonly is: "host";
  readonly host: string;
  readonly id: string;
  /** "*": every interface that no other one governs; "": by its addresses. */
  readonly interfaceName: string;
  readonly addresses: readonly AddressRange[];
  readonly ports: readonly EndpointPort[];
};

export type Endpoint = Workload | HostEndpoint;
export type NetworkSet = Labelled & { readonly name: string; readonly nets: readonly AddressRange[] };
export type Tier = {
  readonly name: string;
  readonly order: number | undefined;
  readonly defaultAction: "deny" | "pass";
};

export type Direction = "ingress" | "egress";
/** Which traffic of a host endpoint a policy is about; workloads have the normal and forwarded ones alike. */
export type PolicyClass = "normal" | "untracked" | "pre-DNAT";

export type Policy = {
  readonly kind: PolicyKind;
  readonly namespace: string;
  readonly name: string;
  readonly tier: string;
  readonly order: number | undefined;
  readonly selector: Selector;
  readonly types: { readonly [D in Direction]: boolean };
  readonly rules: { readonly [D in Direction]: readonly Rule[] };
  readonly class: PolicyClass;
  readonly appliesOnForward: boolean;
  readonly isStaged: boolean;
  /** Set, Delete, Learn or Ignore, of a staged one. */
  readonly stagedAction: string;
};

export type Profile = { readonly name: string; readonly rules: { readonly [D in Direction]: readonly Rule[] } };

/** One address and port behind a service; no port: the slice has none. */
export type ServiceEndpoints = {
  readonly namespace: string;
  readonly service: string;
  readonly addresses: readonly AddressRange[];
  readonly ports: readonly { readonly protocol: number; readonly port: number }[];
};

export function readWorkload(
  key: {
    readonly hostname: string;
    readonly orchestratorId: string;
    readonly workloadId: string;
    readonly endpointId: string;
  },
  text: string,
): Workload {
  const value = recordOf(text);
  if (textOf(value.name) === "") throw new VoidValue("the endpoint has no interface");
  return {
    is: "workload",
    host: key.hostname,
    orchestrator: key.orchestratorId,
    workload: key.workloadId,
    endpoint: key.endpointId,
    interfaceName: textOf(value.name),
    isActive: value.state === "active",
    // The node routes single addresses, whatever the prefix says.
    addresses: [...listOf(value.ipv4_nets), ...listOf(value.ipv6_nets)].map(readSingle),
    ports: readPorts(value.ports),
    allowedSources: readNets(listOf(value.allow_spoofed_source_ips)),
    ...readLabelled(value),
  };
}

export function readHostEndpoint(
  key: { readonly hostname: string; readonly endpointId: string },
  text: string,
): HostEndpoint {
  const value = recordOf(text);
  const addresses = [...listOf(value.expected_ipv4_addrs), ...listOf(value.expected_ipv6_addrs)];
  return {
    is: "host",
    host: key.hostname,
    id: key.endpointId,
    interfaceName: textOf(value.name),
    addresses: addresses.map(readSingle),
    ports: readPorts(value.ports),
    ...readLabelled(value),
  };
}

export function readNetworkSet(name: string, text: string): NetworkSet {
  const value = recordOf(text);
  return { name, nets: readNets(listOf(value.nets)), ...readLabelled(value) };
}

export function readTier(name: string, text: string): Tier {
  const value = recordOf(text);
  // What is unknown ends in a deny: closed rather than open.
  return { name, order: readOrder(value.order), defaultAction: value.defaultAction === "Pass" ? "pass" : "deny" };
}

export function readPolicy(
  key: { readonly kind: string; readonly namespace: string; readonly name: string },
  text: string,
): Policy {
  const value = recordOf(text);
  const kind = policyKinds.find((known) => known === key.kind);
  if (kind === undefined) throw new VoidValue(`${key.kind} is no kind of policy`);
  const types = listOf(value.types).map((type) => String(type).toLowerCase());
  const hasType = (direction: Direction) => types.length === 0 || types.includes(direction);
  const isPreDnat = value.pre_dnat === true;
  readRules(value); // a rule that makes no sense voids the policy now, not when somebody asks for its rules
  return new ReadPolicy(
    {
      kind,
      namespace: key.namespace,
      name: key.name,
      tier: textOf(value.tier) || "default",
      order: readOrder(value.order),
      selector: readSelector(value.selector) ?? { is: "all" },
      types: { ingress: hasType("ingress"), egress: hasType("egress") && !isPreDnat },
      class: value.untracked === true ? "untracked" : isPreDnat ? "pre-DNAT" : "normal",
      appliesOnForward: value.apply_on_forward === true,
      isStaged: kind.startsWith("Staged"),
      stagedAction: textOf(value.staged_action),
    },
    text,
  );
}

/**
 * Most policies of a cluster select nothing on a node, and their rules as objects are several times their text. So the text is kept, and
 * the rules are read again when somebody first asks for them (bench/policy, "10000 elsewhere").
 */
class ReadPolicy implements Policy {
  readonly kind: PolicyKind;
  readonly namespace: string;
  readonly name: string;
  readonly tier: string;
  readonly order: number | undefined;
  readonly selector: Selector;
  readonly types: Policy["types"];
  readonly class: PolicyClass;
  readonly appliesOnForward: boolean;
  readonly isStaged: boolean;
  readonly stagedAction: string;
  /** Text until it is asked for. */
  #rules: string | Policy["rules"];

  constructor(head: Omit<Policy, "rules">, text: string) {
    this.kind = head.kind;
    this.namespace = head.namespace;
    this.name = head.name;
    this.tier = head.tier;
    this.order = head.order;
    this.selector = head.selector;
    this.types = head.types;
    this.class = head.class;
    this.appliesOnForward = head.appliesOnForward;
    this.isStaged = head.isStaged;
    this.stagedAction = head.stagedAction;
    this.#rules = text;
  }

  get rules(): Policy["rules"] {
    if (typeof this.#rules === "string") this.#rules = readRules(recordOf(this.#rules));
    return this.#rules;
  }
}

export function readProfile(name: string, text: string): Profile {
  return { name, rules: readRules(recordOf(text)) };
}

export function readLabels(text: string): Labels {
  return labelsOf(recordOf(text));
}

/** Readiness is not looked at: a rule about a service holds for its endpoints that are not ready, too. */
export function readSlice(namespace: string, text: string): ServiceEndpoints | undefined {
  const value = recordOf(text);
  const metadata = isRecord(value.metadata) ? value.metadata : {};
  const labels = isRecord(metadata.labels) ? metadata.labels : {};
  const service = textOf(labels["kubernetes.io/service-name"]);
  if (service === "") return undefined;
  const addresses = listOf(value.endpoints).flatMap((endpoint) =>
    isRecord(endpoint) ? listOf(endpoint.addresses).flatMap(addressOrNothing) : [],
  );
  const ports = listOf(value.ports).flatMap((given) => {
    if (!isRecord(given) || typeof given.port !== "number") return [];
    const protocol = protocolNumber(textOf(given.protocol) || "tcp");
    return protocol === undefined ? [] : [{ protocol, port: given.port }];
  });
  return { namespace, service, addresses, ports };
}

/** Names of hosts are no addresses, and are passed over. */
function addressOrNothing(text: unknown): readonly AddressRange[] {
  if (typeof text !== "string" || parseAddress(text) === undefined) return [];
  const range = parseRange(text);
  return range === undefined ? [] : [range];
}

function readRules(value: JsonRecord): { readonly [D in Direction]: readonly Rule[] } {
  const read = (given: unknown) =>
    listOf(given).map((rule) => {
      if (!isRecord(rule)) throw new VoidValue("a rule is not an object");
      return readRule(rule as V1Rule); // readRule checks each field that it uses
    });
  return { ingress: read(value.inbound_rules), egress: read(value.outbound_rules) };
}

function readLabelled(value: JsonRecord): Labelled {
  const profileIds = listOf(value.profile_ids).filter((id): id is string => typeof id === "string");
  return { labels: labelsOf(value.labels), profileIds };
}

function labelsOf(value: unknown): Labels {
  if (!isRecord(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

function readPorts(given: unknown): readonly EndpointPort[] {
  return listOf(given).map((port) => {
    if (!isRecord(port)) throw new VoidValue("a port is not an object");
    const protocol = protocolNumber(port.protocol);
    const name = textOf(port.name);
    if (protocol === undefined || !hasPorts(protocol))
      throw new VoidValue(
        `the port ${JSON.stringify(name)} has protocol ${JSON.stringify(port.protocol)}, and rules know ports of TCP, UDP and SCTP`,
      );
    if (typeof port.port !== "number" || port.port < 1 || !isPlainName(name))
      throw new VoidValue(`the port ${JSON.stringify(name)} cannot be read`);
    return { name, protocol, port: port.port };
  });
}

function readOrder(given: unknown): number | undefined {
  return typeof given === "number" ? given : undefined;
}

function readSingle(net: unknown): AddressRange {
  const [address = ""] = typeof net === "string" ? net.split("/") : [];
  const range = parseAddress(address) === undefined ? undefined : parseRange(address);
  if (range === undefined) throw new VoidValue(`${JSON.stringify(net)} is no address`);
  return range;
}

/** What every value is. */
export function recordOf(text: string): JsonRecord {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw new VoidValue("the value is not JSON", { cause: error });
  }
  if (!isRecord(value)) throw new VoidValue("the value is not an object");
  return value;
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new VoidValue("a list is expected where there is none");
  return value;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
