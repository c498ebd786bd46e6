// Filters and functions in BIRD's language, which both generations read alike. All names begin with calico_: BIRD has keywords such as `priority` and
// `internal`, more with every release, and a function that is called like one may parse and do nothing (node-bgp: seen on 2.17).

import { unreachable } from "../../../base/lib/index.ts";
import { bridgeProtocol } from "../../../calico/routing/index.ts";
import {
  type Community,
  type FamilyIntent,
  type FilterCall,
  type FilterCondition,
  type FilterIntent,
  type FilterOperation,
  highestPriority,
  type Session,
} from "../model/intent.ts";

/** What a route is preferred with that shall win over one of a local workload: a pod that has moved away. */
const winningPreference = 200;

export type FilterTextOptions = {
  readonly agentProtocol: number;
  /** BIRD's own device routes are in its table, and would be given back to the kernel (BIRD 2 with metric 0). */
  readonly rejectsDeviceRoutes: boolean;
  /** Its IPv4 routes take the place of anybody's with the same metric, which most people's have not: 0 (BIRD 2). */
  readonly replacesOthers: boolean;
  /** What `gw` is of a route without one: BIRD 2 has :: in both families (seen), 1.6 each family's own zero. */
  readonly noGateways: readonly string[];
};

/** Functions and the kernel's filter of one family. */
export function familyFunctions(family: FamilyIntent, options: FilterTextOptions): readonly string[] {
  return [
    ...family.filters.flatMap(filterFunction),
    "",
    ...priorityFunction(family),
    ...agentFunction(family, options),
    ...exportFunction(family),
    ...kernelFilter(family, options),
  ];
}

function filterFunction({ symbol, rules }: FilterIntent): readonly string[] {
  return ["", `function '${symbol}'(bool calico_same_as) {`, ...rules.map((rule) => `  ${ruleText(rule)}`), "}"];
}

function ruleText({ conditions, operations, action }: FilterIntent["rules"][number]): string {
  const body = [...operations.flatMap(operationTexts), `${action};`].join(" ");
  return conditions.length === 0 ? body : `if ${conditions.map(conditionText).join(" && ")} then { ${body} }`;
}

function conditionText(condition: FilterCondition): string {
  switch (condition.is) {
    case "net": {
      const { operator, cidr, lengths } = condition;
      return lengths === undefined
        ? `(net ${operator} ${cidr})`
        : `(net ${operator} [ ${cidr}{${lengths[0]},${lengths[1]}} ])`;
    }
    case "always":
      return "true";
    case "never":
      return "false";
    case "learned from a peer":
      return "(defined(source) && source = RTS_BGP)";
    case "interface":
      return `(defined(ifname) && ifname ~ "${condition.pattern}")`;
    case "internal":
      return "(calico_same_as)";
    case "external":
      return "(!calico_same_as)";
    case "community":
      return `(${pairText(condition.value)} ~ ${listOf(condition.value)})`;
    case "path starts":
      return `(bgp_path ~ [= ${condition.asNumbers.join(" ")} * =])`;
    case "local preference":
      return `(defined(bgp_local_pref) && bgp_local_pref = ${condition.value})`;
    default:
      return unreachable(condition);
  }
}

function operationTexts(operation: FilterOperation): readonly string[] {
  switch (operation.is) {
    case "add community":
      return [addCommunity(operation.value)];
    case "prepend":
      // One at a time, and the last one is first in the path.
      return operation.asNumbers.toReversed().map((asNumber) => `bgp_path.prepend(${asNumber});`);
    case "local preference":
      return [`bgp_local_pref = ${operation.value};`];
    default:
      return unreachable(operation);
  }
}

const pairText = (community: Community): string => `(${community.join(", ")})`;
const listOf = (community: Community): string => (community.length === 2 ? "bgp_community" : "bgp_large_community");
const addCommunity = (community: Community): string => `${listOf(community)}.add(${pairText(community)});`;

/** Local preference and kernel metric are two ways to say one priority; from here on a route has both. */
function priorityFunction({ family, normalPriority }: FamilyIntent): readonly string[] {
  return [
    `function calico_priority${family}() {`,
    "  if defined(source) && source = RTS_BGP && defined(bgp_local_pref) then {",
    `    krt_metric = ${highestPriority} - bgp_local_pref;`,
    "  } else {",
    `    if !defined(krt_metric) then { krt_metric = ${normalPriority}; }`,
    `    bgp_local_pref = ${highestPriority} - krt_metric;`,
    "  }",
    "}",
  ];
}

/** A route of the agent's that has a gateway leads to another node, which announces it itself: every node would announce every block. */
function agentFunction({ family }: FamilyIntent, { agentProtocol, noGateways }: FilterTextOptions): readonly string[] {
  const hasGateway = noGateways.map((none) => `gw != ${none}`).join(" && ");
  return [
    `function calico_not_ours${family}() {`,
    `  if defined(krt_source) && krt_source = ${agentProtocol} && ${hasGateway} then { reject; }`,
    `  if defined(krt_source) && krt_source = ${bridgeProtocol} then { reject; }`,
    "}",
  ];
}

function exportFunction(family: FamilyIntent): readonly string[] {
  const { ownBlocks, normalPriority } = family;
  const each = (cidrs: readonly string[], action: string) =>
    cidrs.map((cidr) => `  if net ~ ${cidr} then { ${action}; }`);
  const tunnels = family.tunnelInterfaces.map((pattern) => `ifname ~ "${pattern}"`).join(" || ");
  return [
    `function calico_export${family.family}(bool calico_same_as) {`,
    ...each(family.heldBackPools, "reject"),
    `  if calico_same_as && defined(ifname) then { if ${tunnels} then { reject; } }`,
    '  if defined(ifname) then { if ifname ~ "bpf*.cali" then { reject; } }',
    ...family.communities.map(
      ({ cidr, values }) => `  if net ~ ${cidr} then { ${values.map(addCommunity).join(" ")} }`,
    ),
    ...ownBlocks.flatMap((cidr) => [
      `  if net = ${cidr} then { accept; }`,
      `  if net ~ ${cidr} && krt_metric < ${normalPriority} then { accept; }`,
      `  if net ~ ${cidr} then { reject; }`,
    ]),
    ...each(family.serviceRoutes, "accept"),
    ...each(family.reflectedRanges, "accept"),
    ...each(family.exportedPools, "accept"),
    "  reject;",
    "}",
  ];
}

function kernelFilter(
  family: FamilyIntent,
  { rejectsDeviceRoutes, replacesOthers }: FilterTextOptions,
): readonly string[] {
  const { normalPriority } = family;
  return [
    `filter calico_kernel${family.family} {`,
    ...(rejectsDeviceRoutes ? ["  if defined(source) && source = RTS_DEVICE then { reject; }"] : []),
    ...family.unprogrammedRanges.map((cidr) => `  if net ~ ${cidr} then { reject; }`),
    // As a blackhole in the kernel, an announced address could not be reached from the node itself.
    ...family.serviceRoutes.map(
      (cidr) => `  if defined(source) && source = RTS_STATIC && net = ${cidr} then { reject; }`,
    ),
    "  if defined(source) && source = RTS_BGP && !defined(krt_metric) then {",
    `    krt_metric = ${normalPriority};`,
    `    if defined(bgp_local_pref) then { krt_metric = ${highestPriority} - bgp_local_pref; }`,
    `    if krt_metric < ${normalPriority} then { preference = ${winningPreference}; }`,
    ...(replacesOthers ? ["    if krt_metric = 0 then { krt_metric = 1; }"] : []),
    "  }",
    ...family.wireguardHops.map((hop) => `  if defined(bgp_next_hop) && bgp_next_hop = ${hop} then { reject; }`),
    ...family.kernelPools.map(kernelPoolText),
    "  accept;",
    "}",
  ];
}

function kernelPoolText({ cidr, how, subnet }: FamilyIntent["kernelPools"][number]): string {
  const then = (body: string) => `  if net ~ ${cidr} then { ${body} }`;
  switch (how) {
    case "leave":
      return then("reject;");
    case "program":
      return then("accept;");
    case "tunnel":
      return then('krt_tunnel = "tunl0"; accept;');
    case "tunnel-beyond-subnet":
      return then(
        `if defined(bgp_next_hop) && bgp_next_hop ~ ${subnet} then krt_tunnel = ""; else krt_tunnel = "tunl0"; accept;`,
      );
    default:
      return unreachable(how);
  }
}

/** The two filters of one session. */
export function sessionFilters(
  session: Session,
  { family, normalPriority }: FamilyIntent,
): { import: string; export: string } {
  const calls = (filters: readonly FilterCall[]) =>
    filters.map((each) => (each.is === "missing" ? "reject;" : `'${each.symbol}'(${session.isInternal});`));
  const limit = highestPriority - normalPriority;
  const raise = `if defined(bgp_local_pref) && bgp_local_pref > ${limit} then { preference = ${winningPreference}; }`;
  const imports = [...calls(session.importFilters), raise, "accept;"];
  const exports = [
    `calico_not_ours${family}();`,
    `calico_priority${family}();`,
    ...calls(session.exportFilters),
    `calico_export${family}(${session.isInternal});`,
    "reject;",
  ];
  return { import: `{ ${imports.join(" ")} }`, export: `{ ${exports.join(" ")} }` };
}

export const directInterfaces = (ignored: readonly string[]): string =>
  [...ignored.map((pattern) => `-"${pattern}"`), '-"cali*"', '-"kube-ipvs*"', '"*"'].join(", ");
