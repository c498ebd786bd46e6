// The spec of a Kubernetes NetworkPolicy as that of a Calico one; staged ones have the same spec. A rule that cannot be
// converted is left out and named; whether the policy is still sent is for the caller to say.
import { canonicalCidr } from "../../../base/lib/index.ts";
import type { EntityRule, KubernetesNetworkPolicySpec, NetworkPolicySpec, Rule } from "../../kinds/index.ts";
import { canonicalPort, FieldError, type NumberOrText, protocolNames } from "../../model/index.ts";
import { attempt, type Warning } from "../processor/processor.ts";
import { groupPorts, type PortsByProtocol } from "./kubernetes-ports.ts";
import { namespaceSelectorText, podSelectorText } from "./kubernetes-selector.ts";

type PolicyRule = NonNullable<KubernetesNetworkPolicySpec["ingress"]>[number];
type Peer = NonNullable<PolicyRule["from"]>[number];
type Port = NonNullable<PolicyRule["ports"]>[number];

type ConvertedPolicySpec = {
  readonly spec: NetworkPolicySpec;
  /** What was left out, or is sent otherwise than it was meant. */
  readonly warnings: readonly Warning[];
  readonly hasDroppedRule: boolean;
};

export function kubernetesPolicySpec(policy: KubernetesNetworkPolicySpec): ConvertedPolicySpec {
  const warnings: Warning[] = [];
  const { ingress = [], egress = [], policyTypes = [], podSelector } = policy;
  const inbound = ingress.flatMap((rule, at) =>
    convertRule({ ports: rule.ports, peers: rule.from, direction: "ingress", field: `spec.ingress[${at}]`, warnings }),
  );
  const outbound = egress.flatMap((rule, at) =>
    convertRule({ ports: rule.ports, peers: rule.to, direction: "egress", field: `spec.egress[${at}]`, warnings }),
  );
  const named = ["Ingress", "Egress"].filter((type) => policyTypes.includes(type));
  return {
    spec: {
      tier: "default",
      order: 1000,
      ingress: inbound,
      egress: outbound,
      selector: podSelectorText(podSelector),
      // Ingress alone where none is named, even when there are egress rules: the API server fills them in.
      types: named.length === 0 ? ["Ingress"] : named,
    },
    warnings,
    hasDroppedRule: warnings.some(({ effect }) => effect === "dropped"),
  };
}

type RuleSource = {
  readonly ports: readonly Port[] | undefined;
  readonly peers: readonly Peer[] | undefined;
  readonly direction: "ingress" | "egress";
  readonly field: string;
  readonly warnings: Warning[];
};

/** One rule for each protocol and peer. */
function convertRule({ ports = [], peers = [], direction, field, warnings }: RuleSource): Rule[] {
  const grouped = attempt(() => readPorts(ports, field));
  if (grouped instanceof FieldError) {
    warnings.push({ field: grouped.field, rule: grouped.rule, effect: "dropped" });
    return [];
  }
  const others = peers.map((peer, at) => {
    const name = direction === "ingress" ? "from" : "to";
    return convertPeer(peer, `${field}.${name}[${at}]`, warnings);
  });
  if (others.length === 0) others.push({});
  return [...grouped].flatMap(([protocol, portList]) =>
    others.map((other): Rule => {
      const head = protocol === "" ? { action: "Allow" } : { action: "Allow", protocol };
      if (direction === "ingress") return { ...head, source: other, destination: { ports: portList } };
      return { ...head, destination: { ...other, ports: portList } };
    }),
  );
}

function readPorts(ports: readonly Port[], field: string): PortsByProtocol {
  if (ports.length === 0) return new Map([["", undefined]]);
  return groupPorts(
    ports.map(({ protocol = "TCP", port, endPort }, at) => ({
      protocol: protocolNames.find((name) => name.toLowerCase() === protocol.toLowerCase()) ?? protocol,
      port: port === undefined ? undefined : readPort({ port, endPort, field: `${field}.ports[${at}]` }),
    })),
  );
}

function readPort(from: { port: NumberOrText; endPort: number | undefined; field: string }): NumberOrText {
  const { port, endPort, field } = from;
  const read = canonicalPort(endPort === undefined ? String(port) : `${port}:${endPort}`);
  if (read === undefined) throw new FieldError(field, "must be a port from 0 to 65535, an ascending range, or a name");
  return read;
}

function convertPeer(peer: Peer, field: string, warnings: Warning[]): EntityRule {
  const { ipBlock, podSelector, namespaceSelector } = peer;
  if (ipBlock === undefined) {
    return { selector: podSelectorText(podSelector), namespaceSelector: namespaceSelectorText(namespaceSelector) };
  }
  const net = canonicalCidr(ipBlock.cidr ?? "");
  if (net === undefined) {
    // The original then allows any peer. It is said here, because the rule lets more through than it was meant to.
    warnings.push({ field: `${field}.ipBlock.cidr`, rule: "must be a network", effect: "sent-as-original" });
    return {};
  }
  const notNets: string[] = [];
  for (const [at, except] of (ipBlock.except ?? []).entries()) {
    const notNet = canonicalCidr(except);
    if (notNet === undefined) {
      warnings.push({ field: `${field}.ipBlock.except[${at}]`, rule: "must be a network", effect: "sent-as-original" });
      break;
    }
    notNets.push(notNet.text);
  }
  return { nets: [net.text], notNets };
}
