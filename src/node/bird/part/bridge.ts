// A session that starts anew takes its routes along until it is up again: one of the mesh that becomes one with a route reflector, or another
// password. Both ends change by plan and the network between them is as it was, so packets have no reason to stop: before BIRD is told, what
// the kernel has from such a session is written once more under a protocol of our own, and it goes when BIRD has its routes again.
//
//   10.1.0.0/26 via 172.30.0.12 proto bird metric 1024 ─▶ the same beside it, proto 81 ─▶ session gone, session up ─▶ proto 81 goes
//
// The same where a pool is BIRD's no longer, because it gets a tunnel: the node's agent writes those routes, but not before the nodes have their
// addresses in the tunnel, and BIRD takes its own away as soon as it is told.
import { type AddressRange, type Clock, holds, type Log, messageOf, parseRange } from "../../../base/lib/index.ts";
import {
  isKernelReachable,
  type KernelChange,
  mainTable,
  openNetlink,
  type Route,
} from "../../../base/linux/kernel.ts";
import { bridgeProtocol, isOfBird } from "../../../calico/routing/index.ts";
import { type BgpIntent, highestPriority, type KernelPool, type Session } from "../model/intent.ts";
import type { FamilyStatus, NodeBgpStatus } from "../status/gather.ts";

/** As long as peers keep the routes of a BIRD that has gone without a word. */
const longestMs = 120_000;
/** The agent's routes are a matter of moments. Where nobody writes any, because nobody shall, the old ones are not to stay for long. */
const longestOfPoolMs = 30_000;
/** Until the others have heard of the same change, and kept what they have: the first one that ends a session ends it for both. */
const headStartMs = 2_000;
/** Behind every priority that BIRD can give: it would write its own in the place of one with the same metric, and then take it away. */
const metric = highestPriority + 2 ** 30;

export type BridgeOptions = {
  readonly clock: Clock;
  readonly log: Log;
  /** What BIRD says of its sessions and routes. */
  readonly ask: (signal: AbortSignal) => Promise<NodeBgpStatus>;
};

export class Bridge {
  readonly #options: BridgeOptions;
  /** Until when, by destination; undefined: what an agent before us left has not been looked for. */
  #until: Map<string, number> | undefined;

  constructor(options: BridgeOptions) {
    this.#options = options;
  }

  /** Before BIRD reads a new configuration. Never fails: without it the session costs what it costs. */
  async build(before: BgpIntent | undefined, after: BgpIntent, signal: AbortSignal): Promise<void> {
    if (before !== undefined) await this.#keepPools(before, after);
    if (before !== undefined && restarting(before, after).size === 0) return;
    await this.#try(async () => {
      const status = await this.#options.ask(signal);
      const names = before === undefined ? renamed(status, after) : restarting(before, after);
      const known = await this.#known();
      const learned = [4, 6].flatMap((family) => routesFrom(status[family as 4 | 6], names));
      const destinations = inPools(learned, after);
      if (destinations.size === 0) return;
      await using netlink = openNetlink();
      const routes = (await netlink.routes({ table: mainTable })).filter(
        (route) => isBirds(route) && route.type === "unicast" && destinations.has(route.destination),
      );
      await netlink.changeAll(copiesOf(routes));
      const endMs = this.#options.clock.monotonicMs() + longestMs;
      for (const { destination } of routes) known.set(destination, endMs);
      const sessions = [...names].join(",");
      this.#options.log.info("BGP sessions start anew; their routes are kept", { sessions, routes: routes.length });
      await this.#options.clock.sleep(headStartMs, signal);
    });
  }

  /** Routes of pools that are BIRD's no longer: whoever follows it needs a moment. */
  async #keepPools(before: BgpIntent, after: BgpIntent): Promise<void> {
    const pools = leftPools(before, after);
    if (pools.length === 0) return;
    await this.#try(async () => {
      const known = await this.#known();
      await using netlink = openNetlink();
      const routes = (await netlink.routes({ table: mainTable })).filter((route) => {
        const range = parseRange(route.destination);
        if (!isBirds(route) || route.type !== "unicast" || range === undefined) return false;
        return pools.some((pool) => holds(pool, range));
      });
      await netlink.changeAll(copiesOf(routes));
      const endMs = this.#options.clock.monotonicMs() + longestOfPoolMs;
      for (const { destination } of routes) known.set(destination, endMs);
      this.#options.log.info("Routes of pools that are BIRD's no longer are kept until the agent has its own", {
        routes: routes.length,
      });
    });
  }

  /** After each look at BIRD: what it has again goes, what the agent has, and what neither has for too long. */
  async clear(intent: BgpIntent, signal: AbortSignal): Promise<void> {
    if (this.#until?.size === 0) return;
    await this.#try(async () => {
      const { clock, log, ask } = this.#options;
      const known = await this.#known();
      if (known.size === 0) return;
      const status = await ask(signal);
      const wanted = new Set(intent.families.flatMap(({ sessions }) => sessions.map(({ name }) => name)));
      const back = new Set([4, 6].flatMap((family) => routesFrom(upOf(status[family as 4 | 6]), wanted)));
      await using netlink = openNetlink();
      const kernel = await netlink.routes({ table: mainTable });
      const inKernel = new Set(kernel.filter(isBirds).map(({ destination }) => destination));
      const others = kernel.filter((route) => route.type === "unicast" && !isBirds(route) && !isBridge(route));
      const taken = new Set(others.map(({ destination }) => destination));
      const nowMs = clock.monotonicMs();
      const late = [...known].filter(([, untilMs]) => untilMs < nowMs).map(([destination]) => destination);
      const isOver = (one: string) => (back.has(one) && inKernel.has(one)) || taken.has(one) || late.includes(one);
      const over = [...known.keys()].filter(isOver);
      if (over.length === 0) return;
      await netlink.changeAll(
        kernel.filter((route) => isBridge(route) && over.includes(route.destination)).map(deleted),
      );
      for (const destination of over) known.delete(destination);
      if (late.length > 0) log.warn("Routes that nobody has taken over are given up", { routes: late.length });
    });
  }

  async #known(): Promise<Map<string, number>> {
    this.#until ??= await this.#left();
    return this.#until;
  }

  async #left(): Promise<Map<string, number>> {
    await using netlink = openNetlink();
    const routes = (await netlink.routes({ table: mainTable })).filter(isBridge);
    const endMs = this.#options.clock.monotonicMs() + longestMs;
    return new Map(routes.map(({ destination }) => [destination, endMs]));
  }

  async #try(work: () => Promise<void>): Promise<void> {
    if (!isKernelReachable()) return;
    try {
      await work();
    } catch (error) {
      this.#options.log.debug("Routes of sessions that start anew are not kept", { reason: messageOf(error) });
    }
  }
}

/** The names of sessions that BIRD ends and begins again: what it takes to change them cannot be changed in one that is up. */
export function restarting(before: BgpIntent, after: BgpIntent): Set<string> {
  const sessions = keyedSessions(after);
  const addresses = new Set(sessions.map(({ session }) => session.address));
  const keys = new Set(sessions.map(({ key }) => key));
  // One whose address has no session any more goes for good.
  const changed = keyedSessions(before).filter(({ session, key }) => addresses.has(session.address) && !keys.has(key));
  return new Set(changed.map(({ session }) => session.name));
}

/** Each session with all that it cannot live on with when it changes: its own (of BIRD 1.6, which is the stricter one), and this node's. */
function keyedSessions({ routerId, listenPort, families }: BgpIntent): { session: Session; key: string }[] {
  return families.flatMap(({ address, isBound, sessions }) =>
    sessions.map((session) => {
      const { importFilters, exportFilters, isInternal, ...fixed } = session;
      return { session, key: JSON.stringify([routerId, listenPort, address, isBound, fixed]) };
    }),
  );
}

/** Pools whose routes BIRD has written, and writes no more; one that is gone takes its routes along. */
export function leftPools(before: BgpIntent, after: BgpIntent): AddressRange[] {
  const poolsThat = ({ families }: BgpIntent, isMeant: (how: KernelPool["how"]) => boolean) =>
    new Set(
      families.flatMap(({ kernelPools }) => kernelPools.flatMap(({ cidr, how }) => (isMeant(how) ? [cidr] : []))),
    );
  const left = poolsThat(after, (how) => how === "leave");
  const written = poolsThat(before, (how) => how !== "leave");
  return [...written].filter((cidr) => left.has(cidr)).flatMap((cidr) => parseRange(cidr) ?? []);
}

/** After a start nobody knows what BIRD was told before; but its sessions have names. */
function renamed(status: NodeBgpStatus, after: BgpIntent): Set<string> {
  const sessions = after.families.flatMap((family) => family.sessions);
  const addresses = new Set(sessions.map(({ address }) => address));
  const names = new Set(sessions.map(({ name }) => name));
  const told = ([4, 6] as const).flatMap((family) => {
    const ofFamily = status[family];
    return ofFamily.is === "running" ? ofFamily.sessions : [];
  });
  const changed = told.filter(({ address, name }) => addresses.has(address) && !names.has(name));
  return new Set(changed.map(({ name }) => name));
}

/** The destinations that lie in a pool whose routes BIRD writes: blocks. What a router tells, as its default route, is its own. */
function inPools(destinations: Iterable<string>, { families }: BgpIntent): Set<string> {
  const pools = families
    .flatMap(({ kernelPools }) => kernelPools)
    .flatMap(({ cidr, how }) => (how === "program" ? (parseRange(cidr) ?? []) : []));
  return new Set(
    [...destinations].filter((destination) => {
      const range = parseRange(destination);
      return range !== undefined && pools.some((pool) => holds(pool, range));
    }),
  );
}

function routesFrom(status: FamilyStatus, names: ReadonlySet<string>): string[] {
  if (status.is !== "running") return [];
  return status.routes.filter(({ from, isBest }) => isBest && names.has(from)).map(({ destination }) => destination);
}

/** Less the routes of sessions that are not up: BIRD still has those of one that is about to go. */
function upOf(status: FamilyStatus): FamilyStatus {
  if (status.is !== "running") return status;
  const up = new Set(status.sessions.filter(({ bgpState }) => bgpState === "Established").map(({ name }) => name));
  return { ...status, routes: status.routes.filter(({ from }) => up.has(from)) };
}

const isBirds = ({ protocol }: Route): boolean => isOfBird(protocol);

function isBridge({ protocol }: Route): boolean {
  return protocol === bridgeProtocol;
}

/** Of several to one destination, which differ in their metrics, a copy of the one that is in use. */
export function copiesOf(routes: readonly Route[]): KernelChange[] {
  const inUse = new Map<string, Route>();
  for (const route of routes) {
    const other = inUse.get(route.destination);
    if (other === undefined || (route.metric ?? 0) < (other.metric ?? 0)) inUse.set(route.destination, route);
  }
  return [...inUse.values()].map(copyOf);
}

function copyOf({ destination, gateway, index, hops, onlink }: Route): KernelChange {
  const way = hops === undefined ? { ...(gateway && { gateway }), ...(index !== undefined && { index }) } : { hops };
  return {
    do: "replace",
    route: { destination, table: mainTable, protocol: bridgeProtocol, metric, ...way, ...(onlink && { onlink }) },
  };
}

/** With its own metric: an agent before us may have written it with another. */
function deleted({ destination, metric: own = 0 }: Route): KernelChange {
  return { do: "delete", route: { destination, table: mainTable, protocol: bridgeProtocol, metric: own } };
}
