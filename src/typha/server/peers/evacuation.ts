// A server cut off from its datastore is worse than none: its clients believe they are up to date. When a healthy peer
// exists they are handed over to it, node by node; when none does, they keep what we have and the log says so.
//
//   fresh ──silent for longer than the limit──▶ stale ──a proven peer──▶ handing over ──▶ handed over
//     ▲                                           │ none: keep serving, keep looking             │
//     └───────────────── the datastore answers again ◀─────────────────────────────────────────┘
//
// A peer is proven when it has served fresh data (freshness.ts) at every look for half the limit. Where the datastore is
// gone for all servers none is; and when it is back, the first server to notice must not be given everybody's clients
// by those which notice seconds later.
//
// A node that comes back, because it found nobody else at that moment, is served, and asked again only after the limit has
// passed once more: it must not spend the outage reconnecting.
import type { Clock, Log } from "../../../base/lib/index.ts";

export type Peer = { readonly host: string; readonly port: number };

export type EvacuationOptions = {
  readonly limitMs: number;
  /** Since the datastore's last answer. */
  readonly silentForMs: () => number;
  readonly peers: () => readonly Peer[];
  /** True: the peer serves, and hears from the datastore. */
  readonly isServing: (peer: Peer) => Promise<boolean>;
  /** Ends the connections of one node that has not been asked to leave of late; its name, or undefined if none. */
  readonly handOverNode: (asked: ReadonlySet<string>) => Promise<string | undefined>;
  readonly clock: Clock;
  readonly log: Log;
};

export type EvacuationState = "fresh" | "stale, no healthy peer" | "handing clients over";

const longestLookIntervalMs = 2000;
/** All nodes of a full server have to be gone well within a minute, and their new server wants a breath in between. */
const nodesPerStep = 25;
const stepIntervalMs = 250;

export class Evacuation {
  readonly #options: EvacuationOptions;
  /** Nodes that were asked to leave in this outage, and when. */
  readonly #askedAtMs = new Map<string, number>();
  /** Since when every look has found a healthy peer; undefined: the last one did not. */
  #healthyPeerSinceMs: number | undefined;
  #state: EvacuationState = "fresh";

  constructor(options: EvacuationOptions) {
    this.#options = options;
  }

  /** While clients are handed over new ones are better off elsewhere, too, so readiness says no. */
  get state(): EvacuationState {
    return this.#state;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      await this.step();
      const lookIntervalMs = Math.min(longestLookIntervalMs, this.#options.limitMs / 6);
      const waitMs = this.#state === "handing clients over" ? stepIntervalMs : lookIntervalMs;
      await clock.sleep(waitMs, signal).catch(() => undefined); // aborted: the loop ends
    }
  }

  /** One look at the situation, and what it asks for. */
  async step(): Promise<void> {
    const { silentForMs, limitMs, log } = this.#options;
    if (silentForMs() > limitMs / 2) await this.#lookForPeer();
    else this.#healthyPeerSinceMs = undefined;
    if (silentForMs() <= limitMs) {
      if (this.#state !== "fresh")
        log.info("The datastore answers again; clients are welcome", { moved: this.#askedAtMs.size });
      this.#askedAtMs.clear();
      this.#state = "fresh";
      return;
    }
    const before = this.#state;
    this.#state = this.#hasProvenPeer() ? "handing clients over" : "stale, no healthy peer";
    if (this.#state !== before) this.#announce();
    if (this.#state === "handing clients over") await this.#handOver();
  }

  async #lookForPeer(): Promise<void> {
    const { peers, isServing, clock } = this.#options;
    const answers = await Promise.all(peers().map((peer) => isServing(peer)));
    this.#healthyPeerSinceMs = answers.includes(true) ? (this.#healthyPeerSinceMs ?? clock.monotonicMs()) : undefined;
  }

  #hasProvenPeer(): boolean {
    const { clock, limitMs } = this.#options;
    return this.#healthyPeerSinceMs !== undefined && clock.monotonicMs() - this.#healthyPeerSinceMs >= limitMs / 2;
  }

  async #handOver(): Promise<void> {
    const { clock, limitMs, handOverNode } = this.#options;
    const nowMs = clock.monotonicMs();
    const asked = new Set([...this.#askedAtMs].filter(([, atMs]) => nowMs - atMs < limitMs).map(([node]) => node));
    for (let count = 0; count < nodesPerStep; count++) {
      const node = await handOverNode(asked);
      if (node === undefined) return;
      asked.add(node);
      this.#askedAtMs.set(node, nowMs);
    }
  }

  #announce(): void {
    const { log, silentForMs } = this.#options;
    const silentSeconds = Math.round(silentForMs() / 1000);
    if (this.#state === "handing clients over") {
      log.warn("The datastore is out of reach and a peer is not: handing the clients over, node by node", {
        silentSeconds,
      });
    } else {
      log.warn("The datastore is out of reach and so is every peer: clients keep what there is", { silentSeconds });
    }
  }
}
