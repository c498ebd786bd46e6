// What would turn the verdict round: the smallest rule that does it, in the words of the policy that decides.
import { rangeText } from "../../base/lib/index.ts";
import { type Cause, type Place, protocolText, type Stage, type Verdict } from "../policy/index.ts";
import type { Answered } from "./answer.ts";
import { type OriginOf, ruleName, type Sources } from "./origin.ts";
import { causeText, policyText } from "./words.ts";

/** Undefined: nothing in the objects would (a node reaches its own pods whatever they say). */
export function whatWouldChange(
  answered: Answered,
  { verdict, decisive }: Verdict,
  { originOf }: Sources,
): string | undefined {
  if (decisive === undefined) return undefined;
  if (decisive.reason !== undefined) return undefined;
  return verdict === "deny" ? toAllow(answered, decisive, originOf) : toDeny(decisive, originOf);
}

function toDeny(stage: Stage, originOf: OriginOf): string | undefined {
  const cause = stage.answer?.cause;
  if (cause?.is === "rule")
    return `To deny it: take it out of ${ruleAt(cause, stage, originOf)} of ${policyText(cause.policy)}, or put a rule that denies it before that one.`;
  if (cause?.is !== "profile") return undefined;
  return `To deny it: a policy with ${stage.direction} rules that selects ${endpointName(stage)} and does not allow this. No policy of that direction selects it now.`;
}

function toAllow(answered: Answered, stage: Stage, originOf: OriginOf): string | undefined {
  const cause = stage.answer?.cause;
  if (cause === undefined) return undefined;
  if (cause.is === "missing profile" || cause.is === "no rule")
    return `To allow it: ${causeText(cause, stage.direction, originOf)}; a policy that allows it would do.`;
  if (cause.is === "profile") return undefined;
  const other = stage.direction === "ingress" ? answered.flow.source : answered.flow.destination;
  const { destinationPort, protocol } = answered.flow;
  const isOfKubernetes =
    cause.is === "end of tier" && cause.policies.some(({ kind }) => kind === "KubernetesNetworkPolicy");
  const where =
    cause.is === "rule"
      ? `before ${ruleAt(cause, stage, originOf)} of ${policyText(cause.policy)}`
      : `in ${cause.policies.length === 1 ? cause.policies.map(policyText).join() : `one of ${cause.policies.map(policyText).join(", ")}`}`;
  const isOfCluster = cause.is === "rule" && cause.policy.kind === "KubernetesClusterNetworkPolicy";
  if (isOfCluster && stage.direction === "ingress" && other.is !== "workload")
    return `To allow it: change ${ruleAt(cause, stage, originOf)} of ${policyText(cause.policy)}. A rule of that kind cannot let in an address that is no pod's.`;
  const ruleFor = isOfKubernetes ? kubernetesRule : isOfCluster ? clusterRule : calicoRule;
  const rule = ruleFor(other, stage.direction, protocol, destinationPort);
  return `To allow it: an ${stage.direction} rule ${where}, for example\n${rule}`;
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
