// Policies as servers up to v3.31 said them, for clients that know no other form: the tier in the key and not in the value,
// the kind hidden in the name. test/vectors/golden/cases/*/expect-felix.legacy.json is what such a server sent.
//
//   /calico/v1/policy/KubernetesNetworkPolicy/shop/web   {"namespace":"shop","tier":"default","order":1000,...}
//   /calico/v1/policy/tier/default/policy/shop%2fknp.default.web   {"namespace":"shop","order":1000,...}
import { keyToPath, type PolicyKey, type PolicyKind } from "./keys/keys.ts";
import { pathToKey } from "./keys/path-to-key.ts";
import { resourcePrefix } from "./keys/resource-kinds.ts";
import type { KvUpdate } from "./update.ts";

type LegacyUpdate =
  /** Both kinds of clients get the same. */
  | { readonly is: "same" }
  /** `why` is there where the old form says something else than the user meant. */
  | { readonly is: "legacy"; readonly update: KvUpdate; readonly why?: string }
  | { readonly is: "unsayable"; readonly why: string };

const same: LegacyUpdate = { is: "same" };
const policies = "/calico/v1/policy/";
const profiles = resourcePrefix("Profile");

export function legacyForm(update: KvUpdate): LegacyUpdate {
  if (update.path.startsWith(profiles)) return legacyProfile(update);
  if (!update.path.startsWith(policies)) return same;
  const key = pathToKey(update.path);
  return key?.is === "Policy" ? legacyPolicy(update, key) : same;
}

const prefixes: { readonly [Kind in PolicyKind]?: string } = {
  NetworkPolicy: "",
  GlobalNetworkPolicy: "",
  StagedNetworkPolicy: "staged:",
  StagedGlobalNetworkPolicy: "staged:",
  KubernetesNetworkPolicy: "knp.default.",
  StagedKubernetesNetworkPolicy: "staged:knp.default.",
};

function legacyPolicy(update: KvUpdate, key: PolicyKey): LegacyUpdate {
  const prefix = Object.hasOwn(prefixes, key.kind) ? prefixes[key.kind as PolicyKind] : undefined;
  if (prefix === undefined) {
    return { is: "unsayable", why: `clients up to v3.31 have no name for a ${key.kind}` };
  }
  const tier = legacyTier(key);
  const name = `${key.namespace === "" ? "" : `${key.namespace}/`}${prefix}${key.name}`;
  const path = keyToPath({ is: "LegacyPolicy", tier, name });
  if (path === undefined) return { is: "unsayable", why: "the policy has no name" };
  if (update.value === undefined) return { is: "legacy", update: { ...update, path } };
  const { value, tier: ownTier } = withoutTier(update.value);
  const legacy = { is: "legacy", update: { ...update, path, value } } as const;
  if (ownTier === tier) return legacy;
  return { ...legacy, why: `the old form takes the tier from the name: ${tier} instead of ${ownTier}` };
}

/** The tier was what stands before the name's first dot; never a Kubernetes policy's. */
function legacyTier({ kind, name }: PolicyKey): string {
  if (kind === "KubernetesNetworkPolicy" || kind === "StagedKubernetesNetworkPolicy") return "default";
  if (name.startsWith("knp.default.") || name.startsWith("ossg.")) return "default";
  const dot = name.indexOf(".");
  return dot < 0 ? "default" : name.slice(0, dot);
}

// The first fields of a policy's JSON are always these, so text is cut rather than parsed: rules can be long.
const head = /^\{("namespace":"(?:[^"\\]|\\.)*",)?"tier":"((?:[^"\\]|\\.)*)",?/;
// That server's JSON printed exponents with two digits.
const shortExponent = /^("order":-?[0-9.]+e-)([0-9])(?=[,}])/;

function withoutTier(value: string): { value: string; tier: string } {
  const match = head.exec(value);
  if (match === null) return { value, tier: "" };
  const [whole, namespace = "", tier = ""] = match;
  const rest = value.slice(whole.length).replace(shortExponent, "$10$2");
  return { value: `{${namespace}${rest}`, tier };
}

const plainRules = '"ingress":[{"action":"Allow"}],"egress":[{"action":"Allow"}]';
const fullRules = plainRules.replaceAll('"Allow"}', '"Allow","source":{},"destination":{}}');

/** That server wrote the empty sides of a namespace's rules. To a reader it is the same; here it is byte for byte. */
function legacyProfile(update: KvUpdate): LegacyUpdate {
  // The text cannot come from a user: inside a string its quotes would be escaped.
  const value = update.value?.replace(plainRules, fullRules);
  return value === update.value ? same : { is: "legacy", update: { ...update, value } };
}
