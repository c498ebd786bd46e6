// What one part of a rule of nftables asks of a packet, read from nft's JSON: addresses, interfaces, protocols and ports. Of the state of
// connections that much: a ping is a new one. Pure.
import { isRecord } from "../../../../base/lib/index.ts";
import type { RuleCondition } from "../../facts.ts";

/** Undefined: nobody can tell beforehand. */
export function conditionOf(match: unknown): RuleCondition | "always" | "never" | undefined {
  if (!isRecord(match) || !isRecord(match.left)) return undefined;
  const { op, left, right } = match;
  const isNot = op === "!=";
  if (op !== "==" && op !== "!=" && op !== "in") return undefined;
  const { payload, meta, ct } = left;
  if (isRecord(ct) && ct.key === "state") return stateCondition(valuesOf(right), isNot);
  if (isRecord(meta)) return metaCondition(String(meta.key), right, isNot);
  if (!isRecord(payload)) return undefined;
  const field = String(payload.field);
  if (field === "saddr" || field === "daddr") {
    const networks = all(right, networkOf);
    return networks && { on: field === "saddr" ? "source" : "destination", networks, isNot };
  }
  if (field === "sport" || field === "dport") {
    const ports = all(right, portsOf);
    return ports && { on: field === "sport" ? "source port" : "destination port", ports, isNot };
  }
  return field === "protocol" || field === "nexthdr" ? protocolCondition(right, isNot) : undefined;
}

/** A rule about the invalid alone is about no ping; one about new ones asks nothing of a ping. */
function stateCondition(states: readonly unknown[] | undefined, isNot: boolean): "always" | "never" | undefined {
  if (states === undefined) return undefined;
  const has = states.includes("new") || states.includes("untracked");
  return has !== isNot ? "always" : "never";
}

function metaCondition(key: string, right: unknown, isNot: boolean): RuleCondition | "always" | undefined {
  if (key === "l4proto") return protocolCondition(right, isNot);
  if (key === "nfproto" || key === "protocol") return "always";
  if (key !== "iifname" && key !== "oifname" && key !== "iif" && key !== "oif") return undefined;
  const names = all(right, (value) => (typeof value === "string" ? value : undefined));
  return names && { on: key.startsWith("iif") ? "interface in" : "interface out", names, isNot };
}

const numbers: { readonly [number: string]: string | undefined } = {
  "1": "icmp",
  "4": "ipip",
  "6": "tcp",
  "17": "udp",
  "58": "icmpv6",
  "ipv6-icmp": "icmpv6",
};

function protocolCondition(right: unknown, isNot: boolean): RuleCondition | undefined {
  const names = all(right, (value) => numbers[String(value)] ?? String(value));
  return names && { on: "protocol", names, isNot };
}

function valuesOf(right: unknown): readonly unknown[] | undefined {
  if (Array.isArray(right)) return right;
  if (isRecord(right))
    return Array.isArray(right.set) ? right.set : "prefix" in right || "range" in right ? [right] : undefined;
  // A named set: what is in it, this does not say.
  return typeof right === "string" && right.startsWith("@") ? undefined : [right];
}

function all<T>(right: unknown, read: (value: unknown) => T | undefined): T[] | undefined {
  const values = valuesOf(right)?.map(read);
  return values?.every((value) => value !== undefined) ? (values as T[]) : undefined; // none of them is undefined
}

function networkOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  const prefix = isRecord(value) ? value.prefix : undefined;
  return isRecord(prefix) ? `${prefix.addr}/${prefix.len}` : undefined;
}

function portsOf(value: unknown): readonly [number, number] | undefined {
  if (typeof value === "number") return [value, value];
  const range = isRecord(value) && Array.isArray(value.range) ? value.range : [];
  const [from, to] = range;
  return typeof from === "number" && typeof to === "number" ? [from, to] : undefined;
}

const keys = {
  source: "saddr",
  destination: "daddr",
  "interface in": "iifname",
  "interface out": "oifname",
  protocol: "protocol",
  "source port": "sport",
  "destination port": "dport",
} as const;

/** For a person, in nft's words. */
export function conditionText(condition: RuleCondition): string {
  const values =
    "networks" in condition
      ? condition.networks
      : "names" in condition
        ? condition.names
        : condition.ports.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
  return `${keys[condition.on]} ${condition.isNot ? "!= " : ""}${values.join(", ")}`;
}
