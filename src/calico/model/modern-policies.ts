// Policies of servers up to v3.31, which say them under older keys (legacy-policy.ts), as newer servers say them. Who follows servers may be led
// from one kind to the other: then a policy is there under both keys for a moment, and only who said it last can take it back.
import { keyToPath, type PolicyKey } from "./keys/keys.ts";
import { pathToKey } from "./keys/path-to-key.ts";

export type Said = { readonly path: string; readonly value: string | undefined };

export class ModernPolicies {
  /** The older key that a policy was last said under, by its key. */
  readonly #older = new Map<string, string>();

  /** Undefined: it takes back what somebody else has said since. */
  read(path: string, value: string | undefined): Said | undefined {
    if (!path.startsWith(policies)) return { path, value };
    const modern = modernKey(path);
    const at = modern?.path ?? path;
    if (value === undefined) {
      if (this.#older.get(at) !== (modern === undefined ? undefined : path)) return undefined;
      this.#older.delete(at);
      return { path: at, value };
    }
    if (modern === undefined) this.#older.delete(at);
    else this.#older.set(at, path);
    return { path: at, value: modern === undefined ? value : withTier(value, modern.tier) };
  }
}

const policies = "/calico/v1/policy/";

function modernKey(path: string): { readonly path: string; readonly tier: string } | undefined {
  const key = pathToKey(path);
  if (key?.is !== "LegacyPolicy") return undefined;
  const modern = keyToPath(policyKey(key.name));
  return modern === undefined ? undefined : { path: modern, tier: key.tier };
}

/** The kind was hidden in the name. */
function policyKey(text: string): PolicyKey {
  const slash = text.indexOf("/");
  const namespace = slash < 0 ? "" : text.slice(0, slash);
  const given = text.slice(slash + 1);
  for (const [prefix, kind] of slash < 0 ? globalKinds : namespacedKinds)
    if (given.startsWith(prefix)) return { is: "Policy", kind, namespace, name: given.slice(prefix.length) };
  return { is: "Policy", kind: slash < 0 ? "GlobalNetworkPolicy" : "NetworkPolicy", namespace, name: given };
}

const namespacedKinds = [
  ["knp.default.", "KubernetesNetworkPolicy"],
  ["staged:knp.default.", "StagedKubernetesNetworkPolicy"],
  ["staged:", "StagedNetworkPolicy"],
] as const;
const globalKinds = [
  ["staged:", "StagedGlobalNetworkPolicy"],
  ["kcnp.", "KubernetesClusterNetworkPolicy"],
] as const;

/** At the end: the tier of the key counts, whatever else the value says. */
function withTier(value: string, tier: string): string {
  const text = value.trimEnd();
  if (!text.endsWith("}")) return value;
  const body = text.slice(0, -1).trimEnd();
  return `${body}${body.endsWith("{") ? "" : ","}"tier":${JSON.stringify(tier)}}`;
}
