// The routes: what should be, what is, and the difference, applied in an order in which no packet is without a way. Every route that we write
// is looked at again when the kernel tells of a change to it, whoever made that.
import { type Clock, type Log, messageOf } from "../../../base/lib/index.ts";
import {
  type Conntrack,
  type KernelChange,
  kernelErrno,
  mainTable,
  type Netlink,
  type NewRoute,
  type Route,
} from "../../../base/linux/kernel.ts";
import { bridgeProtocol } from "../../../calico/routing/index.ts";
import type { Resolved } from "../calculation/desired.ts";
import type { RouteSettings } from "../settings.ts";
import { stepBehind } from "./behind-bird.ts";
import { type AskBird, BgpHops } from "./bgp-hops.ts";
import { metricOf, type RouteLinks, toKernel } from "./kernel-route.ts";
import { isMisled, writeWithHelp } from "./misled-gateway.ts";
import { isBirds, isOurs, type LinkRole } from "./ownership.ts";
import { planDestination } from "./plan-destination.ts";
import { RoutePicture } from "./route-picture.ts";
import { Troubles } from "./troubles.ts";

type Options = {
  readonly netlink: Netlink;
  readonly conntrack: Conntrack;
  readonly clock: Clock;
  readonly log: Log;
  readonly links: RouteLinks;
  readonly roleOf: (index: number | undefined) => LinkRole;
  readonly ageMsOf: (index: number) => number;
  /** How long a new workload interface's routes stay that nobody wants (yet). */
  readonly graceMs: number;
  readonly askBird: AskBird | undefined;
};

type Planned = {
  readonly destination: string;
  readonly write: KernelChange & { readonly route: NewRoute };
};

const retryMs = { least: 100, most: 5_000 };
/** BIRD hears of a pool that is its own from now on when we do; what leads there now stays until BIRD has written its routes, but not longer than tunnels do. */
const birdsTurnMs = 30_000;

export class RouteKeeper {
  readonly #options: Options;
  readonly picture: RoutePicture;
  readonly #listings: number[] = [];
  #settings: RouteSettings;
  #dirty = new Set<string>();
  /** Addresses of which the kernel still remembers connections of whoever had them before. */
  readonly #toForget = new Set<string>();
  /** Routes that nobody wants, on interfaces that are too new. */
  readonly #inGrace = new Set<string>();
  #graceEndsMs = Number.POSITIVE_INFINITY;
  /** Since when a route of ours waits for BIRD's to take its place. */
  readonly #waitsForBird = new Map<string, number>();
  #birdsTurnEndsMs = Number.POSITIVE_INFINITY;
  #retryAtMs = Number.POSITIVE_INFINITY;
  #retryDelayMs = retryMs.least;
  readonly troubles = new Troubles();
  readonly hops: BgpHops;
  /** What was resolved last: routes of others to the same destinations matter, too. */
  #resolved: ReadonlyMap<string, Resolved> = new Map();
  /** Since the start: for metrics. */
  readonly counts = { written: 0, deleted: 0, refused: 0, forgotten: 0 };

  constructor(options: Options, settings: RouteSettings) {
    this.#options = options;
    this.#settings = settings;
    this.hops = new BgpHops(options.clock, options.askBird);
    this.picture = new RoutePicture(
      (route) => this.#isOurs(route) || isBirds(route) || this.#resolved.has(route.destination),
    );
  }

  get isDirty(): boolean {
    return this.#dirty.size > 0;
  }

  get dueMs(): number {
    return Math.min(this.#graceEndsMs, this.#birdsTurnEndsMs, this.#retryAtMs);
  }

  configure(settings: RouteSettings): void {
    this.#settings = settings;
  }

  /** How many seconds each list of the kernel's routes took, since this was last asked. */
  takeListings(): readonly number[] {
    return this.#listings.splice(0);
  }

  touch(destinations: Iterable<string>): void {
    for (const destination of destinations) this.#dirty.add(destination);
  }

  /** A workload that had it has it no longer. */
  forget(destination: string): void {
    const [address, length] = destination.split("/");
    if (address !== undefined && length === (address.includes(":") ? "128" : "32")) this.#toForget.add(address);
  }

  /** List again: what looks different is looked at. */
  async load(resolved: ReadonlyMap<string, Resolved>): Promise<number> {
    this.#resolved = resolved;
    const startedMs = performance.now();
    const routes = await this.#options.netlink.routes({ table: mainTable });
    this.#listings.push((performance.now() - startedMs) / 1_000);
    const changed = this.picture.load(routes);
    this.touch(changed);
    return changed.size;
  }

  /** The rest of what is due by now is dirty, too. */
  wake(nowMs: number): void {
    if (nowMs >= this.#graceEndsMs) {
      this.touch(this.#inGrace);
      this.#inGrace.clear();
      this.#graceEndsMs = Number.POSITIVE_INFINITY;
    }
    if (nowMs >= this.#birdsTurnEndsMs) {
      this.touch(this.#waitsForBird.keys());
      this.#birdsTurnEndsMs = Number.POSITIVE_INFINITY;
    }
    if (nowMs >= this.#retryAtMs) {
      this.touch(this.troubles.failed());
      this.#retryAtMs = Number.POSITIVE_INFINITY;
    }
  }

  /** Somebody else keeps the routes (RouteSyncDisabled): nothing is due, and nothing is wrong. */
  standAside(): void {
    this.#dirty = new Set();
    this.#toForget.clear();
    this.#inGrace.clear();
    this.#waitsForBird.clear();
    this.#graceEndsMs = Number.POSITIVE_INFINITY;
    this.#birdsTurnEndsMs = Number.POSITIVE_INFINITY;
    this.#retryAtMs = Number.POSITIVE_INFINITY;
    this.troubles.clearAll();
    this.hops.forgetAll();
  }

  /** The picture is as the kernel is now: whoever calls has taken in what it told. */
  async apply(resolved: ReadonlyMap<string, Resolved>): Promise<void> {
    this.#resolved = resolved;
    const dirty = this.#dirty;
    this.#dirty = new Set();
    const [early, late]: [Planned[], Planned[]] = [[], []];
    const deletes: { change: KernelChange; route: Route }[] = [];
    for (const destination of dirty) {
      if (!this.#isLookedAfter(destination)) continue;
      const plan = this.#plan(destination, resolved.get(destination));
      deletes.push(...plan.deletes);
      if (plan.write === undefined) continue;
      const isOfForgotten = this.#toForget.has(destination.split("/")[0] ?? "");
      (isOfForgotten ? late : early).push({ destination, write: plan.write });
    }
    const refused = await this.#write(bySize(early));
    await this.#delete(deletes.filter(({ route }) => this.#mayGoWithout(route, refused)));
    await this.#forgetConnections();
    await this.#write(bySize(late));
  }

  /** With Ipv6Support off IPv6 is left alone: routes that were ours stay, as they do with the original. */
  #isLookedAfter(destination: string): boolean {
    const isLookedAfter = this.#settings.ways.families.includes(destination.includes(":") ? 6 : 4);
    if (!isLookedAfter) this.troubles.clear(destination);
    return isLookedAfter;
  }

  #plan(destination: string, resolved: Resolved | undefined) {
    this.troubles.clear(destination);
    const actual = this.picture.to(destination);
    const wanted = this.#wanted(destination, resolved, actual);
    const { ageMsOf, graceMs, clock } = this.#options;
    const isPassing = resolved?.is === "unroutable" && resolved.isPassing;
    const waiting = this.#isBirdsTurn(destination, resolved, actual)
      ? actual.filter((route) => this.#leadsToOwner(route, resolved))
      : [];
    const behind = stepBehind(waiting);
    const plan = planDestination({
      wanted: wanted ?? behind.wanted,
      actual,
      isOurs: (route) => this.#isOurs(route),
      isReplaceable: isBirds,
      mayGo: (route) => {
        if (isPassing && route.type === "unicast") return false;
        if (waiting.includes(route)) return behind.mayGo(route);
        // What the plugin has written for the same interface is ours by another name; else somebody may still be at work.
        if (wanted !== undefined && route.index === wanted.index) return true;
        if (route.index === undefined || this.#options.roleOf(route.index) !== "workload") return true;
        const leftMs = graceMs - ageMsOf(route.index);
        if (leftMs <= 0) return true;
        this.#inGrace.add(destination);
        this.#graceEndsMs = Math.min(this.#graceEndsMs, clock.monotonicMs() + leftMs);
        return false;
      },
    });
    if (wanted !== undefined && plan.write === undefined) this.troubles.right(destination);
    this.#noteShadow(destination, { wanted, resolved, actual });
    for (const { route } of plan.deletes) {
      const isOtherPods = this.#options.roleOf(route.index) === "workload" && route.index !== wanted?.index;
      if (isOtherPods) this.forget(destination);
    }
    return plan;
  }

  /** Whether BIRD is to write the route, and may still do so in time. */
  #isBirdsTurn(destination: string, resolved: Resolved | undefined, actual: readonly Route[]): boolean {
    const isWritten = actual.some((route) => isBirds(route) && route.type === "unicast");
    if (resolved?.is !== "left to BGP" || isWritten || !actual.some((route) => this.#leadsToOwner(route, resolved))) {
      this.#waitsForBird.delete(destination);
      return false;
    }
    const nowMs = this.#options.clock.monotonicMs();
    const sinceMs = this.#waitsForBird.get(destination) ?? nowMs;
    this.#waitsForBird.set(destination, sinceMs);
    if (nowMs >= sinceMs + birdsTurnMs) return false;
    this.#birdsTurnEndsMs = Math.min(this.#birdsTurnEndsMs, sinceMs + birdsTurnMs);
    return true;
  }

  /** A route of ours to the owner of a block: through a tunnel, or by its address. */
  #leadsToOwner(route: Route, resolved: Resolved | undefined): boolean {
    if (route.type !== "unicast" || resolved?.is !== "left to BGP" || !this.#isOurs(route)) return false;
    const role = this.#options.roleOf(route.index);
    return role === "tunnel" || route.gateway === resolved.address;
  }

  /** Somebody else's route to the same destination that the kernel prefers: then ours, or BIRD's, is there and does nothing. */
  #noteShadow(
    destination: string,
    of: { wanted: NewRoute | undefined; resolved: Resolved | undefined; actual: readonly Route[] },
  ): void {
    const { wanted, resolved, actual } = of;
    const isLeft = resolved?.is === "left to BGP";
    if (wanted === undefined && !isLeft) return;
    const metrics = isLeft
      ? actual.filter(isBirds).map(({ family, metric }) => metricOf(family, metric))
      : [metricOf(destination.includes(":") ? "inet6" : "inet", wanted?.metric)];
    const shadow = actual.find(
      (route) =>
        !this.#isOurs(route) &&
        !isBirds(route) &&
        route.protocol !== bridgeProtocol &&
        metricOf(route.family, route.metric) < Math.min(...metrics),
    );
    if (shadow === undefined || metrics.length === 0) return;
    const hop = shadow.gateway === undefined ? "" : ` to ${shadow.gateway}`;
    const why = `a route that is not ours (protocol ${shadow.protocol}${hop}) goes before the one that it should have: ip route show it, and remove it`;
    if (this.troubles.note(destination, { is: "lacking", why }))
      this.#options.log.warn("A route of somebody else goes before ours", { destination, reason: why });
  }

  #wanted(destination: string, resolved: Resolved | undefined, actual: readonly Route[]): NewRoute | undefined {
    if (resolved?.is !== "left to BGP") this.hops.forget(destination);
    if (resolved === undefined) return undefined;
    if (resolved.is === "unroutable") {
      this.troubles.note(destination, { is: resolved.lacks === "ours" ? "lacking" : "told", why: resolved.why });
      return undefined;
    }
    if (resolved.is === "left to BGP") {
      const birds = actual.filter((route) => isBirds(route) && route.type === "unicast");
      if (birds.length === 0) this.hops.forget(destination);
      else this.hops.see(destination, resolved.address, birds);
      const why =
        birds.length === 0 ? `BIRD has no route to it (node ${resolved.node})` : this.hops.wrongWith(destination);
      if (why !== undefined) this.troubles.note(destination, { is: "lacking", why });
      return undefined;
    }
    const kernel = toKernel(destination, resolved, this.#options.links, this.#settings);
    if (kernel.is === "route") return kernel.route;
    // A workload's interface comes and goes with its pod, and its route with it.
    if (resolved.way.is !== "workload") this.troubles.note(destination, { is: "lacking", why: kernel.why });
    return undefined;
  }

  /** What was to take a route's place, and could not, does not lead anywhere. A pod's interface is another matter: it may be another pod's address now. */
  #mayGoWithout(route: Route, refused: ReadonlySet<string>): boolean {
    return !refused.has(route.destination) || this.#options.roleOf(route.index) === "workload";
  }

  /** The destinations whose routes the kernel refused. */
  async #write(planned: readonly Planned[]): Promise<ReadonlySet<string>> {
    const refused = new Set<string>();
    if (planned.length === 0) return refused;
    const outcomes = await this.#options.netlink.changeAll(planned.map(({ write }) => write));
    let isOccupied = false;
    for (const [i, first] of outcomes.entries()) {
      const { destination, write } = planned[i] as Planned; // one outcome for each
      const outcome = isMisled(first, write.route) ? await writeWithHelp(this.#options.netlink, write) : first;
      if (outcome.is === "done") {
        this.troubles.right(destination);
        this.counts.written += 1;
        continue;
      }
      this.counts.refused += 1;
      refused.add(destination);
      const isTaken = kernelErrno(outcome.error) === "EEXIST";
      isOccupied ||= isTaken;
      const why = isTaken
        ? "a route that is not ours has its place: ip route show it, and remove it"
        : outcome.error.message;
      if (this.troubles.note(destination, { is: "failed", why })) {
        this.#options.log.warn("A route cannot be written", { destination, reason: why });
      }
    }
    // Perhaps the place is taken by one of ours that we have not heard of.
    if (isOccupied) await this.load(this.#resolved);
    this.#scheduleRetry();
    return refused;
  }

  async #delete(deletes: readonly { change: KernelChange; route: Route }[]): Promise<void> {
    if (deletes.length === 0) return;
    const outcomes = await this.#options.netlink.changeAll(deletes.map(({ change }) => change));
    for (const [i, outcome] of outcomes.entries()) {
      const route = deletes[i]?.route;
      if (route === undefined) continue;
      if (outcome.is === "done" || kernelErrno(outcome.error) === "ESRCH" || kernelErrno(outcome.error) === "ENODEV") {
        this.counts.deleted += 1;
        continue;
      }
      this.counts.refused += 1;
      this.troubles.note(route.destination, { is: "failed", why: outcome.error.message });
    }
    this.#scheduleRetry();
  }

  async #forgetConnections(): Promise<void> {
    if (this.#toForget.size === 0) return;
    const addresses = [...this.#toForget];
    this.#toForget.clear();
    try {
      this.counts.forgotten += await this.#options.conntrack.forget(addresses);
    } catch (error) {
      this.#options.log.warn("Connections of addresses that have gone are not forgotten", {
        addresses: addresses.slice(0, 10),
        reason: messageOf(error),
      });
    }
  }

  #scheduleRetry(): void {
    if (!this.troubles.hasFailed) {
      this.#retryDelayMs = retryMs.least;
      this.#retryAtMs = Number.POSITIVE_INFINITY;
      return;
    }
    this.#retryAtMs = this.#options.clock.monotonicMs() + this.#retryDelayMs;
    this.#retryDelayMs = Math.min(this.#retryDelayMs * 2, retryMs.most);
  }

  #isOurs(route: Route): boolean {
    return isOurs(route, this.#options.roleOf(route.index), this.#settings);
  }
}

/** The smallest networks first: when a block changes hands, addresses that stay where they are have routes of their own before it leads elsewhere. */
function bySize(planned: readonly Planned[]): readonly Planned[] {
  const length = ({ destination }: Planned) => Number(destination.split("/")[1]);
  return planned.toSorted((a, b) => length(b) - length(a));
}
