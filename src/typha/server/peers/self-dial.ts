// Dials our own port as a client would, up to the TLS hello: the one check that sees what clients see. An accept loop
// that hangs, a worker that spins or a port that was lost all show here and nowhere else.
import type { Clock } from "../../../base/lib/index.ts";
import type { UncountedDials } from "../connections/uncounted-dials.ts";
import { readyLimitMs } from "../reporting/health-reporters.ts";
import { type ProbeTarget, probeServer } from "./probe-server.ts";

const intervalMs = 10_000;

export class SelfDial {
  readonly #target: ProbeTarget;
  readonly #clock: Clock;
  readonly #counts: UncountedDials;
  #answeredAtMs: number;

  constructor(target: ProbeTarget, { clock, counts }: { clock: Clock; counts: UncountedDials }) {
    this.#target = target;
    this.#clock = clock;
    this.#counts = counts;
    // Until the first answer the server is not ready, which is right; but liveness counts from the start.
    this.#answeredAtMs = clock.monotonicMs() - readyLimitMs;
  }

  get unansweredMs(): number {
    return this.#clock.monotonicMs() - this.#answeredAtMs;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#counts.expectOwn();
      const problem = await probeServer(this.#target, { timeoutMs: intervalMs, clock: this.#clock });
      if (problem === undefined) this.#answeredAtMs = this.#clock.monotonicMs();
      else this.#counts.forgetOwn();
      await this.#clock.sleep(intervalMs, signal).catch(() => undefined); // aborted: the loop ends
    }
  }
}
