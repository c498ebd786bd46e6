// The condition NetworkUnavailable of the Kubernetes Node: what the scheduler looks at before it puts pods on a node, and what is written when start-up
// is complete and when the node shuts down.
import { Backoff, type Clock, type Log, settleWithin } from "../../base/lib/index.ts";
import type { KubernetesDatastore } from "../../calico/datastore/index.ts";

export type Mark = "available" | "unavailable";

const conditions = {
  available: { status: "False", reason: "CalicoIsUp", message: "Calico is running on this node" },
  unavailable: { status: "True", reason: "CalicoIsDown", message: "Calico is shutting down on this node" },
} as const;

const attemptMs = 2000;
const firstWaitMs = 50;
const longestWaitMs = 1000;

export type MarkOptions = {
  readonly kubernetes: Pick<KubernetesDatastore, "api">;
  /** The Kubernetes Node's name. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Not given: it is tried until the signal. */
  readonly limitMs?: number;
};

/** Tries again, with pauses, whatever goes wrong. Throws the last error when the time is up. */
export async function markNetwork(mark: Mark, options: MarkOptions): Promise<void> {
  const { kubernetes, name, clock, log, signal, limitMs = Number.POSITIVE_INFINITY } = options;
  log.info(`Setting NetworkUnavailable to ${mark === "unavailable"}`);
  const backoff = new Backoff(Math.random, { capMs: longestWaitMs, retryAfterCapMs: longestWaitMs });
  const startedMs = clock.monotonicMs();
  for (;;) {
    const attempt = new AbortController();
    try {
      const now = new Date(clock.wallMs()).toISOString().replace(/\.\d+Z$/, "Z");
      const condition = {
        type: "NetworkUnavailable",
        ...conditions[mark],
        lastTransitionTime: now,
        lastHeartbeatTime: now,
      };
      const patched = kubernetes.api.json({
        method: "PATCH",
        path: `/api/v1/nodes/${encodeURIComponent(name)}/status`,
        contentType: "application/strategic-merge-patch+json", // which merges conditions by their type
        body: { status: { conditions: [condition] } },
        signal: AbortSignal.any([signal, attempt.signal]),
      });
      const settled = await settleWithin(patched, { clock, limitMs: attemptMs });
      if (settled.is === "settled") return;
      throw new Error(`no answer within ${attemptMs / 1000} s`);
    } catch (error) {
      signal.throwIfAborted();
      if (clock.monotonicMs() - startedMs >= limitMs) throw error;
      log.warn("Failed to set NetworkUnavailable; will retry", { error });
    } finally {
      attempt.abort();
    }
    await clock.sleep(backoff.nextDelayMs(firstWaitMs), signal);
  }
}
