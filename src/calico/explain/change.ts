// What would turn the verdict round: the smallest rule that does it, in the words of the policy that decides.
import { rangeText } from "../../base/lib/index.ts";
import { type Cause, type Place, protocolText, type Stage, type Verdict } from "../policy/index.ts";
import type { Answered } from "./answer.ts";
import { type OriginOf, ruleName, type Sources } from "./origin.ts";
import { causeText, listOf, policyText } from "./words.ts";

/** Undefined: nothing in the objects would (a node reaches its own pods whatever they say). */
export function whatWouldChange(
  answered: Answered,
  { verdict, decisive }: Verdict,
  { originOf }: Sources,
): string | undefined {
  if (decisive === undefined) return undefined;
  if (decisive.reason !== undefined) return undefined;
  return verdict === "deny" ? toAllow(answered, decisive, originOf) : toDeny(answered, decisive, originOf);
}

function toDeny(answered: Answered, stage: Stage, originOf: OriginOf): string | undefined {
  const cause = stage.answer?.cause;
  if (cause?.is === "rule") {
    const { rules: found, isAll } = answered.passedBy();
    const rules = found.map(
      ({ cause: { policy, at }, direction }) =>
        `${ruleName(policy, { direction, number: at.number }, originOf)} of ${policyText(policy)}`,
    );
    const all = listOf(rules);
    // Kubernetes' NetworkPolicies have no rules that deny.
    if (cause.policy.kind === "KubernetesNetworkPolicy")
      return `To deny it: take it out of ${all}.${isAll ? "" : " Then ask again: something else lets it pass, too."}`;
    const which = `${ruleAt(cause, stage, originOf)} of ${policyText(cause.policy)}`;
    return isAll && rules.length === 1
      ? `To deny it: take it out of ${which}, or put a rule that denies it before that one.`
      : `To deny it: put a rule that denies it before ${which}.`;
  }
  if (cause?.is !== "profile") return undefined;
  const now =
    (stage.answer?.tiers ?? []).length === 0
      ? "No policy of that direction selects it now."
      : "Those that select it now pass this on.";
  return `To deny it: a policy with ${stage.direction} rules that selects ${endpointName(stage)} and denies this. ${now}`;
}

function toAllow(answered: Answered, stage: Stage, originOf: OriginOf): string | undefined {
  const cause = stage.answer?.cause;
  if (cause === undefined) return undefined;
  if (cause.is === "missing profile" || cause.is === "no rule")
    return `To allow it: ${causeText(cause, stage.direction, originOf)}; a policy that allows it would do.${afterwards(answered, stage)}`;
  if (cause.is === "profile") return undefined;
  if (isAnswer(answered, stage))
    return "To allow it: let the answer pass, too. An untracked policy lets the packet pass, so its answer is asked about like a packet of its own.";
  const other = otherEnd(answered, stage);
  const { destinationPort, protocol } = answered.flow;
  const ofTier = cause.is === "end of tier" ? cause.policies : [];
  const ofKubernetes = ofTier.filter(({ kind }) => kind === "KubernetesNetworkPolicy");
  const isOfKubernetes = ofKubernetes.length > 0;
  // The example is of one kind, so those are named that can have it.
  const able = isOfKubernetes ? ofKubernetes : ofTier;
  const where =
    cause.is === "rule"
      ? `before ${ruleAt(cause, stage, originOf)} of ${policyText(cause.policy)}`
      : `in ${able.length === 1 ? "" : "one of "}${able.map(policyText).join(", ")}`;
  const isOfCluster = cause.is === "rule" && cause.policy.kind === "KubernetesClusterNetworkPolicy";
  if (isOfCluster && stage.direction === "ingress" && other.is !== "workload")
    return `To allow it: change ${ruleAt(cause, stage, originOf)} of ${policyText(cause.policy)}. A rule of that kind cannot let in an address that is no pod's.${afterwards(answered, stage)}`;
  const ruleFor = isOfKubernetes ? kubernetesRule : isOfCluster ? clusterRule : calicoRule;
  const rule = ruleFor(other, stage.direction, protocol, destinationPort);
  return `To allow it: an ${stage.direction} rule ${where}, for example\n${rule}${afterwards(answered, stage)}`;
}

function afterwards(answered: Answered, stage: Stage): string {
  return isLast(answered, stage) ? "" : "\nThen ask again: what is asked later on the way may still deny it.";
}

/** The receiver's own policies are asked at the end, but for those of host endpoints. */
function isLast({ flow, hasHosts }: Answered, { class: of, direction }: Stage): boolean {
  if (hasHosts) return false;
  return flow.destination.is === "outside" || (of === "endpoint" && direction === "ingress");
}

function isAnswer({ flow }: Answered, { packet }: Stage): boolean {
  return packet !== undefined && rangeText(packet.source) === rangeText(flow.destination.address);
}

/** The other end as the stage sees it: a sender whose address is hidden on the way is not known by its labels any more. */
function otherEnd({ flow }: Answered, { direction, packet }: Stage): Place {
  if (direction === "egress") return flow.destination;
  const { source } = flow;
  if (packet === undefined || rangeText(packet.source) === rangeText(source.address)) return source;
  return { is: "outside", address: packet.source };
}

function ruleAt(cause: Cause & { readonly is: "rule" }, { direction }: Stage, originOf: OriginOf): string {
  return ruleName(cause.policy, { direction, number: cause.at.number }, originOf);
}

function endpointName({ endpoint, node }: Stage): string {
  if (endpoint === undefined) return `node ${node}`;
  return endpoint.is === "workload" ? endpoint.workload : `host endpoint ${endpoint.id}`;
}

function kubernetesRule(
  other: Place,
  direction: "ingress" | "egress",
  protocol: number,
  port: number | undefined,
): string {
  const lines = [direction === "ingress" ? "- from:" : "- to:"];
  if (other.is === "workload") {
    const { namespace, labels } = facts(other);
    lines.push(`  - namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ${yamlText(namespace)}}}`);
    lines.push(`    podSelector: {matchLabels: {${pairs(labels).join(", ")}}}`);
  } else lines.push(`  - ipBlock: {cidr: ${rangeText(other.address)}}`);
  const name = protocolText(protocol).toUpperCase();
  if (["TCP", "UDP", "SCTP"].includes(name))
    lines.push(`  ports: [{protocol: ${name}${port === undefined ? "" : `, port: ${port}`}}]`);
  return lines.map((line) => `  ${line}`).join("\n");
}

/** Its ingress rules name pods only. */
function clusterRule(
  other: Place,
  direction: "ingress" | "egress",
  protocol: number,
  port: number | undefined,
): string {
  const lines = ["- action: Accept", direction === "ingress" ? "  from:" : "  to:"];
  if (other.is === "workload") {
    const { namespace, labels } = facts(other);
    lines.push(
      "  - pods:",
      `      namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ${yamlText(namespace)}}}`,
      `      podSelector: {matchLabels: {${pairs(labels).join(", ")}}}`,
    );
  } else lines.push(`  - networks: [${yamlText(rangeText(other.address))}]`);
  const name = protocolText(protocol);
  if (["tcp", "udp", "sctp"].includes(name))
    lines.push(`  protocols: [{${name}: {${port === undefined ? "" : `destinationPort: {number: ${port}}`}}}]`);
  return lines.map((line) => `  ${line}`).join("\n");
}

function calicoRule(other: Place, direction: "ingress" | "egress", protocol: number, port: number | undefined): string {
  const side = direction === "ingress" ? "source" : "destination";
  const ports = port === undefined ? "" : `ports: [${port}]`;
  const { namespace, labels } = other.is === "workload" ? facts(other) : { namespace: "", labels: {} };
  const who =
    other.is === "workload"
      ? [
          `namespaceSelector: ${yamlText(`projectcalico.org/name == '${namespace}'`)}`,
          `selector: ${yamlText(selectorOf(labels))}`,
        ]
      : [`nets: [${yamlText(rangeText(other.address))}]`];
  const name = protocolText(protocol);
  const sides =
    direction === "ingress"
      ? [`${side}: {${who.join(", ")}}`, ports === "" ? "" : `destination: {${ports}}`]
      : [`${side}: {${[...who, ports].filter((one) => one !== "").join(", ")}}`];
  const fields = [
    "action: Allow",
    `protocol: ${/^protocol (\d+)$/.exec(name)?.[1] ?? name.toUpperCase().replace("ICMPV6", "ICMPv6").replace("UDPLITE", "UDPLite")}`,
    ...sides,
  ];
  return fields
    .filter((field) => field !== "")
    .map((field, index) => `  ${index === 0 ? "- " : "  "}${field}`)
    .join("\n");
}

function facts(place: Place & { readonly is: "workload" }) {
  const [namespace = ""] = place.workload.workload.split("/");
  const labels = Object.entries(place.workload.labels).filter(([name]) => !name.startsWith("projectcalico.org/"));
  return { namespace, labels: Object.fromEntries(labels) };
}

function pairs(labels: { readonly [name: string]: string }): readonly string[] {
  return Object.entries(labels).map(([name, value]) => `${yamlText(name)}: ${yamlText(value)}`);
}

function selectorOf(labels: { readonly [name: string]: string }): string {
  const tests = Object.entries(labels).map(([name, value]) => `${name} == '${value}'`);
  return tests.length === 0 ? "all()" : tests.join(" && ");
}

/** Quoted wherever plain text could be read as something else. */
function yamlText(text: string): string {
  return /^[A-Za-z][A-Za-z0-9./-]*$/.test(text) && !/^(?:true|false|yes|no|on|off|null|y|n)$/i.test(text)
    ? text
    : JSON.stringify(text);
}
