// Once a second, and more often until the server is ready: what the parts of a running Typha say of themselves, to the probes and to the metrics.
import { manifestProblemText, whenForbidden } from "../../../calico/datastore/index.ts";
import { syncStatus } from "../../../calico/model/index.ts";
import type { TyphaParts } from "../typha-parts.ts";
import { type HealthFacts, TyphaHealth } from "./health-reporters.ts";
import type { MetricsRefresh } from "./metrics-refresh.ts";

const intervalMs = 1000;
/** Until it is ready for the first time: a rolling update waits for it, server after server. */
const startIntervalMs = 50;

export async function reportHealth(
  parts: TyphaParts,
  { refresh, signal }: { refresh: MetricsRefresh; signal: AbortSignal },
): Promise<void> {
  const { clock } = parts.options;
  const health = new TyphaHealth(parts.health);
  const waitsMs = () => (wasReady ? intervalMs : startIntervalMs);
  let wasReady = false;
  for (let refreshAtMs = 0; !signal.aborted; ) {
    health.report(factsOf(parts));
    wasReady ||= parts.health.summary().ready;
    if (wasReady || clock.monotonicMs() >= refreshAtMs) {
      parts.server.setFreshness(isFresh(parts));
      refresh.refresh();
      refreshAtMs = clock.monotonicMs() + intervalMs;
    }
    await clock.sleep(waitsMs(), signal).catch(() => undefined); // aborted: the loop ends
  }
}

/** What other servers go by when they look for somebody to take their clients. */
function isFresh({ syncers, contact }: TyphaParts): boolean {
  const isInSync = Object.values(syncers.stats().statuses).every((status) => status === syncStatus.inSync);
  return isInSync && contact.state.is === "reachable";
}

function factsOf({ syncers, tls, server, evacuation, datastore, dial }: TyphaParts): HealthFacts {
  const unreadable = syncers.reports().flatMap(({ kind, state }) => (state === "forbidden" ? [kind] : []));
  return {
    statuses: syncers.stats().statuses,
    tlsProblem: tls?.problem(),
    unansweredMs: dial.unansweredMs,
    silentThreadMs: server.silentForMs,
    evacuation: evacuation.state,
    forbidden: unreadable.filter((kind) => whenForbidden(kind) === "not ready"),
    missed: unreadable.filter((kind) => whenForbidden(kind) === "empty"),
    manifestProblems: (datastore.problems?.() ?? []).map(manifestProblemText),
  };
}
