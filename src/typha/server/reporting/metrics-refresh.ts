// The metrics that are read off rather than counted as things happen: taken from the parts once a second and before each
// scrape.

import type { TlsFilesState } from "../../../base/security/index.ts";
import { followedKinds } from "../../../calico/kinds/index.ts";
import { recommendedReplicas } from "../connections/rebalancing.ts";
import type { TyphaParts } from "../typha-parts.ts";
import { keyKinds, type MetricName } from "./typha-metrics.ts";

/** What the parts count themselves is a total; the registry takes differences. So it remembers what it has added. */
export class MetricsRefresh {
  readonly #parts: TyphaParts;
  readonly #added = new Map<string, number>();

  constructor(parts: TyphaParts) {
    this.#parts = parts;
  }

  refresh(): void {
    const { metrics, syncers, contact, tls, options } = this.#parts;
    const { kinds, problems, nodeCount } = syncers.stats();
    for (const { kind, keys } of kinds) metrics.set("cattail_keys", kind, keys);
    const invalid = new Map<string, number>();
    for (const { kind, count } of problems) invalid.set(kind, (invalid.get(kind) ?? 0) + count);
    for (const kind of followedKinds) metrics.set("cattail_invalid_objects", kind, invalid.get(kind) ?? 0);
    const forbidden = new Set(syncers.reports().flatMap(({ kind, state }) => (state === "forbidden" ? [kind] : [])));
    for (const kind of followedKinds) metrics.set("cattail_forbidden_kinds", kind, forbidden.has(kind) ? 1 : 0);
    metrics.set("cattail_recommended_replicas", undefined, recommendedReplicas(nodeCount ?? 0));
    metrics.set("cattail_datastore_unreachable_seconds", undefined, contact.silentForMs / 1000);
    if (tls !== undefined) this.#refreshCertificates(tls.state(), options.clock.wallMs());
    for (const { kind, watchesOpened, errors } of syncers.reports()) {
      this.#raise("cattail_watch_restarts_total", kind, Math.max(0, watchesOpened - 1));
      this.#raise("cattail_watch_backoffs_total", kind, errors);
    }
  }

  /** Looks at every key, so only a scrape asks for it. */
  refreshForScrape(): void {
    const { introspection, metrics } = this.#parts;
    this.refresh();
    const bytes = new Map(introspection.kinds("felix").map((facts) => [facts.kind, facts.bytes]));
    for (const kind of keyKinds) metrics.set("cattail_bytes", kind, bytes.get(kind) ?? 0);
  }

  #refreshCertificates({ material, reloads, failedReloads }: TlsFilesState, nowMs: number): void {
    const { metrics } = this.#parts;
    const secondsTo = (ms: number) => Math.round((ms - nowMs) / 1000);
    metrics.set("cattail_certificate_expiry_seconds", "certificate", secondsTo(material.certificate.notAfterMs));
    const first = Math.min(...material.authorities.map(({ notAfterMs }) => notAfterMs));
    if (Number.isFinite(first)) metrics.set("cattail_certificate_expiry_seconds", "ca", secondsTo(first));
    this.#raise("cattail_tls_reloads_total", undefined, reloads);
    this.#raise("cattail_tls_reload_failures_total", undefined, failedReloads);
  }

  #raise(name: MetricName, label: string | undefined, total: number): void {
    const key = `${name} ${label ?? ""}`;
    this.#parts.metrics.add(name, label, total - (this.#added.get(key) ?? 0));
    this.#added.set(key, total);
  }
}
