// The part of the agent that now and then looks whether addresses have leaked or contradict each other. Off unless a setting says how
// often; what it needs is loaded only then. What it finds stands in log and metrics, with the command that mends it.
import { messageOf, passAbort } from "../../base/lib/index.ts";
import type { MetricTable } from "../../base/observe/index.ts";
import { findingCodes } from "../../calico/ipam/index.ts";
import type { AuditRound } from "../../calico/ipam-audit/index.ts";
import type { Part, PartWorld } from "../part/index.ts";
import { felixSettings } from "../settings/index.ts";

export const ipamAuditMetrics = {
  cattail_ipam_findings: {
    type: "gauge",
    label: "code",
    isClosed: true,
    help: "Problems that the last audit of address management found, by code; 0 for those it did not find.",
  },
  cattail_ipam_audit_failures: {
    type: "gauge",
    help: "1 if the last audit of address management could not be made, else 0.",
  },
  cattail_ipam_mended: { type: "gauge", help: "Problems that the last audit of address management mended." },
  cattail_ipam_audit_seconds: { type: "gauge", help: "How long the last audit of address management took." },
  cattail_ipam_audit_last_time_seconds: {
    type: "gauge",
    help: "When the last audit of address management ended, in seconds since 1970; 0 if there was none.",
  },
} as const satisfies MetricTable;

/** The values of the label `code`. */
export const findingCodeNames: readonly string[] = Object.keys(findingCodes);

export type IpamAuditOptions = {
  readonly random: () => number;
  /** Hears what each audit found. */
  readonly tells?: (found: {
    readonly atMs: number;
    readonly findings: number;
    readonly says: readonly string[];
  }) => void;
};

export function ipamAuditPart(options: IpamAuditOptions): Part {
  return {
    name: "ipam-audit",
    async run(world, signal) {
      const settings = felixSettings(world.settings);
      while (!signal.aborted) {
        const changed = new AbortController();
        using _ = settings.onChange(["IPAMAuditInterval", "IPAMAuditMends"], () => changed.abort());
        using _passing = passAbort(signal, changed);
        const until = changed.signal;
        const everyMs = settings.value("IPAMAuditInterval");
        world.health.report({ ready: true, detail: everyMs > 0 ? "" : "off: IPAMAuditInterval is 0" });
        if (everyMs > 0)
          await auditUntil(until, { world, everyMs, mends: settings.value("IPAMAuditMends"), ...options });
        else await aborted(until);
      }
    },
  };
}

type Audit = IpamAuditOptions & {
  readonly world: PartWorld;
  readonly everyMs: number;
  readonly mends: boolean;
};

async function auditUntil(signal: AbortSignal, { world, everyMs, mends, random, tells }: Audit): Promise<void> {
  const { clock, log } = world;
  const [{ auditEvery, openAuditor, auditMetrics }, { openResources }] = await Promise.all([
    import("../../calico/ipam-audit/index.ts"),
    import("../../calico/resources/index.ts"),
  ]);
  const datastore = await world.datastore();
  const services = datastore.flavour === "kubernetes" ? datastore : undefined;
  const resources = openResources(datastore, { clock });
  const auditor = openAuditor({ datastore, resources, services, clock, random, signal });
  log.info("Addresses are looked through now and then", { everySeconds: everyMs / 1000, mends });
  for await (const round of auditEvery({ everyMs, mends, ...auditor, clock, random, signal })) {
    for (const { name, labels, value } of auditMetrics(round)) world.metrics.set(name, labels.code, value);
    world.metrics.set("cattail_ipam_audit_seconds", undefined, round.tookMs / 1000);
    world.metrics.set("cattail_ipam_audit_last_time_seconds", undefined, clock.wallMs() / 1000);
    say(round, world);
    if (round.is !== "failed") {
      const { findings } = round;
      const says = findings.slice(0, mostNamed).map((one) => `${one.code}: ${one.says}`);
      tells?.({ atMs: clock.wallMs(), findings: findings.length, says });
    }
  }
  await aborted(signal);
}

/** So many findings are named in the log; the rest is a number. */
const mostNamed = 20;

function say(round: AuditRound, { log }: PartWorld): void {
  if (round.is === "failed") {
    log.warn("Addresses could not be looked through; it is tried again later", { problem: messageOf(round.error) });
    return;
  }
  const { findings, results } = round;
  const mended = results.filter(({ outcome }) => outcome.is === "mended").length;
  log[findings.length === 0 ? "info" : "warn"]("Addresses were looked through", { findings: findings.length, mended });
  for (const { code, says, command } of findings.slice(0, mostNamed))
    log.warn("A problem with addresses", { code, says, command });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
