// Routes that BIRD writes: whether each leads where it should. To the address of the block's own node is right. Another hop may be right, too,
// behind a router or a route reflector that puts itself in between: then BIRD is asked, and the kernel has to have what BIRD has learned from
// one of its sessions.
import type { Clock, Family } from "../../../base/lib/index.ts";
import type { Route } from "../../../base/linux/kernel.ts";

/** A route as BIRD tells it. */
export type BirdRoute = {
  readonly destination: string;
  /** Undefined: it has none, as a blackhole. */
  readonly gateway: string | undefined;
  /** The protocol that it is from, and whether that is a BGP session that is up. */
  readonly from: string;
  readonly isOfSession: boolean;
  readonly isBest: boolean;
};

/** Undefined: the BIRD of that family does not answer. */
export type BirdRoutes = { readonly [family in Family]: readonly BirdRoute[] | undefined };

export type AskBird = (signal: AbortSignal) => Promise<BirdRoutes>;

const againMs = { wrong: 2_000, right: 30_000 };

export class BgpHops {
  readonly #clock: Clock;
  readonly #ask: AskBird | undefined;
  /** The hops in the kernel, by destination, where they are not the owner's address. */
  readonly #others = new Map<string, readonly string[]>();
  readonly #wrong = new Map<string, string>();
  #dueMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, ask: AskBird | undefined) {
    this.#clock = clock;
    this.#ask = ask;
  }

  get dueMs(): number {
    return this.#dueMs;
  }

  /** The destination is BIRD's; these are its routes to it, of which the first counts. */
  see(destination: string, owner: string | undefined, routes: readonly Route[]): void {
    const gateways = routes.flatMap(gatewaysOf);
    if (owner !== undefined && gateways.every((one) => one === owner)) {
      this.forget(destination);
      return;
    }
    if (this.#others.get(destination)?.join() === gateways.join()) return;
    this.#others.set(destination, gateways);
    if (this.#ask !== undefined) this.#dueMs = 0;
  }

  forget(destination: string): void {
    this.#others.delete(destination);
    this.#wrong.delete(destination);
    if (this.#others.size === 0) this.#dueMs = Number.POSITIVE_INFINITY;
  }

  forgetAll(): void {
    this.#others.clear();
    this.#wrong.clear();
    this.#dueMs = Number.POSITIVE_INFINITY;
  }

  /** Why it leads to the wrong place, as far as is known. */
  wrongWith(destination: string): string | undefined {
    return this.#wrong.get(destination);
  }

  /** Asks BIRD. Returns the destinations of which something else is known now. */
  async check(signal: AbortSignal): Promise<readonly string[]> {
    this.#dueMs = Number.POSITIVE_INFINITY;
    // That BIRD does not answer is the other part's to say.
    const told = await this.#ask?.(signal);
    const before = new Map(this.#wrong);
    this.#wrong.clear();
    for (const family of [4, 6] as const) {
      const ofFamily = told?.[family];
      if (ofFamily === undefined) continue;
      const byDestination = Map.groupBy(ofFamily, ({ destination }) => destination);
      for (const [destination, gateways] of this.#others) {
        if (destination.includes(":") !== (family === 6)) continue;
        const why = wrongHop(gateways, byDestination.get(destination) ?? []);
        if (why !== undefined) this.#wrong.set(destination, why);
      }
    }
    const waitMs = this.#wrong.size > 0 ? againMs.wrong : againMs.right;
    if (this.#others.size > 0) this.#dueMs = Math.min(this.#dueMs, this.#clock.monotonicMs() + waitMs);
    const all = new Set([...before.keys(), ...this.#wrong.keys()]);
    return [...all].filter((destination) => before.get(destination) !== this.#wrong.get(destination));
  }
}

function gatewaysOf({ gateway, hops }: Route): readonly string[] {
  if (hops !== undefined) return hops.flatMap((hop) => hop.gateway ?? []);
  return gateway === undefined ? [] : [gateway];
}

/** Undefined: the kernel has what BIRD has from its sessions. */
export function wrongHop(gateways: readonly string[], ofBird: readonly BirdRoute[]): string | undefined {
  const best = ofBird.filter(({ isBest }) => isBest);
  const [first] = best;
  if (first === undefined) return `BIRD has no route to it, and the kernel's leads to ${textOf(gateways)}`;
  if (!best.some(({ isOfSession }) => isOfSession))
    return `BIRD's route to it is from ${first.from}, which is no session that is up`;
  // With several equally good ones the kernel has all of them.
  const known = new Set(ofBird.filter(({ isOfSession }) => isOfSession).map(({ gateway }) => gateway));
  const isRight = gateways.length > 0 && gateways.every((one) => known.has(one));
  const hasBest = best.some(({ gateway }) => gateway !== undefined && gateways.includes(gateway));
  if (isRight && hasBest) return undefined;
  return `the kernel's route leads to ${textOf(gateways)}, BIRD's to ${textOf(best.flatMap(({ gateway }) => gateway ?? []))}`;
}

function textOf(gateways: readonly string[]): string {
  return gateways.length === 0 ? "no gateway" : [...new Set(gateways)].join(", ");
}
