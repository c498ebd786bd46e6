// What a whole Typha is made of (typha.ts starts it), for those who only look at one: metrics, health, debug pages, dashboard.

import type { Clock, Log } from "../../base/lib/index.ts";
import type { Health } from "../../base/observe/index.ts";
import type { Datastore } from "../../calico/datastore/index.ts";
import type { Syncers } from "../../calico/syncer/index.ts";
import type { Target } from "../dashboard/index.ts";
import type { ReadSettings, Settings } from "../settings/index.ts";
import type { DatastoreContact } from "./datastore/datastore-contact.ts";
import type { Introspection } from "./introspection/introspection.ts";
import type { ServerTls } from "./listening/server-tls.ts";
import type { Evacuation } from "./peers/evacuation.ts";
import type { Neighbours } from "./peers/neighbours.ts";
import type { SelfDial } from "./peers/self-dial.ts";
import type { TyphaService } from "./peers/typha-service.ts";
import type { TyphaMetrics } from "./reporting/typha-metrics.ts";
import type { Server } from "./serve.ts";

export type TyphaOptions = {
  readonly read: ReadSettings;
  readonly version: string;
  readonly log: Log;
  readonly metrics?: TyphaMetrics;
  /** FELIX_INTERFACEPREFIX of our own environment: the original looks at it, too. */
  readonly interfacePrefix?: string;
  /** Instead of the one the settings name: for the demo and for programs that bring their own. */
  readonly datastore?: Datastore;
  /** Instead of asking nodes over the network: for the demo, whose nodes have none. */
  readonly askNode?: (target: Target, path: string) => Promise<string>;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** Ends everything at once. Typha.shutdown() is the gentle way. */
  readonly signal: AbortSignal;
};

export type Typha = AsyncDisposable & {
  readonly server: Server;
  readonly health: Health;
  /** The HTTP addresses in use, by name. */
  readonly httpAddresses: { readonly [name in "health" | "metrics" | "debug" | "dashboard"]?: string };
  /** Updates taken from the datastore since the start, as the dashboard counts them; 0 where nobody is to look. */
  readonly updates: number;
  /** Looks at the TLS files now. */
  reload(): Promise<void>;
  /** Hands clients over gradually, then ends. */
  shutdown(): Promise<void>;
};

/** Everything a running Typha is made of, for those who look at it: metrics, debug pages, dashboard. */
export type TyphaParts = {
  readonly options: TyphaOptions & { readonly clock: Clock };
  readonly settings: Settings;
  readonly datastore: Datastore;
  readonly server: Server;
  readonly syncers: Syncers;
  readonly introspection: Introspection;
  readonly contact: DatastoreContact;
  readonly service: TyphaService;
  readonly evacuation: Evacuation;
  readonly neighbours: Neighbours;
  readonly tls: ServerTls | undefined;
  readonly health: Health;
  readonly metrics: TyphaMetrics;
  readonly dial: SelfDial;
  readonly startedAtMs: number;
};
