// Rules of ClusterNetworkPolicies. A rule that cannot be converted fails closed: where it would have denied or passed on,
// all is denied; where it would have accepted, nothing is.
import { canonicalCidr } from "../../../base/lib/index.ts";
import type { ClusterNetworkPolicySpec, EntityRule, Rule } from "../../kinds/index.ts";
import { FieldError, isPlainName, type NumberOrText } from "../../model/index.ts";
import { attempt, type Warning } from "../processor/processor.ts";
import { groupPorts, type PortsByProtocol } from "./kubernetes-ports.ts";
import { namespaceSelectorText, podSelectorText } from "./kubernetes-selector.ts";

type ClusterRule = NonNullable<ClusterNetworkPolicySpec["ingress"]>[number] &
  NonNullable<ClusterNetworkPolicySpec["egress"]>[number];
type Peer = NonNullable<ClusterRule["to"]>[number];
type Protocol = NonNullable<ClusterRule["protocols"]>[number];
type Port = NonNullable<NonNullable<Protocol["tcp"]>["destinationPort"]>;
type Direction = "ingress" | "egress";

const actions: { readonly [action: string]: string } = { Accept: "Allow", Deny: "Deny", Pass: "Pass" };

export function convertClusterRules(from: {
  rules: readonly ClusterRule[];
  direction: Direction;
  warnings: Warning[];
}): Rule[] {
  const { rules, direction, warnings } = from;
  return rules.flatMap((rule, at): Rule[] => {
    const field = `spec.${direction}[${at}]`;
    const converted = attempt(() => convertRule(rule, direction, field));
    if (!(converted instanceof FieldError)) return converted;
    const isClosed = rule.action === "Deny" || rule.action === "Pass";
    const consequence = isClosed ? "; all is denied instead" : "";
    warnings.push({ field: converted.field, rule: converted.rule + consequence, effect: "dropped" });
    return isClosed ? [{ action: "Deny" }] : [];
  });
}

/** One rule for each protocol and peer. */
function convertRule(rule: ClusterRule, direction: Direction, field: string): Rule[] {
  const action = Object.hasOwn(actions, rule.action ?? "") ? actions[rule.action ?? ""] : undefined;
  if (action === undefined) throw new FieldError(`${field}.action`, "must be Accept, Deny or Pass");
  const metadata = rule.name === undefined || rule.name === "" ? undefined : { annotations: { name: rule.name } };
  const peers = direction === "ingress" ? (rule.from ?? []) : (rule.to ?? []);
  const peerField = `${field}.${direction === "ingress" ? "from" : "to"}`;
  return [...readProtocols(rule.protocols ?? [], field)].flatMap(([protocol, ports]) =>
    peers.map((peer, at): Rule => {
      const other = convertPeer(peer, direction, `${peerField}[${at}]`);
      const head = { action, protocol: protocol === "" ? undefined : protocol, metadata };
      if (direction === "ingress") return { ...head, source: other, destination: { ports } };
      return { ...head, destination: { ...other, ports } };
    }),
  );
}

function convertPeer(peer: Peer, direction: Direction, field: string): EntityRule {
  const { namespaces, pods, networks = [] } = peer;
  const nets = direction === "egress" ? networks.map((text, at) => readNetwork(text, `${field}.networks[${at}]`)) : [];
  if (pods !== undefined) {
    const namespaceSelector = namespaceSelectorText(pods.namespaceSelector ?? {});
    return { selector: podSelectorText(pods.podSelector), namespaceSelector, nets };
  }
  if (namespaces !== undefined) return { namespaceSelector: namespaceSelectorText(namespaces), nets };
  if (nets.length > 0) return { nets };
  const known = direction === "egress" ? "namespaces, pods or networks" : "namespaces or pods";
  throw new FieldError(field, `must have ${known}; nothing else is supported`);
}

function readNetwork(text: string, field: string): string {
  const network = canonicalCidr(text);
  if (network === undefined) throw new FieldError(field, "must be a network");
  return network.text;
}

/** An entry that says nothing means everything, and the others do not matter any more. */
function readProtocols(protocols: readonly Protocol[], field: string): PortsByProtocol {
  const entries: { protocol: string; port: NumberOrText | undefined }[] = [];
  for (const [at, entry] of protocols.entries()) {
    const read = readProtocol(entry, `${field}.protocols[${at}]`);
    if (read === undefined) return new Map([["", undefined]]);
    entries.push(read);
  }
  return entries.length === 0 ? new Map([["", undefined]]) : groupPorts(entries);
}

function readProtocol(
  { tcp, udp, sctp, destinationNamedPort = "" }: Protocol,
  field: string,
): { protocol: string; port: NumberOrText | undefined } | undefined {
  if (tcp !== undefined) return { protocol: "TCP", port: readPort(tcp.destinationPort, `${field}.tcp`) };
  if (udp !== undefined) return { protocol: "UDP", port: readPort(udp.destinationPort, `${field}.udp`) };
  if (sctp !== undefined) return { protocol: "SCTP", port: readPort(sctp.destinationPort, `${field}.sctp`) };
  if (destinationNamedPort === "") return undefined;
  if (!isPlainName(destinationNamedPort)) {
    throw new FieldError(`${field}.destinationNamedPort`, "must be 1 to 128 letters, digits, _ . or -");
  }
  return { protocol: "", port: destinationNamedPort };
}

function readPort(port: Port | undefined, field: string): NumberOrText | undefined {
  if (port === undefined) return undefined;
  if (port.number !== undefined && port.number !== 0) return port.number & 0xffff;
  if (port.range === undefined) return undefined;
  const [start, end] = [(port.range.start ?? 0) & 0xffff, (port.range.end ?? 0) & 0xffff];
  if (start > end) throw new FieldError(`${field}.destinationPort.range`, "must ascend");
  return start === end ? start : `${start}:${end}`;
}
