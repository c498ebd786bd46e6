// Makes the kernel's tables equal to those that are wanted, and keeps them so, in the transactions that steps.ts says. A refused one is
// narrowed down to the policies that the kernel does not take; those deny, the rest goes on.
//
//   wanted (RulesetBuilder) ─▶ transaction ─▶ nft ─┬─ taken
//                                                  └─ refused ─▶ trials ─▶ which ones ─▶ they deny ─▶ transaction ...
import { CattailError, type Log } from "../../../base/lib/index.ts";
import type { Metrics } from "../../../base/observe/index.ts";
import type { RulesetBuilder } from "../nft/build.ts";
import { refusedOf } from "./narrow.ts";
import type { Nft } from "./nft.ts";
import type { Seen, TableGuard } from "./table-guard.ts";

export type EnforcerOptions = {
  readonly nft: Nft;
  readonly builder: RulesetBuilder;
  readonly guard: TableGuard;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "add" | "set" | "observe">;
};

export class Enforcer {
  readonly #of: EnforcerOptions;
  readonly #said = new Map<string, string>();
  /** What the kernel said when it did not take the table for ARP. */
  #arpRefusal: string | undefined;

  constructor(options: EnforcerOptions) {
    this.#of = options;
  }

  /** Takes what the kernel holds of our tables as the beginning. */
  async adopt(): Promise<void> {
    await this.#adoptMain();
    await this.#adoptArp();
  }

  /** Whether the kernel holds something else than we believe; what it takes to mend it is the next transaction. */
  async compare(): Promise<boolean> {
    await this.adopt();
    const { builder } = this.#of;
    if (builder.ruleset.transaction() !== undefined) return true;
    return this.#arpRefusal === undefined && builder.arp.transaction() !== undefined;
  }

  /** Says whether somebody else was at the tables meanwhile. */
  async apply(): Promise<Seen> {
    const { guard, metrics } = this.#of;
    const startedMs = performance.now();
    guard.begin();
    const ours = (await this.#applyMain()) + (await this.#applyArp());
    this.#sayRefused();
    if (ours > 0)
      metrics.observe("felix_int_dataplane_apply_time_seconds", undefined, (performance.now() - startedMs) / 1_000);
    return guard.look(ours);
  }

  /** How many transactions the kernel took. */
  async #applyMain(): Promise<number> {
    const { builder, nft, log, metrics } = this.#of;
    let [ours, remade] = [0, 0];
    for (let next = builder.ruleset.transaction(); next !== undefined; next = builder.ruleset.transaction()) {
      const outcome = await nft.apply(next.text, next.elements);
      if (outcome.is === "taken") {
        next.taken();
        ours += 1;
        metrics.add("felix_calc_graph_output_events", undefined, 1);
        continue;
      }
      metrics.add("felix_int_dataplane_failures", undefined, 1);
      const refused = await this.#narrowed();
      if (refused.size > 0) {
        builder.refuse(refused);
        continue;
      }
      // No policy is to blame: what is in the kernel is not what we believe, as after a flush. It is read again; then all rules are made anew.
      remade += 1;
      if (remade > 2) throw refusedWhole(outcome.why);
      log.warn("The kernel refuses a change of our table; it is made anew", { why: outcome.why });
      await this.#adoptMain({ isRemade: remade > 1 });
    }
    return ours;
  }

  /** Nobody's packets hang on it: what the kernel does not take of this is said once, and policy goes on. */
  async #applyArp(): Promise<number> {
    const { builder, nft, log } = this.#of;
    let [ours, isReadAgain] = [0, false];
    if (this.#arpRefusal !== undefined) return 0;
    for (let next = builder.arp.transaction(); next !== undefined; next = builder.arp.transaction()) {
      const outcome = await nft.apply(next.text);
      if (outcome.is === "taken") {
        next.taken();
        ours += 1;
      } else if (isReadAgain) {
        this.#arpRefusal = outcome.why;
        log.warn(
          "The kernel takes no rules for ARP: pods that look for duplicates of their address find the host's answer",
          {
            why: outcome.why,
          },
        );
        break;
      } else {
        isReadAgain = true;
        await this.#adoptArp({ isRemade: true });
      }
    }
    return ours;
  }

  async #adoptMain(how: { readonly isRemade?: boolean } = {}): Promise<void> {
    const { nft, builder } = this.#of;
    const table = await nft.ownTable("inet");
    if (table === undefined) builder.ruleset.startAgain();
    else builder.ruleset.adopt(table, how);
  }

  async #adoptArp(how: { readonly isRemade?: boolean } = {}): Promise<void> {
    const { nft, builder } = this.#of;
    const table = await nft.ownTable("arp");
    if (table === undefined) builder.arp.startAgain();
    else builder.arp.adopt(table, how);
  }

  #narrowed(): Promise<ReadonlyMap<string, string>> {
    const { builder, nft } = this.#of;
    const suspects = builder.units.filter((unit) => !builder.refused.has(unit));
    return refusedOf(suspects, async (units) => {
      const outcome = await nft.apply(builder.trial(units));
      return outcome.is === "taken" ? undefined : outcome.why;
    });
  }

  /** Each once, and once when it is over. */
  #sayRefused(): void {
    const { builder, log, metrics } = this.#of;
    for (const [unit, why] of builder.refused) {
      if (this.#said.has(unit)) continue;
      this.#said.set(unit, builder.titleOf(unit));
      log.error("The kernel refuses a policy, which denies until it is changed", {
        policy: builder.titleOf(unit),
        why,
      });
    }
    for (const [unit, policy] of this.#said) {
      if (builder.refused.has(unit)) continue;
      this.#said.delete(unit);
      log.info("The kernel takes a policy that it refused before, or it is gone", { policy });
    }
    metrics.set("felix_nft_refused_policies", undefined, builder.refused.size);
  }
}

function refusedWhole(why: string): CattailError {
  return new CattailError("NFT_REFUSED", {
    problem: `the kernel refuses our packet rules, and no single policy is the reason: ${why}`,
    next: "Check that the kernel has nf_tables with sets, maps, fib and NAT for inet tables (nft list tables), and that nft is 1.0 or newer",
  });
}
