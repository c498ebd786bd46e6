// Which policies apply to one workload endpoint, in the order in which the data plane tries them: by tier, then by the
// policy's order, then by name. Works on the felix key/values themselves, so it shows what the nodes were told.
import { isRecord, parseJson } from "../../base/lib/index.ts";
import { evaluateSelector, keyToPath, parseSelector, pathToKey } from "../../calico/model/index.ts";
import type { EndpointView, PolicyView } from "./contract.ts";

export type KeyValue = { readonly path: string; readonly value: string };

export type FelixKeys = {
  get(path: string): string | undefined;
  withPrefix(prefix: string): Iterable<KeyValue>;
  /** The keys alone, which costs a tenth. */
  paths(prefix: string): Iterable<string>;
};

type Match = PolicyView & { readonly tier: string };

export function endpointPolicies(path: string, keys: FelixKeys): EndpointView | undefined {
  const key = pathToKey(path);
  const endpoint = record(keys.get(path));
  if (key?.is !== "WorkloadEndpoint" || endpoint === undefined) return undefined;
  const profiles = texts(endpoint.profile_ids);
  const labels = labelsOf(endpoint.labels);
  const inheritedLabels = inherited(profiles, keys);
  const unparsable: { path: string; why: string }[] = [];
  const matches: Match[] = [];
  // An endpoint's own label wins over one of the same name that its profiles would give it.
  const seen = { ...inheritedLabels, ...labels };
  for (const { path: policyPath, value } of keys.withPrefix("/calico/v1/policy/")) {
    const match = matchPolicy(policyPath, value, seen);
    if (match === undefined) continue;
    if ("why" in match) unparsable.push({ path: policyPath, why: match.why });
    else matches.push(match);
  }
  return {
    path,
    node: key.hostname,
    name: text(endpoint.name),
    addresses: [...texts(endpoint.ipv4_nets), ...texts(endpoint.ipv6_nets)],
    labels,
    inheritedLabels,
    profiles,
    tiers: groupByTier(matches, keys),
    unparsable,
  };
}

function matchPolicy(
  path: string,
  value: string,
  labels: { [label: string]: string },
): Match | { why: string } | undefined {
  const key = pathToKey(path);
  if (key?.is !== "Policy") return undefined;
  const policy = record(value);
  if (policy === undefined) return { why: "its value is not a JSON object" };
  const selector = text(policy.selector);
  const parsed = parseSelector(selector);
  if (parsed.is === "error") return { why: `its selector does not parse: ${parsed.why}` };
  if (!evaluateSelector(parsed.selector, labels)) return undefined;
  return {
    path,
    kind: key.kind,
    namespace: key.namespace,
    name: key.name,
    tier: text(policy.tier) || "default",
    order: typeof policy.order === "number" ? policy.order : null,
    selector,
    types: texts(policy.types),
    staged: key.kind.startsWith("Staged"),
    inboundRules: length(policy.inbound_rules),
    outboundRules: length(policy.outbound_rules),
  };
}

function groupByTier(matches: Match[], keys: FelixKeys): EndpointView["tiers"] {
  const groups = new Map<string, Match[]>();
  for (const match of matches) groups.set(match.tier, [...(groups.get(match.tier) ?? []), match]);
  const tiers = [...groups].map(([tier, policies]) => {
    const stored = record(keys.get(keyToPath({ is: "Tier", name: tier }) ?? ""));
    return {
      tier,
      order: typeof stored?.order === "number" ? stored.order : null,
      defaultAction: text(stored?.defaultAction) || "Deny",
      policies: policies.toSorted(byOrderThen(({ namespace, name, kind }) => `${namespace}/${name}/${kind}`)),
    };
  });
  return tiers.toSorted(byOrderThen(({ tier }) => tier));
}

// No order means last, as in the data plane.
function byOrderThen<T extends { readonly order: number | null }>(name: (item: T) => string) {
  return (left: T, right: T): number => {
    const [a, b] = [left.order ?? Number.POSITIVE_INFINITY, right.order ?? Number.POSITIVE_INFINITY];
    if (a !== b) return a < b ? -1 : 1;
    return name(left) < name(right) ? -1 : 1;
  };
}

function inherited(profiles: string[], keys: FelixKeys): { [label: string]: string } {
  return Object.assign(
    Object.create(null),
    ...profiles.map((profile) => labelsOf(record(keys.get(keyToPath({ is: "ProfileLabels", name: profile }) ?? "")))),
  );
}

function record(value: string | undefined): { readonly [name: string]: unknown } | undefined {
  if (value === undefined) return undefined;
  try {
    const parsed = parseJson(value);
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined; // not JSON: the caller says so where it matters
  }
}

function labelsOf(value: unknown): { [label: string]: string } {
  const labels: { [label: string]: string } = Object.create(null);
  if (isRecord(value))
    for (const [name, text_] of Object.entries(value)) if (typeof text_ === "string") labels[name] = text_;
  return labels;
}

const text = (value: unknown) => (typeof value === "string" ? value : "");
const texts = (value: unknown) => (Array.isArray(value) ? value.filter((item) => typeof item === "string") : []);
const length = (value: unknown) => (Array.isArray(value) ? value.length : 0);
