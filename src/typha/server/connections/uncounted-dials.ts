// Our own dials (self-dial.ts) are connections like any other to the thread that accepts them, six of them a minute.
// Here they are taken out again of what the threads have counted, so that what is counted is what came from elsewhere.
// Which of two connections was ours does not matter to a sum, so that nobody has to tell the threads.
import type { AddedMetric, FanoutMetrics } from "../../fanout/index.ts";

export class UncountedDials implements FanoutMetrics {
  readonly #metrics: FanoutMetrics;
  /** What one of our dials is counted as, by metric and label. */
  readonly #ofOne: readonly string[];
  /** Those of them that have not been counted yet. */
  #expected = new Set<string>();

  constructor(metrics: FanoutMetrics, { isTls }: { isTls: boolean }) {
    this.#metrics = metrics;
    // It hangs up as soon as it has been answered, which with TLS is in the middle of the handshake.
    const end = isTls ? "FANOUT_TLS" : "WIRE_PEER_CLOSED";
    this.#ofOne = [key("typha_connections_accepted", undefined), key("cattail_connections_closed_total", end)];
  }

  /** A dial begins. What the last one left uncounted died with its thread. */
  expectOwn(): void {
    this.#expected = new Set(this.#ofOne);
  }

  /** It did not get through. */
  forgetOwn(): void {
    this.#expected.clear();
  }

  add(name: AddedMetric, label: string | undefined, difference: number): void {
    const isOwn = difference > 0 && this.#expected.delete(key(name, label));
    this.#metrics.add(name, label, isOwn ? difference - 1 : difference);
  }

  set(...of: Parameters<FanoutMetrics["set"]>): void {
    this.#metrics.set(...of);
  }

  observe(...of: Parameters<FanoutMetrics["observe"]>): void {
    this.#metrics.observe(...of);
  }
}

function key(name: AddedMetric, label: string | undefined): string {
  return `${name} ${label ?? ""}`;
}
