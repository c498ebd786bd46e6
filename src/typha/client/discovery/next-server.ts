// Which server to try next: the first of the current list that was not tried yet; when all were, from the start again.
// A server that left the list is forgotten after a while, so that one that comes back is not punished for its past.
import { addressText, type ServerAddress } from "./server-address.ts";

const forgetMs = 5 * 60_000;

export class Attempts {
  readonly #tried = new Map<string, number>();

  next(servers: readonly ServerAddress[], nowMs: number): ServerAddress | undefined {
    const present = new Set(servers.map(addressText));
    for (const [address, seenMs] of this.#tried) {
      if (present.has(address)) this.#tried.set(address, nowMs);
      else if (nowMs - seenMs > forgetMs) this.#tried.delete(address);
    }
    let server = servers.find((candidate) => !this.#tried.has(addressText(candidate)));
    if (server === undefined && servers.length > 0) {
      this.#tried.clear();
      server = servers[0];
    }
    if (server !== undefined) this.#tried.set(addressText(server), nowMs);
    return server;
  }
}
