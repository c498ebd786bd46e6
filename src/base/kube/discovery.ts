// What the API server serves, as every authenticated user may ask. Rights are checked before existence, so a forbidden
// list of a kind that is not there answers 403: only discovery tells the two apart.
import { type Clock, isRecord } from "../lib/index.ts";
import type { ApiClient } from "./api-client.ts";
import { isKubeError } from "./kube-error.ts";
import { kubeLimits } from "./settings.ts";

export class Discovery {
  readonly #client: ApiClient;
  readonly #clock: Clock;
  /** By the path of group and version: as many as the caller asks about. */
  readonly #answers = new Map<string, { readonly atMs: number; readonly plurals: Promise<ReadonlySet<string>> }>();

  constructor(client: ApiClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Whether the collection is there; `groupPath` is /api/v1 or /apis/GROUP/VERSION. */
  async isServed(groupPath: string, plural: string, signal?: AbortSignal): Promise<boolean> {
    const nowMs = this.#clock.monotonicMs();
    let answer = this.#answers.get(groupPath);
    if (answer === undefined || nowMs - answer.atMs > kubeLimits.discoveryMs) {
      answer = { atMs: nowMs, plurals: this.#pluralsOf(groupPath, signal) };
      this.#answers.set(groupPath, answer);
      answer.plurals.catch(() => this.#answers.delete(groupPath));
    }
    return (await answer.plurals).has(plural);
  }

  /** The names of all API groups but the core one. */
  async groups(signal?: AbortSignal): Promise<string[]> {
    return namesIn(await this.#client.json({ method: "GET", path: "/apis", signal }), "groups");
  }

  async #pluralsOf(path: string, signal: AbortSignal | undefined): Promise<ReadonlySet<string>> {
    try {
      const answer = await this.#client.json({ method: "GET", path, signal });
      return new Set(namesIn(answer, "resources"));
    } catch (error) {
      if (isKubeError(error, "not-found")) return new Set();
      throw error;
    }
  }
}

function namesIn(answer: unknown, field: "resources" | "groups"): string[] {
  const entries = isRecord(answer) ? answer[field] : undefined;
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: unknown) => (isRecord(entry) && typeof entry.name === "string" ? [entry.name] : []));
}
