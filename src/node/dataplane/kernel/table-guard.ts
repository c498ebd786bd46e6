// Tells when somebody else was at our tables. Every transaction on them is told by the kernel; of those, as many are ours as we have made.
// (The process that made one is told, too, but by its number outside of a container, which we do not know.)
import type { RulesetChange, RulesetChanges } from "../../../base/linux/kernel.ts";
import { tableName } from "../nft/names.ts";

export type Seen = "only ours" | "somebody else's" | "not known";

const ourFamilies: readonly number[] = [1, 3]; // inet, arp

export class TableGuard {
  readonly #changes: Pick<RulesetChanges, "take">;
  #isOurTurn = false;

  constructor(changes: Pick<RulesetChanges, "take">) {
    this.#changes = changes;
  }

  /** From here until `look`, transactions of ours may be among what is told. */
  begin(): void {
    this.#isOurTurn = true;
  }

  /** What was told since the last look, when so many of ours were taken. */
  look(ours: number): Seen {
    this.#isOurTurn = false;
    return this.#seen(ours);
  }

  /** Between our turns; while it is our turn, `look` will see it. */
  glance(): Seen {
    return this.#isOurTurn ? "only ours" : this.#seen(0);
  }

  #seen(ours: number): Seen {
    const changes = this.#changes.take();
    if (changes.some(({ is }) => is === "lost")) return "not known";
    return changes.filter(isOnOurTable).length > ours ? "somebody else's" : "only ours";
  }
}

function isOnOurTable(change: RulesetChange): boolean {
  return (
    change.is === "transaction" &&
    change.tables.some(({ family, name }) => ourFamilies.includes(family) && name === tableName)
  );
}
