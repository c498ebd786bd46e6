// Keeps the identity fresh: tokens are rotated under us, certificates too. Read again every minute, and at once when
// the server says it no longer knows us.
import { createHash } from "node:crypto";
import type { Clock, Log } from "../lib/index.ts";
import type { Identity } from "./load-identity.ts";
import { kubeLimits } from "./settings.ts";

export type CurrentIdentity = Identity & {
  /** Changes with anything that a connection is made of; a new token needs no new connection. */
  readonly connectionKey: string;
};

export type CredentialsOptions = { readonly clock: Clock; readonly log: Log; readonly load: () => Promise<Identity> };

export class Credentials {
  readonly #options: CredentialsOptions;
  #current: CurrentIdentity | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<CurrentIdentity> | undefined;

  constructor(options: CredentialsOptions) {
    this.#options = options;
  }

  /** Throws only when nothing was ever read: files that are being replaced may be missing for a moment. */
  current(): Promise<CurrentIdentity> {
    const { clock } = this.#options;
    if (this.#current !== undefined && clock.monotonicMs() - this.#readAtMs < kubeLimits.credentialsMs) {
      return Promise.resolve(this.#current);
    }
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** The server refused these; whoever read newer ones meanwhile has already done the work. */
  refuse(identity: CurrentIdentity): void {
    if (identity === this.#current) this.#readAtMs = Number.NEGATIVE_INFINITY;
  }

  async #read(): Promise<CurrentIdentity> {
    const { clock, log, load } = this.#options;
    try {
      const identity = await load();
      this.#current = { ...identity, connectionKey: connectionKey(identity) };
    } catch (error) {
      if (this.#current === undefined) throw error;
      log.warn("cannot read the credentials again; using the last ones", { error: `${error}` });
    }
    this.#readAtMs = clock.monotonicMs();
    return this.#current;
  }
}

function connectionKey({ server, proxy, tls }: Identity): string {
  const hash = createHash("sha256").update(`${server.origin}\n${proxy}\n${tls.servername}\n${tls.rejectUnauthorized}`);
  for (const part of [tls.ca, tls.cert, tls.key]) hash.update("\n").update(part ?? "");
  return hash.digest("hex");
}
