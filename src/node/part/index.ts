// What a part of the agent is: one job (routes, policy, BIRD's files, the plugins' socket) that starts, runs, fails and is started again without
// the others. Rooms of this wing make parts; node/agent gives them their world and keeps them running; no part imports another.
import type { Clock, Log } from "../../base/lib/index.ts";
import type { HealthReporter, Metrics } from "../../base/observe/index.ts";
import type { Datastore } from "../../calico/datastore/index.ts";

export type Part = {
  /** As health, log and metrics name it. */
  readonly name: string;
  /** The data sets that it will follow: the agent then waits a moment for it before it opens them, instead of opening them twice. */
  readonly follows?: readonly DataSet[];
  /**
   * Given: it reports its health at least this often, and counts as not live when it does not. Without, the agent repeats its last report
   * for as long as it runs.
   */
  readonly healthTimeoutMs?: number;
  /**
   * Works until the signal, and leaves the kernel as it is. Ending before that, or throwing, is a failure: it is said in health, and the
   * part is started again after a pause that grows. It must then find its way from what is in the kernel and what it is told anew.
   */
  run(world: PartWorld, signal: AbortSignal): Promise<void>;
};

export type PartWorld = {
  /** This node's name. */
  readonly node: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Of this part alone: live while it works, ready once what it was told is in force. */
  readonly health: HealthReporter;
  readonly feed: Feed;
  readonly settings: LiveSettings;
  /** Opened when first asked for, shared, closed by the agent. */
  readonly datastore: () => Promise<Datastore>;
};

/** The cluster's state as key/values, from a Typha, or from the datastore where none is set. */
export type Feed = {
  /**
   * Everything of a data set from its beginning, then every change. There is one connection for each data set, and nobody keeps what went
   * by: a consumer that comes later, or comes back, has it opened anew, and the others are told again what they know.
   */
  follow(set: DataSet, consumer: FeedConsumer): Disposable;
};

export type DataSet = "felix" | "bgp";

export type FeedConsumer = {
  /** `value` as Typha sends it: JSON for most keys, plain text for configuration. */
  set(path: string, value: string): void;
  /** Also what went while there was no connection, once the new one is in sync. */
  delete(path: string): void;
  /** After each batch, and when the connection is lost or back. Nothing is to be applied before the first `inSync`. */
  settled(state: FeedState): void;
};

export type FeedState = {
  /** Was in sync once: what is known is whole, though perhaps old. */
  readonly inSync: boolean;
  /** Why it may be old: no connection, with the reason. */
  readonly cutOff?: string;
};

/** FELIX_* and their like by the original's names, from environment, file, FelixConfiguration of the node, of the cluster, default. */
export type LiveSettings = {
  /** The raw text that won, or undefined where only the default is left. Names in any case, without the prefix. */
  raw(name: string): string | undefined;
  /** Called after a value that won has changed. */
  onChange(listener: (names: readonly string[]) => void): Disposable;
};
