// What the probes say of a running Typha. The original's five reporters under its names; ours beside them show in the
// table only while something is wrong with them.

import type { Health, HealthReporter } from "../../../base/observe/index.ts";
import { type SyncerType, type SyncStatus, syncerTypes, syncStatus } from "../../../calico/model/index.ts";
import type { EvacuationState } from "../peers/evacuation.ts";

export type HealthFacts = {
  readonly statuses: { readonly [syncer: string]: SyncStatus };
  /** Undefined: TLS is off, or its files are fine. */
  readonly tlsProblem: string | undefined;
  /** Since a dial of our own port last got an answer. */
  readonly unansweredMs: number;
  /** Since each of the threads that serve clients has said something; a dial reaches only one of them. */
  readonly silentThreadMs: number;
  readonly evacuation: EvacuationState;
  /** Kinds that must be readable and may not be read. */
  readonly forbidden: readonly string[];
  /** Optional kinds that may not be read, and are empty. */
  readonly missed: readonly string[];
  /** What is wrong with the files of a datastore that is made of files. */
  readonly manifestProblems: readonly string[];
};

/** Readiness is earned anew every half minute. */
export const readyLimitMs = 30_000;
/** Nothing but a restart brings back an accept loop that has not answered for this long. */
const liveLimitMs = 120_000;

export class TyphaHealth {
  readonly #server: HealthReporter;
  readonly #caches: ReadonlyMap<SyncerType, HealthReporter>;
  readonly #extras: { readonly [name in "tls" | "self-dial" | "evacuation" | "rights" | "manifests"]: HealthReporter };

  constructor(health: Health) {
    this.#server = health.register("SyncServer", { reportsLive: true });
    this.#caches = new Map(
      syncerTypes.map((syncer) => [
        syncer,
        health.register(`${syncer}-cache`, { reportsLive: true, reportsReady: true }),
      ]),
    );
    const extra = (name: string) => health.register(name, { reportsReady: true, isExtra: true });
    this.#extras = {
      tls: extra("tls-files"),
      "self-dial": extra("self-dial"),
      evacuation: extra("datastore"),
      rights: extra("rights"),
      manifests: extra("manifests"),
    };
  }

  report(facts: HealthFacts): void {
    const unansweredMs = Math.max(facts.unansweredMs, facts.silentThreadMs);
    this.#server.report({ live: unansweredMs < liveLimitMs });
    for (const [syncer, reporter] of this.#caches) {
      reporter.report({ live: true, ready: facts.statuses[syncer] === syncStatus.inSync });
    }
    const { tls, evacuation, rights, manifests, "self-dial": selfDial } = this.#extras;
    tls.report({ ready: facts.tlsProblem === undefined, detail: facts.tlsProblem ?? "" });
    const isAnswered = unansweredMs < readyLimitMs;
    const silence =
      facts.unansweredMs < readyLimitMs
        ? "one of the threads that serve clients hangs"
        : "a dial of our own port gets no answer";
    selfDial.report({ ready: isAnswered, detail: isAnswered ? "" : silence });
    // Without a healthy peer there is nowhere else to go: old data is better than none, so clients stay welcome.
    const isStale = facts.evacuation !== "fresh";
    evacuation.report({
      ready: facts.evacuation !== "handing clients over",
      detail: isStale ? facts.evacuation : "",
    });
    const isAllowed = facts.forbidden.length === 0;
    // Optional kinds that may not be read are missed by nobody but their users, who find them named here.
    const missed = isAllowed ? facts.missed : facts.forbidden;
    rights.report({ ready: isAllowed, detail: missed.length === 0 ? "" : `may not read ${missed.join(", ")}` });
    // A slip in one file must not take the server out of service: every other file is served, and this one as it last was.
    const [first = "", ...more] = facts.manifestProblems;
    manifests.report({ ready: true, detail: more.length === 0 ? first : `${first} (and ${more.length} more)` });
  }
}
