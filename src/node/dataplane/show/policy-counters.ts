// What each rule of each policy has counted, read from the comments and counters of our table: packets and bytes that it let pass or
// denied since the rule was last made.
import { isRecord } from "../../../base/lib/index.ts";
import type { PolicyHit } from "../../../calico/node-report/index.ts";
import { entriesOf, Nft, type NftOptions } from "../kernel/nft.ts";

export type RuleCount = {
  /** "GlobalNetworkPolicy default.x", "profile kns.red", or "" for what no policy has decided. */
  readonly policy: string;
  readonly rule: number | undefined;
  readonly direction: "ingress" | "egress" | undefined;
  readonly action: string;
  readonly packets: number;
  readonly bytes: number;
  /** Why, where no policy is the reason. */
  readonly reason?: string;
};

/** Undefined: there is no table of ours. */
export async function policyCounters(options: NftOptions = {}): Promise<readonly RuleCount[] | undefined> {
  using nft = new Nft(options);
  const listing = await nft.ownListing();
  return listing === undefined ? undefined : countsIn(listing);
}

/** As the report of the node has them: rules that no packet has met are left out. */
export async function policyHits(options: NftOptions = {}): Promise<PolicyHit[]> {
  const counts = (await policyCounters(options)) ?? [];
  const met = counts.filter(({ packets }) => packets > 0);
  return met.map((one) => ({
    ...one,
    rule: one.rule ?? 0,
    direction: one.direction ?? "",
    reason: one.reason ?? "",
  }));
}

/** Several lines of one rule (families, ports by number and by name) are one. */
function countsIn(listing: unknown): readonly RuleCount[] {
  const found = new Map<string, RuleCount>();
  for (const { rule } of entriesOf(listing)) {
    if (!isRecord(rule) || typeof rule.comment !== "string" || !Array.isArray(rule.expr)) continue;
    const counted = counterOf(rule.expr);
    if (counted === undefined) continue;
    const said = rule.comment.replace(/ ?#[0-9a-f]{10}$/, "");
    const [, policy, number] = /^(.*) rule (\d+)$/.exec(said) ?? [];
    const letter = /^(?:pol|pro|pods|ep-[a-z-]+)-(i|e)-/.exec(String(rule.chain))?.[1];
    const direction = letter === undefined ? undefined : letter === "i" ? "ingress" : "egress";
    const key = `${policy ?? ""} ${number ?? said} ${direction ?? ""}`;
    const before = found.get(key);
    found.set(key, {
      policy: policy ?? "",
      rule: number === undefined ? undefined : Number(number),
      direction,
      action: actionOf(rule.expr),
      packets: (before?.packets ?? 0) + counted.packets,
      bytes: (before?.bytes ?? 0) + counted.bytes,
      ...(policy === undefined ? { reason: said } : {}),
    });
  }
  return [...found.values()];
}

function counterOf(statements: readonly unknown[]): { packets: number; bytes: number } | undefined {
  for (const one of statements) {
    if (!isRecord(one) || !isRecord(one.counter)) continue;
    const { packets, bytes } = one.counter;
    return { packets: Number(packets), bytes: Number(bytes) };
  }
  return undefined;
}

function actionOf(statements: readonly unknown[]): string {
  const words = statements.flatMap((one) => (isRecord(one) ? Object.keys(one) : []));
  if (words.includes("accept")) return "allow";
  if (words.includes("drop")) return "deny";
  if (words.includes("reject")) return "reject";
  return words.includes("return") ? "pass" : "";
}
