// What the API server serves, as every authenticated user may ask. Rights are checked before existence, so a forbidden
// list of a kind that is not there answers 403: only discovery tells the two apart.
import type { Clock } from "../../../base/lib/index.ts";
import { isDatastoreError } from "../errors.ts";
import { isJsonObject } from "../identify.ts";
import type { ApiClient } from "./api-client.ts";
import { type CalicoGroup, groupPath, type Served } from "./paths.ts";
import { apiLimits } from "./settings.ts";

export class Discovery {
  readonly #client: ApiClient;
  readonly #clock: Clock;
  /** By group path: as many as there are groups in the table of kinds. */
  readonly #answers = new Map<string, { readonly atMs: number; readonly plurals: Promise<ReadonlySet<string>> }>();

  constructor(client: ApiClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  async isServed(served: Served, signal?: AbortSignal): Promise<boolean> {
    const path = groupPath(served);
    const nowMs = this.#clock.monotonicMs();
    let answer = this.#answers.get(path);
    if (answer === undefined || nowMs - answer.atMs > apiLimits.discoveryMs) {
      answer = { atMs: nowMs, plurals: this.#pluralsOf(path, signal) };
      this.#answers.set(path, answer);
      answer.plurals.catch(() => this.#answers.delete(path));
    }
    return (await answer.plurals).has(served.plural);
  }

  async #pluralsOf(path: string, signal: AbortSignal | undefined): Promise<ReadonlySet<string>> {
    try {
      const answer = await this.#client.json({ method: "GET", path, signal });
      return new Set(namesIn(answer, "resources"));
    } catch (error) {
      if (isDatastoreError(error, "not-found")) return new Set();
      throw error;
    }
  }

  /** Which group has Calico's kinds: as configured, else v3 only where it is alone. Throws while the server is away. */
  async calicoGroup(configured: string | undefined, signal?: AbortSignal): Promise<CalicoGroup> {
    if (configured)
      return configured.toLowerCase() === "projectcalico.org/v3" ? "projectcalico.org" : "crd.projectcalico.org";
    try {
      const groups = namesIn(await this.#client.json({ method: "GET", path: "/apis", signal }), "groups");
      const isV3Alone = groups.includes("projectcalico.org") && !groups.includes("crd.projectcalico.org");
      return isV3Alone ? "projectcalico.org" : "crd.projectcalico.org";
    } catch (error) {
      if (isDatastoreError(error, "forbidden", "not-found", "invalid")) return "crd.projectcalico.org";
      throw error;
    }
  }
}

function namesIn(answer: unknown, field: "resources" | "groups"): string[] {
  const entries = isJsonObject(answer) ? answer[field] : undefined;
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: unknown) =>
    isJsonObject(entry) && typeof entry.name === "string" ? [entry.name] : [],
  );
}
