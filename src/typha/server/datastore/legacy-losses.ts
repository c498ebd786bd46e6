// The old form of an update for clients that speak no other, and a word in the log, once for each object, where the old
// form cannot say it or says something else than was meant.
import type { Log } from "../../../base/lib/index.ts";
import { type KvUpdate, legacyForm } from "../../../calico/model/index.ts";

/** What legacy clients are told of an update; undefined: nothing. */
export function createLegacyForm(log: Log): (update: KvUpdate) => KvUpdate | undefined {
  /** What is lost at present, by key, so that it is said once: as many as there are such keys. */
  const losses = new Map<string, string>();
  return (update) => {
    const said = legacyForm(update);
    const why = said.is === "same" ? undefined : said.why;
    if (why === undefined || update.value === undefined) losses.delete(update.path);
    else if (losses.get(update.path) !== why) {
      losses.set(update.path, why);
      log.warn("Clients up to v3.31 are not told this as it is meant", { key: update.path, why });
    }
    if (said.is === "same") return update;
    return said.is === "legacy" ? said.update : undefined;
  };
}
