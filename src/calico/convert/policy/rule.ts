// A v3 rule to the rule that clients read. `namespace` is that of the policy, "" for a global one: a side with any kind of
// selector is limited to it.
import type { EntityRule, Rule } from "../../kinds/index.ts";
import { canonicalUint8OrText, type NumberOrText, type V1Rule } from "../../model/index.ts";
import type { Warning } from "../processor/processor.ts";
import { readNetworks } from "./networks.ts";
import { literalWarning, namespacePrefix, prefixed, replaceAll, serviceAccountSelector } from "./rule-selector.ts";

type RuleContext = { readonly namespace: string; readonly field: string; readonly warnings: Warning[] };

/** All rules of one direction; `field` is that of the list. */
export function convertRules(rules: readonly Rule[] | undefined, context: RuleContext): readonly V1Rule[] {
  return (rules ?? []).map((rule, at) => convertRule(rule, { ...context, field: `${context.field}[${at}]` }));
}

function convertRule(rule: Rule, { namespace, field, warnings }: RuleContext): V1Rule {
  const source = rule.source ?? {};
  const destination = rule.destination ?? {};
  const side = (name: string) => ({ namespace, field: `${field}.${name}`, warnings });
  const nets = (texts: readonly string[] | undefined, name: string) =>
    readNetworks(texts, { field: `${field}.${name}`, effect: "sent-as-original", consequence, warnings });
  return {
    action: rule.action === "Pass" ? "next-tier" : (rule.action ?? "").toLowerCase(),
    ip_version: rule.ipVersion,
    protocol: lowerCase(rule.protocol),
    "!protocol": lowerCase(rule.notProtocol),
    icmp_type: rule.icmp?.type,
    icmp_code: rule.icmp?.code,
    "!icmp_type": rule.notICMP?.type,
    "!icmp_code": rule.notICMP?.code,
    src_nets: nets(source.nets, "source.nets"),
    src_selector: entitySelector(source, side("source")),
    src_ports: source.ports,
    src_service: source.services?.name,
    src_service_ns: source.services?.namespace,
    dst_selector: entitySelector(destination, side("destination")),
    dst_nets: nets(destination.nets, "destination.nets"),
    dst_ports: destination.ports,
    dst_service: destination.services?.name,
    dst_service_ns: destination.services?.namespace,
    "!src_nets": nets(source.notNets, "source.notNets"),
    "!src_selector": source.notSelector,
    "!src_ports": source.notPorts,
    "!dst_selector": destination.notSelector,
    "!dst_nets": nets(destination.notNets, "destination.notNets"),
    "!dst_ports": destination.notPorts,
    orig_src_selector: source.selector,
    orig_src_namespace_selector: source.namespaceSelector,
    orig_dst_selector: destination.selector,
    orig_dst_namespace_selector: destination.namespaceSelector,
    "!orig_src_selector": source.notSelector,
    "!orig_dst_selector": destination.notSelector,
    orig_src_service_acct_names: source.serviceAccounts?.names,
    orig_src_service_acct_selector: source.serviceAccounts?.selector,
    orig_dst_service_acct_names: destination.serviceAccounts?.names,
    orig_dst_service_acct_selector: destination.serviceAccounts?.selector,
    http: rule.http,
    metadata: rule.metadata?.annotations === undefined ? undefined : { annotations: rule.metadata.annotations },
  };
}

/** Names in lower case; a number stays one, also where it comes as text from a Kubernetes policy. */
function lowerCase(protocol: NumberOrText | undefined): NumberOrText | undefined {
  return typeof protocol === "string" ? canonicalUint8OrText(protocol.toLowerCase()) : protocol;
}

/** Without one of its networks a narrow rule can become one for everybody. */
const consequence = "; it is left out, so the rule may match more than was meant";

function entitySelector(entity: EntityRule, { namespace, field, warnings }: RuleContext): string {
  const accounts =
    entity.serviceAccounts === undefined
      ? ""
      : serviceAccountSelector(entity.serviceAccounts, `${field}.serviceAccounts`, warnings);
  const parts = [accounts, entity.selector ?? ""].filter((part) => part !== "");
  const endpoint = parts.length > 1 ? `(${parts.join(") && (")})` : (parts[0] ?? "");
  const ofNamespace = namespaceSelector(entity, { namespace, field, warnings });
  const isLimited = endpoint !== "" || isGiven(entity.notSelector) || isGiven(entity.namespaceSelector);
  if (ofNamespace === "" || !isLimited) return endpoint;
  return endpoint === "" ? ofNamespace : `(${ofNamespace}) && (${endpoint})`;
}

function isGiven(text: string | undefined): boolean {
  return text !== undefined && text !== "";
}

/** Which namespaces: those selected, else the policy's own, else all. */
function namespaceSelector(entity: EntityRule, { namespace, field, warnings }: RuleContext): string {
  const text = entity.namespaceSelector ?? "";
  if (text === "") return namespace === "" ? "" : `projectcalico.org/namespace == '${namespace}'`;
  const input = { text, field: `${field}.namespaceSelector` };
  const warn = () => warnings.push(literalWarning(input.field));
  const selector = prefixed(input, namespacePrefix, warnings);
  const ofAll = replaceAll(selector, "all()", "has(projectcalico.org/namespace)", warn);
  return replaceAll(ofAll, "global()", "!has(projectcalico.org/namespace)", warn);
}
