// Address management for a program that lives on a node: the same library, over what the program knows. In a block that the node has, an
// address costs two calls of the datastore (its handle, and the block), and giving it back as many; requests at the same time share
// the block's. What is kept is the node's own: its blocks, its affinities, its containers' handles, and the cluster's pools.
import { type Datastore, WatchedFact, type Within } from "../datastore/index.ts";
import { type Answer, ownerText } from "../ipam/index.ts";
import {
  type Call,
  type Edge,
  type Ipam,
  type IpamAccess,
  IpamError,
  openIpam,
  openIpamAccess,
} from "../ipam-client/index.ts";
import type { Kind } from "../kinds/index.ts";
import type { Labels } from "../model/index.ts";
import { hostnameHash } from "../resources/index.ts";
import { BlockCache } from "./block-cache.ts";
import { HandleCache, type Known, ResidentAccess } from "./resident-access.ts";

export type ResidentOptions = Edge & {
  /** An API server's is opened without a limit of requests (clientQps below 0): five a second are pods that wait. */
  readonly datastore: Datastore;
  readonly node: string;
  /** Its abort ends the watches. */
  readonly signal: AbortSignal;
};

export type ResidentIpam = Ipam & {
  /** Whether everything is watched: until then, and whenever it is not, the datastore is asked. */
  readonly isWarm: boolean;
  /**
   * Of a namespace, for the pools that choose by it; where no pool does, nothing is asked. Throws ResourceError "not-found" for a
   * namespace that is not there, if one is asked for.
   */
  namespaceLabels(read: () => Promise<Labels>, call?: Call): Promise<Labels>;
  /** Ends with the signal. Throws what is a fault of the program's own. */
  readonly running: Promise<void>;
};

/** Handles are small, and a node has at most some hundred pods. */
const mostHandles = 4096;
/** Refusals that other pools, or other labels of the node, would turn. */
const forWantOfPools: ReadonlySet<string> = new Set(["no-pool", "no-pool-for-use", "no-pool-for-node", "unknown-pool"]);
/** As long as the original gives a request. */
const timeoutMs = 90_000;

export function openResident(options: ResidentOptions): ResidentIpam {
  const { datastore, node, signal, clock, random } = options;
  const edge = { clock, random };
  const access = openIpamAccess(datastore, edge);
  const known = knownBy(access, { datastore, node });
  const facts = [
    known.config,
    known.pools,
    known.reservations,
    known.nodeLabels,
    known.affinities[4],
    known.affinities[6],
  ];
  const running = Promise.all(facts.map((fact) => fact.watch({ clock, random, signal }))).then(() => undefined);
  running.catch(() => undefined); // whoever wants to know asks
  /** Each request has an access of its own: what it was shown is its own. */
  const through = async <T>(count: number, ask: (ipam: Ipam) => Promise<T>): Promise<T> => {
    const own = new ResidentAccess(known, { count });
    try {
      return await ask(openIpam(own, edge));
    } finally {
      own.end();
    }
  };
  return {
    running,
    get isWarm() {
      return facts.every(({ isWatched }) => isWatched);
    },
    async namespaceLabels(read, { signal: until } = {}) {
      const pools = await known.pools.value(until);
      return pools.some(({ namespaceSelector }) => namespaceSelector !== "") ? await read() : {};
    },
    async autoAssign(request, call) {
      const count = Math.max(request.ipv4?.count ?? 0, request.ipv6?.count ?? 0);
      const ask = () => through(count, (ipam) => ipam.autoAssign(request, call));
      try {
        return await ask();
      } catch (error) {
        // A pool that was enabled a moment ago: its watch may not have said so yet, and "there is none" is never answered from memory.
        if (!(error instanceof IpamError) || !forWantOfPools.has(error.code) || !known.pools.isWatched) throw error;
        known.pools.changed();
        known.nodeLabels.changed();
        return await ask();
      }
    },
    assignIP: (request, call) => through(0, (ipam) => ipam.assignIP(request, call)),
    releaseIPs: (requests, call) => through(0, (ipam) => ipam.releaseIPs(requests, call)),
    releaseByHandle: (handle, call) => through(0, (ipam) => ipam.releaseByHandle(handle, call)),
    ipsByHandle: (handle, call) => through(0, (ipam) => ipam.ipsByHandle(handle, call)),
    getAssignmentAttributes: (address, call) => through(0, (ipam) => ipam.getAssignmentAttributes(address, call)),
    claimAffinity: (cidr, owner, call) => through(0, (ipam) => ipam.claimAffinity(cidr, owner, call)),
    releaseAffinity: (cidr, owner, call) => through(0, (ipam) => ipam.releaseAffinity(cidr, owner, call)),
    releaseHostAffinities: (owner, call) => through(0, (ipam) => ipam.releaseHostAffinities(owner, call)),
    releasePoolAffinities: (cidr, call) => through(0, (ipam) => ipam.releasePoolAffinities(cidr, call)),
    removeHost: (owner, call) => through(0, (ipam) => ipam.removeHost(owner, call)),
    ensureBlock: (owner, call) => through(1, (ipam) => ipam.ensureBlock(owner, call)),
    getConfig: (call) => through(0, (ipam) => ipam.getConfig(call)),
    setConfig: (config, call) => through(0, (ipam) => ipam.setConfig(config, call)),
    getUtilization: (pools, call) => through(0, (ipam) => ipam.getUtilization(pools, call)),
    upgradeHost: (owner, call) => through(0, (ipam) => ipam.upgradeHost(owner, call)),
    collectCold: (cidr, call) => through(0, (ipam) => ipam.collectCold(cidr, call)),
  };
}

function knownBy(access: IpamAccess, { datastore, node }: { datastore: Datastore; node: string }): Known {
  const owner = { type: "host", name: node } as const;
  const watched = <T>(kind: Kind, read: (signal: AbortSignal | undefined) => Promise<T>, within?: Within) =>
    new WatchedFact({ datastore, kind, read, ...(within === undefined ? {} : { within }) });
  const affinities = (family: 4 | 6) =>
    watched<Answer>(
      "BlockAffinity",
      async (signal) => {
        const answer = await access.answer({ do: "list affinities", owner, family }, { signal });
        if (answer.is === "failed") throw answer.error;
        return answer;
      },
      ownAffinities(datastore, node, family),
    );
  return {
    access,
    node,
    config: watched("IPAMConfig", (signal) => access.config({ signal })),
    pools: watched("IPPool", (signal) => access.pools({ signal })),
    reservations: watched("IPReservation", (signal) => access.reservations({ signal })),
    nodeLabels: watched("Node", (signal) => access.nodeLabels(node, { signal }), { name: node }),
    affinities: { 4: affinities(4), 6: affinities(6) },
    blocks: new BlockCache({ access, owner: ownerText(owner), timeoutMs }),
    handles: new HandleCache(mostHandles),
  };
}

/** As address management lists them. */
function ownAffinities({ flavour }: Datastore, node: string, family: 4 | 6): Within {
  if (flavour === "etcdv3") return { namePrefix: `${node}/ipv${family}/block/` };
  return {
    labels: [
      "projectcalico.org/affinity-type=host",
      `projectcalico.org/hostname-hash=${hostnameHash(node)}`,
      `projectcalico.org/ip-version=${family}`,
    ].join(","),
  };
}
