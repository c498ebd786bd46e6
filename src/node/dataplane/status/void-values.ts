// Says which values of the cluster make no sense: once each in the log, and once when that is over; and in health as long as it lasts.
import type { Log } from "../../../base/lib/index.ts";
import { describeVoids } from "../../../calico/policy/index.ts";

/** The log names so many of one batch, health so many in all; the metric counts them. */
const most = { inLog: 50, inHealth: 3 };

export class VoidValues {
  readonly #said = new Map<string, string>();

  say(voids: ReadonlyMap<string, string>, log: Pick<Log, "warn" | "info">): void {
    if (voids.size + this.#said.size === 0) return;
    const fresh = new Map([...voids].filter(([path, why]) => this.#said.get(path) !== why));
    const over = new Map([...this.#said].filter(([path]) => !voids.has(path)));
    for (const { object, why } of describeVoids(fresh).slice(0, most.inLog))
      log.warn("What cannot be understood counts as absent", { object, why });
    if (fresh.size > most.inLog)
      log.warn("What cannot be understood counts as absent", {
        objects: fresh.size - most.inLog,
        why: "not named here",
      });
    for (const { object } of describeVoids(over).slice(0, most.inLog))
      log.info("What could not be understood is mended, or gone", { object });
    for (const [path, why] of fresh) this.#said.set(path, why);
    for (const path of over.keys()) this.#said.delete(path);
  }

  /** For health; undefined: everything was understood. */
  detail(voids: ReadonlyMap<string, string>): string | undefined {
    if (voids.size === 0) return undefined;
    const named = describeVoids(voids)
      .slice(0, most.inHealth)
      .map(({ object }) => object);
    const more = voids.size > most.inHealth ? `, and ${voids.size - most.inHealth} more` : "";
    return `cannot be understood and counts as absent: ${named.join(", ")}${more}`;
  }
}
