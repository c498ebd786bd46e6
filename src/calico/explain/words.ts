// A verdict in words: who decided, by which rule, and what that rule asks.
import { rangeText } from "../../base/lib/index.ts";
import { printSelector } from "../model/index.ts";
import {
  type Cause,
  type Direction,
  type Endpoint,
  type Policy,
  protocolText,
  type Rule,
  type Side,
  type Stage,
} from "../policy/index.ts";
import { type OriginOf, ruleName } from "./origin.ts";

export function policyText({ kind, namespace, name }: Policy): string {
  const shown =
    kind === "KubernetesNetworkPolicy"
      ? "NetworkPolicy (Kubernetes)"
      : kind === "KubernetesClusterNetworkPolicy"
        ? "ClusterNetworkPolicy"
        : kind;
  return namespace === "" ? `${shown} ${name}` : `${shown} ${namespace}/${name}`;
}

export function endpointText(endpoint: Endpoint): string {
  return endpoint.is === "workload" ? endpoint.workload : `host endpoint ${endpoint.id}`;
}

/** Where on its way the packet is. */
export function stageText({ endpoint, node, direction, class: of }: Stage): string {
  const who = endpoint === undefined ? `node ${node}` : endpointText(endpoint);
  switch (of) {
    case "endpoint":
      return `${direction} of ${who} (on ${node})`;
    case "host":
      return endpoint?.is === "workload"
        ? `from ${who} to its own node ${node}`
        : `${direction} of ${who} (node ${node})`;
    case "forwarded":
      return `forwarded through ${who} (node ${node}), ${direction}`;
    case "before NAT":
      return `into ${who} (node ${node}), before addresses are translated`;
    case "untracked":
      return `${direction} of ${who} (node ${node}), untracked`;
  }
}

export function causeText(cause: Cause, direction: Direction, originOf: OriginOf): string {
  switch (cause.is) {
    case "rule":
      return `${policyText(cause.policy)}, ${ruleName(cause.policy, { direction, number: cause.at.number }, originOf)}: ${ruleText(cause.at.rule)}`;
    case "end of tier":
      return `no rule of ${listOf(cause.policies.map(policyText))} holds, and tier ${cause.tier.name} denies what its policies leave open`;
    case "profile":
      return `${profileText(cause.profile)}, ${direction} rule ${cause.at.number}: ${ruleText(cause.at.rule)}`;
    case "missing profile":
      return `${profileText(cause.profile)} is not known, so nothing passes`;
    case "no rule":
      return "no policy applies and no profile lets it pass";
  }
}

/** The profiles of namespaces and accounts, which nobody has written. */
function profileText(id: string): string {
  if (id.startsWith("kns.")) return `the default of namespace ${id.slice(4)}`;
  if (id.startsWith("ksa.")) return `the default of service account ${id.slice(4).replace(".", "/")}`;
  return `profile ${id}`;
}

export function ruleText(rule: Rule): string {
  const parts = [
    rule.family === undefined ? "" : `IPv${rule.family}`,
    rule.protocol === undefined ? "" : protocolText(rule.protocol),
    rule.notProtocol === undefined ? "" : `every protocol but ${protocolText(rule.notProtocol)}`,
    rule.icmp === undefined
      ? ""
      : `type ${rule.icmp.type}${rule.icmp.code === undefined ? "" : ` code ${rule.icmp.code}`}`,
    rule.notIcmp === undefined
      ? ""
      : `not type ${rule.notIcmp.type}${rule.notIcmp.code === undefined ? "" : ` code ${rule.notIcmp.code}`}`,
    sideText("from", rule.source, {
      selector: rule.given.orig_src_selector,
      namespaces: rule.given.orig_src_namespace_selector,
      accounts: rule.given.orig_src_service_acct_names,
    }),
    sideText("to", rule.destination, {
      selector: rule.given.orig_dst_selector,
      namespaces: rule.given.orig_dst_namespace_selector,
      accounts: rule.given.orig_dst_service_acct_names,
    }),
  ].filter((part) => part !== "");
  const what = parts.length === 0 ? "everything" : parts.join(" ");
  return `${rule.action} ${what}${rule.hasHttp ? " (its http part is not looked at)" : ""}`;
}

type Given = {
  readonly selector: string | undefined;
  readonly namespaces: string | undefined;
  readonly accounts: readonly string[] | undefined;
};

function sideText(word: "from" | "to", side: Side, given: Given): string {
  const parts: string[] = [];
  if (side.nets.length > 0) parts.push(listOf(side.nets.map(rangeText)));
  if (side.notNets.length > 0) parts.push(`outside ${listOf(side.notNets.map(rangeText))}`);
  const isBySelector = [...side.sets, ...side.namedPorts].some(
    (set) => set.is !== "service" && printSelector(set.selector) !== "all()",
  );
  if (isBySelector || side.sets.some(({ is }) => is === "nets")) parts.push(shortened(selectorText(side, given)));
  for (const set of side.notSets) if (set.is === "nets") parts.push(`not ${shortened(printSelector(set.selector))}`);
  for (const set of [...side.sets, side.service])
    if (set?.is === "service") parts.push(`service ${set.namespace}/${set.name}`);
  const ports = [...side.ports.map(portText), ...side.namedPorts.map(nameOf)];
  if (ports.length > 0) parts.push(`port ${listOf(ports, "or")}`);
  const notPorts = [...side.notPorts.map(portText), ...side.notNamedPorts.map(nameOf)];
  if (notPorts.length > 0) parts.push(`every port but ${listOf(notPorts)}`);
  return parts.length === 0 ? "" : `${word} ${parts.join(", ")}`;
}

/** As it was written, where that is known: what nodes are sent has the namespaces worked in. */
function selectorText(side: Side, { selector, namespaces, accounts }: Given): string {
  const written = [
    withoutOrchestrator(selector ?? ""),
    namespaces === undefined || namespaces === "" ? "" : `namespaces with ${namespaces}`,
    accounts === undefined || accounts.length === 0 ? "" : `service accounts ${accounts.join(", ")}`,
  ].filter((part) => part !== "");
  if (written.length > 0) return written.join(" in ");
  const set = [...side.sets, ...side.namedPorts].find((one) => one.is !== "service");
  return set === undefined ? "anybody" : printSelector(set.selector);
}

/** A list of thousands of values would bury the verdict; the object that is named beside it has it whole. */
function shortened(selector: string): string {
  const most = 300;
  return selector.length <= most ? selector : `${selector.slice(0, most)}... (${selector.length} characters)`;
}

/** Which every rule of Kubernetes has, once converted, and nobody has written. */
function withoutOrchestrator(selector: string): string {
  const test = /^projectcalico\.org\/orchestrator == ['"]k8s['"]/.exec(selector)?.[0];
  if (test === undefined) return selector;
  const rest = selector.slice(test.length).replace(/^ && /, "");
  return rest === "" ? "all pods" : rest;
}

export function portText({ first, last }: { readonly first: number; readonly last: number }): string {
  return first === last ? String(first) : `${first}-${last}`;
}

function nameOf(set: Side["namedPorts"][number]): string {
  return set.is === "named port" ? `"${set.name}"` : "";
}

export function listOf(texts: readonly string[], word = "and"): string {
  if (texts.length > 6) return `${texts.slice(0, 5).join(", ")} ${word} ${texts.length - 5} more`;
  return texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} ${word} ${texts.at(-1)}`;
}
