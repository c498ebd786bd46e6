// Health of the agent: a component for each part and each data set, under the original's names where it has them. A part is live while it
// runs, and says itself whether it is ready; its last word is repeated for it, so that one that has nothing to do need not report.
import type { Clock } from "../../base/lib/index.ts";
import type { Health, HealthReporter } from "../../base/observe/index.ts";
import type { DataSet, FeedState, Part } from "../part/index.ts";

/** As probes and dashboards know them. */
const originalNames: ReadonlyMap<string, string> = new Map([
  ["felix", "CalculationGraph"],
  ["policy", "InternalDataplaneMainLoop"],
]);
const timeouts: { readonly [component: string]: number } = {
  CalculationGraph: 30_000,
  InternalDataplaneMainLoop: 90_000,
};
const usualTimeoutMs = 90_000;
const heartbeatMs = 10_000;

export type PartHealthOptions = {
  readonly health: Health;
  readonly clock: Clock;
  /** Whether everybody counts for readiness, or only who does in the original. Asked at each report: it may change. */
  readonly isStrict: () => boolean;
  /** Asked at each look, too. */
  readonly timeoutOf: (component: string) => number | undefined;
};

type Report = Parameters<HealthReporter["report"]>[0];

export class PartHealth {
  readonly #options: PartHealthOptions;
  readonly #last = new Map<string, { report: Report; reporter: HealthReporter; isOwnRhythm: boolean }>();

  constructor(options: PartHealthOptions) {
    this.#options = options;
  }

  ofPart(part: Part): HealthReporter {
    return this.#register(part.name, {
      isOwnRhythm: part.healthTimeoutMs !== undefined,
      timeoutMs: part.healthTimeoutMs,
    });
  }

  /** The agent's own: reports once, and stays. */
  ofAgent(name: string): HealthReporter {
    return this.#register(name, { isOwnRhythm: false, counts: true });
  }

  ofFeed(set: DataSet): (state: FeedState) => void {
    const reporter = this.#register(set, { isOwnRhythm: false });
    reporter.report({ live: true, ready: false, detail: "waiting for the cluster's state" });
    return ({ inSync, cutOff }) => {
      const isReady = inSync && (cutOff === undefined || !this.#options.isStrict());
      const detail = cutOff ?? (inSync ? "" : "waiting for the cluster's state");
      reporter.report({ live: true, ready: isReady, detail });
    };
  }

  /** Repeats what each part said last, until the signal. */
  async beat(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const { report, reporter, isOwnRhythm } of this.#last.values()) if (!isOwnRhythm) reporter.report(report);
      await this.#options.clock.sleep(heartbeatMs, signal).catch(() => undefined); // aborted: the loop ends
    }
  }

  #register(
    name: string,
    of: { isOwnRhythm: boolean; timeoutMs?: number | undefined; counts?: boolean },
  ): HealthReporter {
    const component = originalNames.get(name) ?? name;
    const counts = of.counts ?? originalNames.has(name);
    const timeoutMs = () => this.#options.timeoutOf(component) ?? of.timeoutMs ?? timeouts[component] ?? usualTimeoutMs;
    const inner = this.#options.health.register(component, { timeoutMs, reportsLive: true, reportsReady: true });
    const reporter: HealthReporter = {
      report: (report) => {
        this.#last.set(name, { report, reporter, isOwnRhythm: of.isOwnRhythm });
        inner.report(counts || this.#options.isStrict() ? report : { ...report, ready: true });
      },
    };
    return reporter;
  }
}
