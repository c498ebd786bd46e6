// What firewalls of others do with packets, read from nft and from iptables' older tables: once before the pings and, where one has no answer, once
// afterwards, so that rules which count tell what they have dropped.
import { readFileSync } from "node:fs";
import { type Family, messageOf } from "../../../../base/lib/index.ts";
import { runProgram } from "../../../../base/linux/index.ts";
import type { ForeignDrop, HostFacts, NotLookedAt, SuspectRule } from "../../facts.ts";
import { foreignDrops, foreignLegacyDrops, ruleOwners } from "./firewall.ts";
import { legacySuspects, suspectRules } from "./suspect-rules.ts";

export type Firewalls = {
  readonly drops: readonly ForeignDrop[];
  readonly owners: HostFacts["ruleOwners"];
  readonly notLookedAt: readonly NotLookedAt[];
  /** As they are now, against how they were. */
  readonly suspects: () => Promise<SuspectRule[]>;
};

export async function readFirewalls(families: readonly Family[]): Promise<Firewalls> {
  const drops: ForeignDrop[] = [];
  const notLookedAt: NotLookedAt[] = [];
  const later: (() => Promise<SuspectRule[]>)[] = [];
  let owners: HostFacts["ruleOwners"] = [];
  try {
    const before = await nftRuleset();
    drops.push(...foreignDrops(before));
    owners = ruleOwners(before);
    later.push(async () => suspectRules(before, await nftRuleset()));
  } catch (error) {
    notLookedAt.push({ what: "nftables", why: messageOf(error), command: "nft list ruleset" });
  }
  for (const family of families.filter(hasLegacyTables)) {
    const program = family === 4 ? "iptables-legacy" : "ip6tables-legacy";
    try {
      const before = await legacySave(program);
      drops.push(...foreignLegacyDrops(before, family));
      later.push(async () => legacySuspects(before, await legacySave(program), family));
    } catch (error) {
      notLookedAt.push({ what: program, why: messageOf(error), command: `${program} -S FORWARD` });
    }
  }
  const suspects = async () => (await Promise.all(later.map((read) => read()))).flat();
  return { drops, owners, notLookedAt, suspects };
}

async function nftRuleset(): Promise<string> {
  return (await runProgram("nft", ["-j", "list", "ruleset"], { maxOutputBytes: 256 << 20 })).stdout;
}

async function legacySave(program: string): Promise<string> {
  return (await runProgram(`${program}-save`, ["-c"], { maxOutputBytes: 256 << 20 })).stdout;
}

/** To ask iptables-legacy would make its tables; the kernel lists those that are there. */
function hasLegacyTables(family: Family): boolean {
  try {
    const names = readFileSync(`/proc/self/net/${family === 4 ? "ip" : "ip6"}_tables_names`, "utf8");
    return names.trim() !== "";
  } catch {
    return false; // a kernel without them
  }
}
