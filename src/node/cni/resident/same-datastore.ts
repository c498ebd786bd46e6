// Whether the datastore that a call's configuration names is the one that the agent has open: other words may mean the same server, and the same
// words another one. ClusterInformation tells, read once through each configuration: its uid is the datastore's own. A folder is told by its path. Files that the configuration
// names (a kubeconfig, certificates) are part of it: when they change, it is read again.
import { realpathSync, statSync } from "node:fs";
import { type Clock, isRecord, messageOf, silentLog } from "../../../base/lib/index.ts";
import { type Datastore, type DatastoreOptions, openDatastore } from "../../../calico/datastore/index.ts";
import { openResources } from "../../../calico/resources/index.ts";
import { withTimeLimit } from "../limited-datastore.ts";

/** Configurations of one node: more are a sign of something strange, and cost a read each time. */
const mostKnown = 32;
const limitMs = 5_000;

export type Sameness = { readonly is: "same" } | { readonly is: "other" | "unknown"; readonly why: string };

export class SameDatastore {
  readonly #own: () => Promise<Datastore>;
  readonly #clock: Clock;
  readonly #known = new Map<string, Promise<Sameness>>();

  constructor(own: () => Promise<Datastore>, clock: Clock) {
    this.#own = own;
    this.#clock = clock;
  }

  /** What could not be found out is asked again the next time. */
  async compare(options: DatastoreOptions): Promise<Sameness> {
    const key = keyOf(options);
    const known = this.#known.get(key) ?? this.#compare(options);
    if (!this.#known.has(key)) this.#keep(key, known);
    const answer = await known;
    if (answer.is === "unknown" && this.#known.get(key) === known) this.#known.delete(key);
    return answer;
  }

  #keep(key: string, sameness: Promise<Sameness>): void {
    this.#known.set(key, sameness);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= mostKnown) return;
      this.#known.delete(oldest);
    }
  }

  async #compare(options: DatastoreOptions): Promise<Sameness> {
    try {
      await using theirs = await openDatastore(options, { clock: this.#clock, log: silentLog });
      const [seen, own] = await Promise.all([identityOf(theirs), this.#own().then(identityOf)]);
      if (seen === own) return { is: "same" };
      return { is: "other", why: "the configuration names another datastore than the agent has" };
    } catch (error) {
      return { is: "unknown", why: `the datastore could not be compared with the agent's: ${messageOf(error)}` };
    }
  }
}

async function identityOf(datastore: Datastore): Promise<string> {
  if ("folder" in datastore && typeof datastore.folder === "string") return `folder ${realpathSync(datastore.folder)}`;
  const id = { namespace: "", name: "default" };
  const { metadata, spec } = await openResources(withTimeLimit(datastore, limitMs)).get("ClusterInformation", id);
  return JSON.stringify([datastore.flavour, metadata.uid, spec.clusterGUID]);
}

function keyOf(options: DatastoreOptions): string {
  return JSON.stringify([options, filesIn(options).map(stampOf)]);
}

/** Every absolute path in it, and the usual place of a kubeconfig that nobody names is not ours to follow. */
function filesIn(value: unknown): string[] {
  if (typeof value === "string") return value.startsWith("/") ? [value] : [];
  if (Array.isArray(value)) return value.flatMap(filesIn);
  return isRecord(value) ? Object.values(value).flatMap(filesIn) : [];
}

function stampOf(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  // Of a folder, what is in it changes all the time; which folder it is does not.
  return stats === undefined
    ? "absent"
    : `${stats.dev}:${stats.ino}${stats.isFile() ? `:${stats.size}:${stats.mtimeNs}` : ""}`;
}
