// The library over an access: reads the facts that a request needs, carries its steps out, and puts what was refused into words.
import { type AddressRange, type Family, parseAddress, parseRange, rangeText } from "../../base/lib/index.ts";
import {
  type AddressesReleased,
  type AssignedAddress,
  type Assignment,
  type Attribute,
  assignAddress,
  assignmentOf,
  autoAssign,
  type Block,
  blocksOfRange,
  type ClaimsReleased,
  claimRange,
  collectCold,
  ensureBlock,
  getHandle,
  type HeldAddress,
  heldByHandle,
  listAllBlocks,
  namedRanges,
  type Owner,
  type Pool,
  parseOwner,
  poolOf,
  type RangeClaimed,
  type ReleaseRequest,
  releaseClaim,
  releaseClaims,
  releaseHandle,
  releaseIps,
  releaseUnselected,
  type Steps,
  selectsByLabels,
  type Utilization,
  utilizationOf,
} from "../ipam/index.ts";
import type { Labels } from "../model/index.ts";
import { isResourceError, ResourceError } from "../resources/index.ts";
import type { Call, IpamAccess, IpamConfig } from "./access.ts";
import { carryOut, type Edge } from "./carry-out.ts";
import type {
  AssignedOfFamily,
  AutoAssignRequest,
  ForWhom,
  Ipam,
  MustBeEmpty,
  NamedAssignRequest,
  Wanted,
} from "./ipam.ts";
import { IpamError, type IpamErrorCode } from "./ipam-error.ts";

export function openIpam(access: IpamAccess, edge: Edge): Ipam {
  return new AccessIpam(access, edge);
}

const none: AssignedOfFamily = { addresses: [], notes: [] };

class AccessIpam implements Ipam {
  readonly #access: IpamAccess;
  readonly #edge: Edge;

  constructor(access: IpamAccess, edge: Edge) {
    this.#access = access;
    this.#edge = edge;
  }

  async autoAssign(request: AutoAssignRequest, call: Call = {}) {
    const facts = await this.#facts(request, call);
    // Names that can never be right are refused before anything is taken.
    for (const [family, wanted] of [[4, request.ipv4] as const, [6, request.ipv6] as const]) {
      const named = namedRanges(facts.pools, { requested: wanted?.pools ?? [], family });
      if (named.is === "refused") throw new IpamError(named.reason, named.says);
    }
    const ipv4 = await this.#assign(request, { family: 4, wanted: request.ipv4, facts }, call);
    try {
      const ipv6 = await this.#assign(request, { family: 6, wanted: request.ipv6, facts }, call);
      return { ipv4: ipv4.assigned, ipv6: ipv6.assigned };
    } catch (error) {
      await this.#giveBack(ipv4.taken, request, facts);
      throw error;
    }
  }

  async assignIP(request: NamedAssignRequest, call: Call = {}): Promise<AssignedAddress> {
    const settings = await this.#access.config(call);
    const pools = await this.#access.pools(call);
    const { use, handle, attributes: secondary = {} } = request;
    const address = addressRange(request.address);
    const named = { address, owner: ownerFor(request), use, handle, secondary, pools, settings, ...sameness(request) };
    const done = await this.#run(assignAddress(named), call);
    if (done.is === "refused") throw new IpamError(done.reason, done.says);
    return done;
  }

  async releaseIPs(requests: readonly ReleaseRequest[], call: Call = {}): Promise<AddressesReleased> {
    const { cooldownSeconds } = await this.#access.config(call);
    const pools = await this.#access.pools(call);
    const done = await this.#run(releaseIps(requests, { pools, cooldownSeconds }), call);
    await this.#releaseUnselected(done.blocks, cooldownSeconds, call);
    return done;
  }

  async releaseByHandle(handle: string, call: Call = {}): Promise<readonly AddressRange[]> {
    const known = await this.#run(getHandle(handle), call);
    if (known === undefined) return [];
    const { cooldownSeconds } = await this.#access.config(call);
    const { released, blocks } = await this.#run(releaseHandle({ id: handle, cooldownSeconds, known }), call);
    await this.#releaseUnselected(blocks, cooldownSeconds, call);
    return released;
  }

  ipsByHandle(handle: string, call: Call = {}): Promise<readonly HeldAddress[] | undefined> {
    return this.#run(heldByHandle(handle), call);
  }

  async getAssignmentAttributes(address: string, call: Call = {}): Promise<Assignment> {
    const pools = await this.#access.pools(call);
    return await this.#run(assignmentOf(addressRange(address), pools), call);
  }

  async claimAffinity(cidr: string, node: string, call: Call = {}): Promise<RangeClaimed & { is: "claimed" }> {
    const pools = await this.#access.pools(call);
    const done = await this.#run(claimRange({ owner: hostOwner(node), range: cidrRange(cidr) }, pools), call);
    if (done.is === "refused") throw new IpamError("bad-range", done.says);
    return done;
  }

  async releaseAffinity(
    cidr: string,
    node: string,
    { mustBeEmpty, ...call }: Call & MustBeEmpty,
  ): Promise<ClaimsReleased> {
    const { cooldownSeconds } = await this.#access.config(call);
    const blocks = blocksOfRange(cidrRange(cidr), await this.#access.pools(call));
    if (blocks.is === "refused") throw new IpamError("bad-range", blocks.says);
    const owner = hostOwner(node);
    const released: { owner: Owner; cidr: string }[] = [];
    const refused: ClaimsReleased["refused"][number][] = [];
    for (const range of blocks.ranges) {
      const done = await this.#run(releaseClaim({ owner, range, mustBeEmpty, cooldownSeconds }), call);
      if (done.is === "refused") refused.push({ owner, cidr: rangeText(range), reason: done.reason, says: done.says });
      else if (done.is === "released") released.push({ owner, cidr: rangeText(range) });
    }
    return { released, refused };
  }

  async releaseHostAffinities(node: string, { mustBeEmpty, ...call }: Call & MustBeEmpty): Promise<ClaimsReleased> {
    const { cooldownSeconds } = await this.#access.config(call);
    return await this.#releaseAll({ owner: hostOwner(node), mustBeEmpty, cooldownSeconds }, [4, 6], call);
  }

  async releasePoolAffinities(cidr: string, call: Call = {}): Promise<ClaimsReleased> {
    const { cooldownSeconds } = await this.#access.config(call);
    const within = cidrRange(cidr);
    return await this.#releaseAll({ within, mustBeEmpty: false, cooldownSeconds }, [within.family], call);
  }

  async removeHost(node: string, call: Call = {}): Promise<ClaimsReleased> {
    const released = await this.releaseHostAffinities(node, { ...call, mustBeEmpty: false });
    await this.#access.forgetNode(node, call);
    return released;
  }

  async ensureBlock(node: string, call: Call = {}) {
    const facts = await this.#facts({ node, use: "Workload" }, call);
    const ensured = async (family: Family): Promise<AddressRange | undefined> => {
      const isThere = facts.pools.some(({ range, isEnabled }) => isEnabled && range.family === family);
      if (!isThere) return undefined;
      const base = {
        owner: hostOwner(node),
        family,
        use: "Workload",
        requestedPools: [],
        namespaceLabels: {},
      } as const;
      const done = await this.#run(ensureBlock({ ...base, ...facts, maxBlocks: 0, ...this.#seed() }), call);
      if (done.is === "refused") throw new IpamError(done.reason, done.says);
      return done.block;
    };
    return { ipv4: await ensured(4), ipv6: await ensured(6) };
  }

  getConfig(call: Call = {}): Promise<IpamConfig> {
    return this.#access.config(call);
  }

  async setConfig(config: IpamConfig, call: Call = {}): Promise<void> {
    if (!config.strictAffinity && !config.autoAllocateBlocks) {
      throw new IpamError("bad-config", "Cannot disable 'StrictAffinity' and 'AutoAllocateBlocks' at the same time");
    }
    if (config.maxBlocksPerHost > 0 && !config.strictAffinity) {
      throw new IpamError("bad-config", "MaxBlocksPerHost requires StrictAffinity to be enabled");
    }
    await this.#access.writeConfig(config, call);
  }

  async getUtilization(names: readonly string[] = [], call: Call = {}): Promise<Utilization> {
    const all = await this.#access.pools(call);
    const reservations = await this.#access.reservations(call);
    const blocks = [...(await this.#run(listAllBlocks(4), call)), ...(await this.#run(listAllBlocks(6), call))];
    const isMeant = ({ name, range }: Pool) =>
      names.length === 0 || names.includes(name) || names.includes(rangeText(range));
    const pools = all.map((pool) => ({ cidr: rangeText(pool.range), range: pool.range, isMeant: isMeant(pool) }));
    const used = utilizationOf(
      pools,
      blocks.map(({ range, unallocated }) => ({ cidr: rangeText(range), range, unallocated })),
      reservations,
    );
    const meant = new Set(pools.filter(({ isMeant }) => isMeant).map(({ cidr }) => cidr));
    return { pools: used.pools.filter(({ cidr }) => meant.has(cidr)), orphans: names.length === 0 ? used.orphans : [] };
  }

  upgradeHost(node: string, call: Call = {}): Promise<number> {
    return this.#access.labelAffinities(node, call);
  }

  async collectCold(cidr: string, call: Call = {}): Promise<number> {
    const { cooldownSeconds } = await this.#access.config(call);
    return await this.#run(collectCold(rangeText(cidrRange(cidr)), cooldownSeconds), call);
  }

  async #facts({ node, use }: Pick<ForWhom, "node" | "use">, call: Call): Promise<Facts> {
    const settings = await this.#access.config(call);
    const reservations = await this.#access.reservations(call).catch((error: unknown) => {
      // Without them no address can be given: it might be one that somebody keeps for himself.
      throw isResourceError(error) ? saidBefore("failed to look up reserved IPs", error) : error;
    });
    const pools = await this.#access.pools(call);
    const isAsked = pools.some(({ isEnabled, nodeSelector }) => isEnabled && selectsByLabels(nodeSelector));
    const labels = isAsked && use !== "LoadBalancer" ? await this.#access.nodeLabels(node, call) : undefined;
    return { settings, reservations, nodeLabels: use === "LoadBalancer" ? {} : labels, pools };
  }

  /** `taken` are those that were not held before. */
  async #assign(
    request: AutoAssignRequest,
    { family, wanted, facts }: { family: Family; wanted: Wanted | undefined; facts: Facts },
    call: Call,
  ): Promise<{ assigned: AssignedOfFamily; taken: readonly AssignedAddress[] }> {
    if (wanted === undefined || wanted.count <= 0) return { assigned: none, taken: [] };
    const steps = autoAssign({
      owner: ownerFor(request),
      family,
      count: wanted.count,
      use: request.use,
      handle: request.handle,
      secondary: request.attributes ?? {},
      requestedPools: wanted.pools ?? [],
      namespaceLabels: request.namespaceLabels ?? {},
      maxBlocks: request.maxBlocks ?? 0,
      ...facts,
      ...this.#seed(),
      ...sameness(request),
    });
    const done = await this.#run(steps, call);
    const { addresses } = done;
    const taken = addresses.filter(({ wasHeld }) => wasHeld !== true);
    const isWhole = addresses.length >= wanted.count;
    if (done.is === "assigned" && (isWhole || request.fewerIsFine === true)) {
      return { assigned: { addresses, notes: done.notes }, taken };
    }
    await this.#giveBack(taken, request, facts);
    if (done.is === "refused") throw new IpamError(done.reason, done.says, advice(done.reason, { family, facts }));
    throw new IpamError("too-few", tooFew({ family, wanted: wanted.count, got: addresses.length, notes: done.notes }));
  }

  /** By address, so that what the handle held before stays. The caller's time may be up. */
  async #giveBack(
    addresses: readonly AssignedAddress[],
    { handle }: ForWhom,
    { pools, settings }: Facts,
  ): Promise<void> {
    if (addresses.length === 0) return;
    const requests = addresses.map(({ address }) => ({ address, ...(handle === undefined ? {} : { handle }) }));
    const { cooldownSeconds } = settings;
    await this.#run(releaseIps(requests, { pools, cooldownSeconds }), { signal: AbortSignal.timeout(graceMs) });
  }

  async #releaseAll(
    request: Omit<Parameters<typeof releaseClaims>[0], "family">,
    families: readonly Family[],
    call: Call,
  ): Promise<ClaimsReleased> {
    const all: ClaimsReleased[] = [];
    for (const family of families) all.push(await this.#run(releaseClaims({ ...request, family }), call));
    return { released: all.flatMap(({ released }) => released), refused: all.flatMap(({ refused }) => refused) };
  }

  /**
   * Blocks that nothing is held in any more: one whose pool does not select its node is given back, and one of the services'. It is
   * a courtesy to others, done with what can be read.
   */
  async #releaseUnselected(blocks: readonly Block[], cooldownSeconds: number, call: Call): Promise<void> {
    if (blocks.length === 0) return;
    const pools = await this.#access.pools(call);
    const nodeLabels = new Map<string, Labels>();
    for (const { owner, range } of blocks) {
      const pool = poolOf(pools, range, "enabled");
      const host = parseOwner(owner);
      if (host?.type !== "host" || pool === undefined || !selectsByLabels(pool.nodeSelector)) continue;
      try {
        nodeLabels.set(host.name, await this.#access.nodeLabels(host.name, call));
      } catch (error) {
        if (!isResourceError(error, "not-found")) throw error; // a node that is gone has none
      }
    }
    await this.#run(releaseUnselected(blocks, { pools, nodeLabels, cooldownSeconds }), call);
    for (const { owner: text, range } of blocks) {
      const owner = parseOwner(text);
      if (owner?.type !== "virtual") continue;
      await this.#run(releaseClaim({ owner, range, mustBeEmpty: true, cooldownSeconds }), call);
    }
  }

  #run<T>(steps: Steps<T>, { signal }: Call): Promise<T> {
    return carryOut(steps, this.#access, { ...this.#edge, signal });
  }

  #seed(): { randomSeed: bigint } {
    return { randomSeed: BigInt(Math.floor(this.#edge.random() * Number.MAX_SAFE_INTEGER)) };
  }
}

type Facts = {
  readonly settings: IpamConfig;
  readonly reservations: Awaited<ReturnType<IpamAccess["reservations"]>>;
  /** Undefined: they do not matter to any pool. */
  readonly nodeLabels: Labels | undefined;
  readonly pools: readonly Pool[];
};

const graceMs = 30_000;

function sameness({ isSame }: ForWhom): { isSame?: (held: Attribute) => boolean } {
  return isSame === undefined ? {} : { isSame };
}

function hostOwner(node: string): Owner {
  return { type: "host", name: node };
}

function ownerFor({ node, use }: Pick<ForWhom, "node" | "use">): Owner {
  return use === "LoadBalancer" ? { type: "virtual", name: "load-balancer" } : hostOwner(node);
}

function addressRange(text: string): AddressRange {
  const range = parseAddress(text) === undefined ? undefined : parseRange(text);
  if (range === undefined) throw new IpamError("bad-range", `"${text}" is not an IP address`);
  return range;
}

function cidrRange(text: string): AddressRange {
  const range = parseRange(text);
  if (range === undefined) throw new IpamError("bad-range", `invalid CIDR address: ${text}`);
  return range;
}

/** What the original's sentence leaves out. */
function advice(
  reason: IpamErrorCode,
  { family, facts: { settings, pools } }: { family: Family; facts: Facts },
): { readonly next?: string } {
  if (reason === "block-limit") {
    const { maxBlocksPerHost } = settings;
    const limit = maxBlocksPerHost > 0 ? `maxBlocksPerHost is ${maxBlocksPerHost}` : "the built-in limit is 20";
    return {
      next: `${limit} for each family, and this node has as many blocks in the pools it may use, all of them full`,
    };
  }
  if (reason !== "no-pool") return {};
  const ofFamily = pools.filter(({ range }) => range.family === family);
  if (ofFamily.length === 0) return { next: `there is no IPPool for IPv${family}: create one` };
  return { next: `no IPPool for IPv${family} is enabled: ${ofFamily.map(({ name }) => name).join(", ")}` };
}

function saidBefore(prefix: string, error: ResourceError): ResourceError {
  const { code, message, next, missingRule } = error;
  return new ResourceError(code, `${prefix}: ${message}`, {
    cause: error,
    ...(next === undefined ? {} : { next }),
    ...(missingRule === undefined ? {} : { missingRule }),
  });
}

function tooFew({
  family,
  wanted,
  got,
  notes,
}: {
  family: Family;
  wanted: number;
  got: number;
  notes: readonly string[];
}) {
  const what = `IPv${family} addresses`;
  return [`failed to request ${what}: Assigned ${got} out of ${wanted} requested ${what}`, ...notes].join("; ");
}
