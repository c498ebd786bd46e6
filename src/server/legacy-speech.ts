// The old form of an update for clients that speak no other, and a word in the log, once for each object, where the old
// form cannot say it or says something else than was meant.
import type { Log } from "../lib/index.ts";
import { type KvUpdate, legacyForm } from "../model/index.ts";

export type LegacySpeech = {
  readonly form: (update: KvUpdate) => KvUpdate | undefined;
  /** Keys that legacy clients do not get, or get changed, at present. */
  readonly lossCount: () => number;
};

export function createLegacySpeech(log: Log): LegacySpeech {
  const losses = new Map<string, string>();
  return {
    form(update) {
      const said = legacyForm(update);
      const why = said.is === "same" ? undefined : said.why;
      if (why === undefined || update.value === undefined) losses.delete(update.path);
      else if (losses.get(update.path) !== why) {
        losses.set(update.path, why);
        log.warn("Clients up to v3.31 are not told this as it is meant", { key: update.path, why });
      }
      if (said.is === "same") return update;
      return said.is === "legacy" ? said.update : undefined;
    },
    lossCount: () => losses.size,
  };
}
