// Makes the kernel's table equal to the one that is wanted, and keeps it so: one transaction for everything that changed. A refused one is
// narrowed down to the policies that the kernel does not take; those deny, the rest goes on.
//
//   wanted (RulesetBuilder) ─▶ transaction ─▶ nft ─┬─ taken
//                                                  └─ refused ─▶ trials ─▶ which ones ─▶ they deny ─▶ transaction ...
import { CattailError, type Log } from "../../../base/lib/index.ts";
import type { Metrics } from "../../../base/observe/index.ts";
import type { RulesetBuilder } from "../nft/build.ts";
import { refusedOf } from "./narrow.ts";
import type { NftProgram } from "./nft-program.ts";
import type { Seen, TableGuard } from "./table-guard.ts";

export type EnforcerOptions = {
  readonly nft: NftProgram;
  readonly builder: RulesetBuilder;
  readonly guard: TableGuard;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "add" | "set" | "observe">;
};

export class Enforcer {
  readonly #of: EnforcerOptions;
  readonly #said = new Map<string, string>();

  constructor(options: EnforcerOptions) {
    this.#of = options;
  }

  /** Takes what the kernel holds of our table as the beginning. False: it holds none. */
  async adopt(): Promise<boolean> {
    const { nft, builder } = this.#of;
    const table = await nft.ownTable();
    if (table === undefined) builder.ruleset.startAgain();
    else builder.ruleset.adopt(table);
    return table !== undefined;
  }

  /** Whether the kernel holds something else than we believe; what it takes to mend it is the next transaction. */
  async compare(): Promise<boolean> {
    await this.adopt();
    return this.#of.builder.ruleset.transaction() !== undefined;
  }

  /** Says whether somebody else was at the table meanwhile. */
  async apply(): Promise<Seen> {
    const { builder, nft, guard, log, metrics } = this.#of;
    const startedMs = performance.now();
    let isAnew = false;
    let ours = 0;
    guard.begin();
    for (;;) {
      const transaction = builder.ruleset.transaction();
      if (transaction === undefined) break;
      const outcome = await nft.apply(transaction.text);
      if (outcome.is === "taken") {
        transaction.taken();
        ours += 1;
        metrics.add("felix_calc_graph_output_events", undefined, 1);
        // New sets go before the rules that ask them, and what nobody needs any more after them.
        if (ours < 3 && builder.ruleset.transaction() !== undefined) continue;
        this.#sayRefused();
        metrics.observe("felix_int_dataplane_apply_time_seconds", undefined, (performance.now() - startedMs) / 1_000);
        return guard.look(ours);
      }
      metrics.add("felix_int_dataplane_failures", undefined, 1);
      const refused = await this.#narrowed();
      if (refused.size > 0) builder.refuse(refused);
      else if (isAnew) throw refusedWhole(outcome.why);
      else {
        // No policy is to blame: what is in the kernel is not what we believe, as after a flush.
        log.warn("The kernel refuses a change of our table; it is made anew", { why: outcome.why });
        isAnew = true;
        builder.ruleset.startAgain();
      }
    }
    this.#sayRefused();
    return guard.look(ours);
  }

  /** The next transaction makes the whole table anew: rules and sets together. */
  startAgain(): void {
    this.#of.builder.ruleset.startAgain();
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
