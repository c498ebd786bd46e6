// What the agent lends to calls: its datastore, with the readiness flag and what address management knows kept current by watches; clusters beside
// etcd; and the host's lock, shared by calls that come together.
import type { Clock } from "../../../base/lib/index.ts";
import { type Datastore, WatchedFact } from "../../../calico/datastore/index.ts";
import { openResident } from "../../../calico/ipam-resident/index.ts";
import { openResources } from "../../../calico/resources/index.ts";
import { clusterInformation, refuseUnready } from "../../endpoints/index.ts";
import { type Backed, openCluster } from "../backing.ts";
import type { NetworkConfiguration } from "../configuration.ts";
import { SharedHostLock } from "../host-lock.ts";
import { withTimeLimit } from "../limited-datastore.ts";

export type ResidentBackingOptions = {
  readonly datastore: Datastore;
  readonly node: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly warn: (text: string) => void;
  readonly signal: AbortSignal;
};

export type ResidentBacking = AsyncDisposable & {
  lend(configuration: NetworkConfiguration): Backed;
  /** Whether everything is watched. Until then the datastore is asked. */
  readonly isWarm: boolean;
  /** Ends with the signal; throws a fault of the program's own. */
  readonly running: Promise<void>;
};

export function openResidentBacking(options: ResidentBackingOptions): ResidentBacking {
  const { datastore: own, node, clock, random, signal } = options;
  const datastore = withTimeLimit(own);
  const resources = openResources(datastore, { clock });
  const ipam = openResident({ datastore, node, clock, random, signal });
  const information = new WatchedFact({
    datastore,
    kind: "ClusterInformation",
    read: (until) => clusterInformation(resources, until),
  });
  const running = Promise.all([ipam.running, information.watch({ clock, random, signal })]).then(() => undefined);
  running.catch(() => undefined); // whoever wants to know asks
  const locks = new Map<string, SharedHostLock>();
  const lockAt = (path: string) => {
    const lock = locks.get(path) ?? new SharedHostLock(path, options);
    locks.set(path, lock);
    return lock;
  };
  const clusters = new Clusters(clock);
  return {
    running,
    get isWarm() {
      return ipam.isWarm && information.isWatched;
    },
    lend(configuration) {
      const lock = lockAt(configuration.lockFile);
      return {
        datastore,
        resources,
        ipam,
        cluster: async () => (datastore.flavour === "kubernetes" ? datastore : await clusters.open(configuration)),
        mustBeReady: async () => refuseUnready(await information.value(undefined)),
        namespaceLabels: (read) => ipam.namespaceLabels(read),
        locked: (work) => lock.with(work),
        async [Symbol.asyncDispose]() {
          // it is lent only
        },
      };
    },
    [Symbol.asyncDispose]: () => clusters[Symbol.asyncDispose](),
  };
}

/** Where pods are read beside etcd, as configurations name it: one, as a rule. Their clients read changed credentials by themselves. */
class Clusters implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #open = new Map<string, Promise<Datastore>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async open(configuration: NetworkConfiguration): Promise<Datastore> {
    const { kubernetes } = configuration;
    const key = JSON.stringify(kubernetes ?? {});
    const opened = this.#open.get(key) ?? openCluster(configuration, this.#clock).then((each) => withTimeLimit(each));
    this.#open.set(key, opened);
    try {
      return await opened;
    } catch (error) {
      this.#open.delete(key); // its file may be there the next time
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const opening of this.#open.values())
      await opening.then(
        (each) => each[Symbol.asyncDispose](),
        () => undefined,
      );
  }
}
