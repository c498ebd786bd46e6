// The Secrets that hold passwords, each watched by itself by its name: an agent's rights allow no more, and should not.
import { Backoff, type Clock, isRecord, type Log, messageOf } from "../../../base/lib/index.ts";
import { type Datastore, isDatastoreError, type Revision } from "../../../calico/datastore/index.ts";
import type { SecretRef } from "../model/peerings.ts";
import type { SecretAnswer } from "../model/sessions.ts";

type Options = {
  readonly datastore: () => Promise<Datastore>;
  readonly namespace: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly changed: () => void;
};

type Watched = {
  readonly ends: AbortController;
  /** Undefined: not read yet. */
  found:
    | { readonly is: "secret"; readonly value: unknown }
    | { readonly is: "missing"; readonly why: string }
    | undefined;
  isAsked: boolean;
};

export class SecretSource {
  readonly #options: Options;
  readonly #watched = new Map<string, Watched>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Whether some that were asked for have not been read yet. */
  get isWaiting(): boolean {
    return [...this.#watched.values()].some(({ isAsked, found }) => isAsked && found === undefined);
  }

  /** Asks begin; those that are not asked for until `end` are watched no longer. */
  begin(): void {
    for (const watched of this.#watched.values()) watched.isAsked = false;
  }

  get({ name, key }: SecretRef): SecretAnswer {
    let watched = this.#watched.get(name);
    if (watched === undefined) {
      watched = { ends: new AbortController(), found: undefined, isAsked: true };
      this.#watched.set(name, watched);
      void this.#follow(name, watched);
    }
    watched.isAsked = true;
    const { found } = watched;
    if (found === undefined) return { is: "missing", why: "it has not been read yet" };
    if (found.is === "missing") return found;
    const value = secretValue(found.value, key);
    return value === undefined ? { is: "missing", why: "the Secret has no such key" } : { is: "value", value };
  }

  end(): void {
    for (const [name, { isAsked, ends }] of this.#watched) {
      if (isAsked) continue;
      ends.abort();
      this.#watched.delete(name);
    }
  }

  stop(): void {
    this.begin();
    this.end();
  }

  async #follow(name: string, watched: Watched): Promise<void> {
    const { clock, log, changed } = this.#options;
    const { signal } = watched.ends;
    const backoff = new Backoff(Math.random);
    const tell = (found: NonNullable<Watched["found"]>) => {
      if (signal.aborted) return;
      watched.found = found;
      changed();
    };
    while (!signal.aborted) {
      try {
        await this.#readAndWatch(name, signal, (found) => {
          backoff.reset();
          tell(found);
        });
      } catch (error) {
        if (signal.aborted) return;
        log.warn("A Secret with a BGP password cannot be read", { secret: name, error: messageOf(error) });
        // What was read before stays: a password that is not at hand for a while must not end a session.
        if (watched.found === undefined) tell({ is: "missing", why: messageOf(error) });
        const waitMs = isDatastoreError(error, "forbidden") ? 10_000 : backoff.nextDelayMs(200);
        await clock.sleep(waitMs, signal).catch(() => undefined); // ended meanwhile: the loop sees it
      }
    }
  }

  async #readAndWatch(
    name: string,
    signal: AbortSignal,
    tell: (found: NonNullable<Watched["found"]>) => void,
  ): Promise<void> {
    const { namespace } = this.#options;
    const datastore = await this.#options.datastore();
    const within = { namespace, name };
    const missing = { is: "missing", why: `there is no such Secret in namespace ${namespace}` } as const;
    let revision: Revision | undefined;
    let value: unknown;
    for await (const page of datastore.list("Secret", { signal, within })) {
      revision = page.revision;
      for (const item of page.items) if (item.id.name === name) value = item.value;
    }
    tell(value === undefined ? missing : { is: "secret", value });
    if (revision === undefined) return;
    for await (const events of datastore.watch("Secret", { from: revision, signal, within })) {
      for (const event of events) {
        if (event.is === "set") tell({ is: "secret", value: event.object.value });
        if (event.is === "delete") tell(missing);
      }
    }
  }
}

/** A Secret's value under a key: decoded. Undefined: there is none. */
function secretValue(value: unknown, key: string): string | undefined {
  const data = isRecord(value) && isRecord(value.data) ? value.data : {};
  const text = Object.hasOwn(data, key) ? data[key] : undefined;
  return typeof text === "string" ? Buffer.from(text, "base64").toString("utf8") : undefined;
}
