// Addresses are assigned and released on a real datastore by many workers at once, for 50 nodes, while writes fail, come late, and
// workers are killed in the middle of a request. Whoever gets an address is noted at once, so that one that is given twice is seen at
// that moment. A mender works beside them all the time, and what killed workers have left is mended at the end.
import { addressText, systemClock } from "../../../src/base/lib/index.ts";
import { type AddressUse, type Answer, type Pool, readPool, type Step } from "../../../src/calico/ipam/index.ts";
import { type IpamAccess, isIpamError, openIpam } from "../../../src/calico/ipam-client/index.ts";
import { isResourceError } from "../../../src/calico/resources/index.ts";
import { type Random, seededRandom } from "../random.ts";
import { RememberingAccess } from "./remembering-access.ts";

export type AssignmentsPlan = {
  /** Addresses assigned or released, together. */
  readonly count: number;
  readonly nodes: number;
  readonly workers: number;
  readonly seed: number;
  /** Of every so many writes one fails; of every so many steps one is its worker's last. */
  readonly failsOneIn: number;
  readonly killsOneIn: number;
  readonly atMostMs: number;
  readonly pool: { readonly cidr: string; readonly blockSize: number };
};

export type AssignmentsDone = {
  assigned: number;
  released: number;
  requests: number;
  refused: number;
  faults: number;
  kills: number;
  conflicts: number;
  calls: number;
  seconds: number;
};

class GivenTwice extends Error {}
class Killed extends Error {}

type Container = {
  readonly handle: string;
  readonly pod: string;
  readonly node: string;
  readonly addresses: readonly string[];
};

/** Who has which address now: what the pods of a cluster would say. */
export class LiveAddresses {
  readonly #byAddress = new Map<string, Container>();
  /** Pods whose plugin is at work: they have not said their addresses. */
  readonly starting = new Set<string>();

  give(container: Container): void {
    for (const address of container.addresses) {
      const other = this.#byAddress.get(address);
      if (other !== undefined)
        throw new GivenTwice(`${address} was given to ${container.handle} while ${other.handle} has it`);
      this.#byAddress.set(address, container);
    }
  }

  takeBack({ addresses }: Container): void {
    for (const address of addresses) this.#byAddress.delete(address);
  }

  get size(): number {
    return this.#byAddress.size;
  }

  uses(): AddressUse[] {
    return [...this.#byAddress].map(([address, { pod, node }]) => useOf(address, pod, node));
  }

  useOf(address: string): AddressUse[] {
    const holder = this.#byAddress.get(address);
    return holder === undefined ? [] : [useOf(address, holder.pod, holder.node)];
  }
}

function useOf(address: string, pod: string, node: string): AddressUse {
  return { address, user: { is: "workload", namespace: "default", name: `${node}-k8s-${pod}-eth0`, node, pod } };
}

export function poolsOf(plan: AssignmentsPlan): readonly Pool[] {
  const pool = readPool({ name: "campaign", spec: plan.pool });
  return pool === undefined ? [] : [pool];
}

export const nodeNames = (count: number): string[] => Array.from({ length: count }, (_, at) => `node-${at + 1}`);

const settings = {
  strictAffinity: false,
  autoAllocateBlocks: true,
  maxBlocksPerHost: 0,
  cooldownSeconds: 0,
  kubeVirtVMAddressPersistence: "Enabled",
} as const;

type Told = {
  readonly live: LiveAddresses;
  readonly plan: AssignmentsPlan;
  /** Every half minute. */
  readonly tell: (done: AssignmentsDone, live: number) => void;
};

/** Until so many addresses were assigned and released, or the time is up. */
export async function assignAndRelease(
  access: Pick<IpamAccess, "answer">,
  { live, plan, tell }: Told,
): Promise<AssignmentsDone> {
  const done: AssignmentsDone = {
    assigned: 0,
    released: 0,
    requests: 0,
    refused: 0,
    faults: 0,
    kills: 0,
    conflicts: 0,
    calls: 0,
    seconds: 0,
  };
  const startedMs = performance.now();
  const stopping = new AbortController();
  const isOver = () =>
    stopping.signal.aborted ||
    done.assigned + done.released >= plan.count ||
    performance.now() - startedMs > plan.atMostMs;
  const nodes = Array.from({ length: plan.nodes }, () => new RememberingAccess(access));
  const workers = Array.from({ length: plan.workers }, (_, at) => {
    // Every eighth asks for everything, as a plugin without an agent does.
    const own = at % 8 === 7 ? access : (nodes[at % plan.nodes] ?? access);
    return new Worker(own, { live, plan, done, at });
  });
  const telling = setInterval(() => {
    done.seconds = (performance.now() - startedMs) / 1000;
    tell(done, live.size);
  }, 30_000);
  const results = await Promise.allSettled(
    workers.map(async (worker) => {
      try {
        while (!isOver()) await worker.request();
      } catch (error) {
        stopping.abort();
        throw error;
      }
    }),
  );
  clearInterval(telling);
  done.seconds = (performance.now() - startedMs) / 1000;
  for (const result of results) if (result.status === "rejected") throw result.reason;
  return done;
}

type Shared = {
  readonly live: LiveAddresses;
  readonly plan: AssignmentsPlan;
  readonly done: AssignmentsDone;
  readonly at: number;
};

/** One after another it starts and stops containers of its node, about as many of one as of the other. */
class Worker {
  readonly #random: Random;
  readonly #shared: Shared;
  readonly #ipam: ReturnType<typeof openIpam>;
  readonly #access: Pick<IpamAccess, "answer">;
  readonly #node: string;
  readonly #containers: Container[] = [];
  #made = 0;
  #isRefused = false;

  constructor(access: Pick<IpamAccess, "answer">, shared: Shared) {
    const { plan, at } = shared;
    this.#shared = shared;
    this.#access = access;
    this.#random = seededRandom(plan.seed * 10_007 + at);
    this.#node = nodeNames(plan.nodes)[at % plan.nodes] ?? "";
    const pools = poolsOf(plan);
    const facts: IpamAccess = {
      answer: (step, call) => this.#answer(step, call),
      config: async () => settings,
      pools: async () => pools,
      reservations: async () => [],
      nodeLabels: async () => ({}),
      writeConfig: async () => undefined,
      labelAffinities: async () => 0,
      forgetNode: async () => {},
    };
    this.#ipam = openIpam(facts, { clock: systemClock, random: () => this.#random.next() });
  }

  async request(): Promise<void> {
    const { done } = this.#shared;
    done.requests += 1;
    // Now more and now less, so that half of the pool is in use: blocks run full, are borrowed from and taken over.
    const isFull = this.#isRefused || this.#containers.length >= 1 + this.#random.below(4);
    this.#isRefused = false;
    try {
      if (isFull) await this.#stop();
      else await this.#start();
    } catch (error) {
      if (error instanceof GivenTwice) throw error;
      if (error instanceof Killed) done.kills += 1;
      else if (isIpamError(error)) done.refused += 1;
      else if (!isTransient(error)) throw error;
    }
  }

  async #start(): Promise<void> {
    const { live, done, at } = this.#shared;
    this.#made += 1;
    const pod = `p${at}-${this.#made}`;
    const handle = `net.${pod}`;
    live.starting.add(pod);
    try {
      const attributes = { node: this.#node, namespace: "default", pod };
      const request = { node: this.#node, use: "Workload", handle, attributes, fewerIsFine: true } as const;
      const { ipv4 } = await this.#ipam.autoAssign({ ...request, ipv4: { count: 1 + this.#random.below(7) } });
      const addresses = ipv4.addresses.map(({ address }) => addressText(address.family, address.first));
      const container = { handle, pod, node: this.#node, addresses };
      live.give(container);
      done.assigned += addresses.length;
      if (addresses.length > 0) this.#containers.push(container);
      else {
        this.#isRefused = this.#containers.length > 0;
        done.refused += 1;
      }
    } catch (error) {
      if (isTransient(error)) await this.#release(handle); // as a kubelet does
      throw error;
    } finally {
      live.starting.delete(pod);
    }
  }

  async #stop(): Promise<void> {
    const { live, done } = this.#shared;
    const [container] = this.#containers.splice(this.#random.below(this.#containers.length), 1);
    if (container === undefined) return;
    live.takeBack(container);
    await this.#release(container.handle);
    done.released += container.addresses.length;
  }

  async #release(handle: string): Promise<void> {
    for (let turn = 0; turn < 3; turn += 1) {
      try {
        await this.#ipam.releaseByHandle(handle);
        return;
      } catch (error) {
        if (!isTransient(error)) throw error;
      }
    }
  }

  async #answer(step: Step, call: Parameters<IpamAccess["answer"]>[1]): Promise<Answer> {
    const { plan, done } = this.#shared;
    if (step.do === "read the node") return { is: "node", labels: {} };
    if (step.do === "read the clock") return this.#access.answer(step, call);
    done.calls += 1;
    const isWrite = step.do === "create" || step.do === "update" || step.do === "delete";
    if (this.#random.isOneIn(plan.killsOneIn)) {
      // What it has sent may still be written; nobody hears of it.
      if (isWrite && this.#random.isOneIn(2)) await this.#access.answer(step, call);
      throw new Killed("killed");
    }
    if (isWrite && this.#random.isOneIn(plan.failsOneIn)) return await this.#fail(step, call);
    const answer = await this.#access.answer(step, call);
    if (answer.is === "conflict") done.conflicts += 1;
    return answer;
  }

  async #fail(step: Step, call: Parameters<IpamAccess["answer"]>[1]): Promise<Answer> {
    this.#shared.done.faults += 1;
    const error = new Injected("timeout");
    const how = this.#random.below(3);
    if (how === 1) await this.#access.answer(step, call);
    // Late: it is written while its sender already tries again.
    if (how === 2) this.#access.answer(step, call).catch(() => undefined);
    return { is: "failed", error, wasWritten: "perhaps" };
  }
}

class Injected extends Error {}

/** Injected, or of a server that is slow on a machine with much to do. */
export function isTransient(error: unknown): boolean {
  return error instanceof Injected || isResourceError(error, "unavailable");
}
