// Services and endpoint slices, followed straight from the datastore while a range of service addresses is configured, and not before: in a large
// cluster they are most of what there is.
import type { Clock, Log } from "../../../base/lib/index.ts";
import { type Datastore, type FollowEvent, follow } from "../../../calico/datastore/index.ts";
import { syncStatus } from "../../../calico/model/index.ts";
import { readService, readSlice, type ServiceFacts, type SliceFacts } from "../model/services.ts";
import { Following } from "./following.ts";

type Options = {
  readonly datastore: () => Promise<Datastore>;
  readonly clock: Clock;
  readonly log: Log;
  readonly changed: () => void;
  /** What a follower threw that it cannot survive. */
  readonly failed: (error: unknown) => void;
};

export class ServiceSource {
  readonly #options: Options;
  readonly #services = new Map<string, ServiceFacts>();
  readonly #slices = new Map<string, SliceFacts>();
  readonly #inSync = new Set<"Service" | "EndpointSlice">();
  readonly #following: Following;
  #isWithoutKubernetes = false;

  constructor(options: Options) {
    this.#options = options;
    this.#following = new Following((signal) => this.#run(signal), options.failed);
  }

  get services(): readonly ServiceFacts[] {
    return [...this.#services.values()];
  }

  get slices(): readonly SliceFacts[] {
    return [...this.#slices.values()];
  }

  /** Whether what is known is whole. Where the datastore has no services, there are none. */
  get isInSync(): boolean {
    return this.#isWithoutKubernetes || this.#inSync.size === 2;
  }

  start(): void {
    this.#following.start();
  }

  stop(): void {
    this.#following.stop();
    this.#services.clear();
    this.#slices.clear();
    this.#inSync.clear();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const datastore = await this.#options.datastore();
    signal.throwIfAborted();
    if (datastore.flavour !== "kubernetes") {
      this.#isWithoutKubernetes = true;
      this.#options.changed();
      return;
    }
    await Promise.all([
      this.#follow(datastore, "Service", signal, (id, value) => put(this.#services, id, readService(value))),
      this.#follow(datastore, "EndpointSlice", signal, (id, value) => put(this.#slices, id, readSlice(value))),
    ]);
  }

  async #follow(
    datastore: Datastore,
    kind: "Service" | "EndpointSlice",
    signal: AbortSignal,
    take: (id: string, value: unknown) => boolean,
  ): Promise<void> {
    const { clock, log, changed } = this.#options;
    for await (const events of follow(datastore, kind, { clock, log, signal, random: Math.random })) {
      if (signal.aborted) return;
      let isNews = false;
      for (const event of events) isNews = this.#hear(event, kind, take) || isNews;
      if (isNews) changed();
    }
  }

  #hear(event: FollowEvent, kind: "Service" | "EndpointSlice", take: (id: string, value: unknown) => boolean): boolean {
    if (event.is === "set") return take(`${event.object.id.namespace}/${event.object.id.name}`, event.object.value);
    if (event.is === "delete") return take(`${event.id.namespace}/${event.id.name}`, undefined);
    // Once whole, it stays whole: what is missed while the API server is away is told when it is back.
    if (event.status !== syncStatus.inSync || this.#inSync.has(kind)) return false;
    this.#inSync.add(kind);
    return true;
  }
}

function put<T>(map: Map<string, T>, id: string, facts: T | undefined): boolean {
  const before = map.get(id);
  if (facts === undefined) return map.delete(id);
  map.set(id, facts);
  return before === undefined || JSON.stringify(before) !== JSON.stringify(facts);
}
