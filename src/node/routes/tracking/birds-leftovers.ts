// What a BIRD that is gone for good has left: it leaves its routes in the kernel when it ends, and where no BIRD is configured any more nobody would
// ever remove them. One to a single address that another node had borrowed goes before ours to the whole block, and leads astray for ever.
// They go once, when no BIRD has answered for a minute: a route that comes later is of somebody who lives.
import type { Clock, Log } from "../../../base/lib/index.ts";
import { mainTable, type Netlink, type Route } from "../../../base/linux/kernel.ts";
import { bridgeProtocol } from "../../../calico/routing/index.ts";
import type { AskBird } from "./bgp-hops.ts";
import { isBirds } from "./ownership.ts";
import { deletionOf } from "./plan-destination.ts";

const silenceMs = 60_000;
const askEveryMs = 20_000;

type Options = {
  readonly netlink: Netlink;
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined: a BIRD is configured, or somebody else has to do with BGP here. */
  readonly ask: AskBird | undefined;
  /** Whether routes to that network are the agent's to write, and there is one where there should be. */
  readonly isLookedAfter: (destination: string) => boolean;
};

export class BirdsLeftovers {
  readonly #options: Options;
  #silentSinceMs: number | undefined;
  #dueMs: number;

  constructor(options: Options) {
    this.#options = options;
    this.#dueMs = options.ask === undefined ? Number.POSITIVE_INFINITY : 0;
  }

  get dueMs(): number {
    return this.#dueMs;
  }

  async check(signal: AbortSignal): Promise<void> {
    const { netlink, clock, log, ask } = this.#options;
    const nowMs = clock.monotonicMs();
    if (ask === undefined || nowMs < this.#dueMs) return;
    this.#dueMs = nowMs + askEveryMs;
    const told = await ask(signal);
    if (told[4] !== undefined || told[6] !== undefined) {
      this.#silentSinceMs = undefined;
      return;
    }
    this.#silentSinceMs ??= nowMs;
    if (nowMs < this.#silentSinceMs + silenceMs) return;
    const left = (await netlink.routes({ table: mainTable })).filter((route) => this.#isLeft(route));
    await netlink.changeAll(left.map(deletionOf));
    this.#dueMs = Number.POSITIVE_INFINITY;
    if (left.length === 0) return;
    log.info("Routes of a BIRD that is no longer there are removed", {
      routes: left.length,
      first: left[0]?.destination,
    });
  }

  #isLeft(route: Route): boolean {
    const isOfBird = isBirds(route) || route.protocol === bridgeProtocol;
    return isOfBird && this.#options.isLookedAfter(route.destination);
  }
}
