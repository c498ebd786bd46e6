// Whether the process lives and is ready, put together from reports of its parts. A part that has stopped reporting is
// neither: silence is the one fault that cannot report itself.
import type { Clock, Log } from "../../lib/index.ts";

export type HealthReport = { readonly live?: boolean; readonly ready?: boolean; readonly detail?: string };

export type HealthReporter = { report(report: HealthReport): void };

export type ComponentHealth = {
  readonly name: string;
  readonly timeoutMs: number;
  /** "unreported": the part has no say in it. */
  readonly live: Quality;
  readonly ready: Quality;
  readonly detail: string;
  /** Left out of the table while it has nothing to say: the original's table does not have it. */
  readonly isExtra: boolean;
};

export type Quality = "yes" | "no" | "timed out" | "unreported";

export type HealthSummary = {
  readonly live: boolean;
  readonly ready: boolean;
  readonly components: readonly ComponentHealth[];
};

export type Health = {
  /** The part counts as live and not ready until its first report. With a timeout of 0 it is never late. */
  register(
    name: string,
    options: { timeoutMs?: number | (() => number); reportsLive?: boolean; reportsReady?: boolean; isExtra?: boolean },
  ): HealthReporter;
  summary(): HealthSummary;
  /** As a probe sees it: changes of the whole are logged here. */
  probe(): HealthSummary;
};

type Component = {
  /** Asked at each look: it may be a setting that changes. */
  readonly timeoutMs: () => number;
  readonly reportsLive: boolean;
  readonly reportsReady: boolean;
  readonly isExtra: boolean;
  last: Required<HealthReport>;
  atMs: number;
};

export function createHealth(options: { clock: Clock; log: Log }): Health {
  const { clock, log } = options;
  const components = new Map<string, Component>();
  let last: { live: boolean; ready: boolean } | undefined;
  let wasReady = false;

  function register(name: string, of: Parameters<Health["register"]>[1]): HealthReporter {
    const { timeoutMs = 20_000, reportsLive = false, reportsReady = false, isExtra = false } = of;
    const component: Component = {
      timeoutMs: typeof timeoutMs === "number" ? () => timeoutMs : timeoutMs,
      ...{ reportsLive, reportsReady, isExtra },
      last: { live: true, ready: false, detail: "" },
      atMs: clock.monotonicMs(),
    };
    components.set(name, component);
    return {
      report(report) {
        const next = { live: report.live ?? true, ready: report.ready ?? true, detail: report.detail ?? "" };
        const { live, ready, detail } = component.last;
        if (live !== next.live || ready !== next.ready || detail !== next.detail) {
          log.info("Health of component changed", { name, live: next.live, ready: next.ready, detail: next.detail });
        }
        component.last = next;
        component.atMs = clock.monotonicMs();
      },
    };
  }

  function summary(): HealthSummary {
    const nowMs = clock.monotonicMs();
    const found = [...components].map(([name, one]) => componentHealth(name, one, nowMs)).sort(byName);
    return {
      live: found.every(({ live }) => isGood(live)),
      ready: found.every(({ ready }) => isGood(ready)),
      components: found,
    };
  }

  function probe(): HealthSummary {
    const now = summary();
    if (last?.live !== now.live || last.ready !== now.ready) logChange(log, now, wasReady);
    wasReady ||= now.ready;
    last = now;
    return now;
  }

  return { register, summary, probe };
}

/** Not being ready is how every start begins; later it is a warning. */
function logChange(log: Log, { live, ready, components }: HealthSummary, wasReady: boolean): void {
  const isWell = (one: ComponentHealth) => isGood(one.live) && isGood(one.ready);
  const notWell = components.filter((one) => !isWell(one));
  log.info("Overall health changed", { live, ready, notWell: notWell.map(({ name }) => name).join(", ") });
  for (const one of notWell) {
    const { name, detail } = one;
    if (!isGood(one.live)) log.warn("Component is not live", { name, detail, live: one.live });
    if (!isGood(one.ready))
      log[wasReady ? "warn" : "info"]("Component is not ready", { name, detail, ready: one.ready });
  }
}

function componentHealth(name: string, component: Component, nowMs: number): ComponentHealth {
  const { reportsLive, reportsReady, isExtra, last, atMs } = component;
  const timeoutMs = component.timeoutMs();
  const isLate = timeoutMs !== 0 && nowMs - atMs > timeoutMs;
  const quality = (reports: boolean, value: boolean): Quality =>
    !reports ? "unreported" : isLate ? "timed out" : value ? "yes" : "no";
  return {
    name,
    timeoutMs,
    live: quality(reportsLive, last.live),
    ready: quality(reportsReady, last.ready),
    detail: last.detail,
    isExtra,
  };
}

function isGood(quality: Quality): boolean {
  return quality === "yes" || quality === "unreported";
}

// By bytes, so that "SyncServer" comes before "bgp-cache", as in Go.
function byName(a: { name: string }, b: { name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** The original's table. */
export function healthTable({ components }: HealthSummary): string {
  const shown = components.filter(
    (one) => !one.isExtra || one.detail !== "" || !isGood(one.live) || !isGood(one.ready),
  );
  const rows = [
    ["COMPONENT", "TIMEOUT", "LIVENESS", "READINESS", "DETAIL"],
    ...shown.map(({ name, timeoutMs, live, ready, detail }) => [
      name,
      timeoutText(timeoutMs),
      cellText(live, "live"),
      cellText(ready, "ready"),
      detail,
    ]),
  ];
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const rule = `+${widths.map((width) => "-".repeat(width + 2)).join("+")}+`;
  const lines = rows.map((row) => `|${row.map((cell, column) => ` ${cell.padEnd(widths[column] ?? 0)} `).join("|")}|`);
  const [header, ...body] = lines;
  return [rule, header, rule, ...body, rule].join("\n");
}

/** As Go writes durations: 20s, 1m30s. */
function timeoutText(ms: number): string {
  if (ms === 0) return "-";
  if (ms < 1000) return `${ms}ms`;
  const [hours, minutes] = [Math.floor(ms / 3_600_000), Math.floor((ms % 3_600_000) / 60_000)];
  return `${hours > 0 ? `${hours}h` : ""}${ms >= 60_000 ? `${minutes}m` : ""}${(ms % 60_000) / 1000}s`;
}

function cellText(quality: Quality, word: string): string {
  switch (quality) {
    case "yes":
      return `reporting ${word}`;
    case "no":
      return `reporting non-${word}`;
    case "timed out":
      return "timed out";
    case "unreported":
      return "-";
  }
}
