// Keeps the number of connections at its limit, and empties the server when it shuts down: one connection at a time, so
// that the servers which take the clients over are not flooded. Whom it asks to leave is fanout/governor.ts's choice.

import type { Clock, Log } from "../../../base/lib/index.ts";
import {
  type Candidate,
  type ClientReport,
  chooseToShed,
  type FanoutMetrics,
  jittered,
  type SessionEnd,
  sessionEnds,
  shutdownIntervalMs,
} from "../../fanout/index.ts";
import type { ServingThread } from "../threads/serving-thread.ts";

export type GovernorOptions = {
  readonly threads: readonly ServingThread[];
  readonly dropIntervalMs: number;
  readonly shutdownTimeoutMs: number;
  readonly shutdownMaxIntervalMs: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly metrics: FanoutMetrics;
};

export class ConnectionGovernor {
  readonly #options: GovernorOptions;
  #max: number;
  /** Connections to end next: a node that has been begun is finished before another is. */
  #plan: bigint[] = [];

  constructor(max: number, options: GovernorOptions) {
    this.#max = max;
    this.#options = options;
  }

  get activeCount(): number {
    return this.#options.threads.reduce((total, { activeCount }) => total + activeCount, 0);
  }

  setMax(max: number): void {
    if (max === this.#max) return;
    this.#options.log.info("new target for connections", {
      oldMax: this.#max,
      newMax: max,
      currentNum: this.activeCount,
    });
    this.#max = max;
    this.#plan = [];
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, dropIntervalMs, random, metrics } = this.#options;
    try {
      for (;;) {
        await clock.sleep(jittered(dropIntervalMs, 0.1, random), signal);
        if (this.activeCount <= this.#max) continue;
        const clients = await this.#clients();
        const dropped = await this.#dropOne(clients, clients.length - this.#max, sessionEnds.rebalancing);
        if (dropped > 0) metrics.add("typha_connections_dropped", undefined, dropped);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /**
   * Ends all connections over the shutdown time; at once when there is none. A thread that does not answer for a moment
   * has clients nevertheless: it is asked again until the time is over.
   */
  async empty(signal: AbortSignal): Promise<void> {
    const { clock, random, log, shutdownTimeoutMs, shutdownMaxIntervalMs } = this.#options;
    this.#plan = [];
    const connections = Math.max((await this.#clients()).length, this.activeCount);
    if (connections === 0) return;
    const endMs = clock.monotonicMs() + shutdownTimeoutMs;
    const maxIntervalMs = shutdownMaxIntervalMs;
    const intervalMs = shutdownIntervalMs({ timeoutMs: shutdownTimeoutMs, connections, maxIntervalMs });
    log.info("ending connections gradually", { activeConnections: connections, dropInterval: Math.round(intervalMs) });
    try {
      for (;;) {
        await clock.sleep(intervalMs * (0.95 + 0.1 * random()), signal);
        const clients = await this.#clients();
        // That nobody was dropped says nothing: the one who was chosen may have left meanwhile.
        await this.#dropOne(clients, clients.length, sessionEnds.shutdown);
        const isLast = clients.length <= 1 && this.activeCount <= 1;
        if (isLast || clock.monotonicMs() >= endMs) return;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Ends all connections of one node that is not in the list; its name, or undefined where there is none left. */
  async endNode(except: ReadonlySet<string>, why: SessionEnd): Promise<string | undefined> {
    const clients = await this.#clients();
    const node = clients.find((client) => client.node !== "" && !except.has(client.node))?.node;
    if (node === undefined) return undefined;
    const ids = clients.filter((client) => client.node === node).map(({ id }) => id);
    await Promise.all(this.#options.threads.map((thread) => thread.drop(ids, why)));
    return node;
  }

  async #clients(): Promise<ClientReport[]> {
    return (await Promise.all(this.#options.threads.map((thread) => thread.reports()))).flat();
  }

  async #dropOne(clients: readonly Candidate[], excess: number, why: SessionEnd): Promise<number> {
    if (excess <= 0) return 0;
    const present = new Set(clients.map(({ id }) => id));
    this.#plan = this.#plan.filter((id) => present.has(id));
    if (this.#plan.length === 0) this.#plan = chooseToShed(clients, excess, this.#options.random);
    const id = this.#plan.shift();
    if (id === undefined) return 0;
    const dropped = await Promise.all(this.#options.threads.map((thread) => thread.drop([id], why)));
    return dropped.reduce((total, count) => total + count, 0);
  }
}
