// BIRD 2 replaces an IPv4 route of the kernel by the same destination and metric. When the route that it prefers gets another metric (another
// priority: a filter says so, or the router that had the better one has gone), the one from before stays beside it, and goes first if its
// metric is the smaller one: to a router that has withdrawn it. BIRD itself never looks at it again. So whoever told BIRD of metrics
// tidies up: of several routes of BIRD to one destination the one with the metric that BIRD's best route has is right.
import { type Log, messageOf } from "../../../base/lib/index.ts";
import {
  isKernelReachable,
  type KernelChange,
  mainTable,
  type Notifications,
  openNetlink,
  openNotifications,
  type Route,
} from "../../../base/linux/kernel.ts";
import { isOfBird } from "../../../calico/routing/index.ts";
import type { BirdLine } from "../control-socket.ts";
import { highestPriority } from "../model/intent.ts";

export type OtherMetricsOptions = {
  readonly log: Log;
  readonly signal: AbortSignal;
  /** BIRD's answer to `show route DESTINATION all`. */
  readonly ask: (destination: string) => Promise<readonly BirdLine[]>;
  /** The path of the node's network namespace; its own where none is named. */
  readonly namespace?: string | undefined;
};

export class OtherMetrics implements AsyncDisposable {
  readonly #options: OtherMetricsOptions;
  #notifications: Notifications | undefined;
  /** BIRD has written something since the kernel's routes were looked at. */
  #isDirty = true;

  constructor(options: OtherMetricsOptions) {
    this.#options = options;
  }

  /** Costs nothing while BIRD writes no routes. Never fails: the next time it is tried again. */
  async clear(): Promise<void> {
    if (!isKernelReachable()) return;
    try {
      this.#hear();
      if (!this.#isDirty) return;
      this.#isDirty = false;
      await this.#clear();
    } catch (error) {
      this.#isDirty = true;
      this.#options.log.debug("Routes of BIRD with other metrics are not looked for", { reason: messageOf(error) });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#notifications?.[Symbol.asyncDispose]();
  }

  #hear(): void {
    const { namespace, signal } = this.#options;
    this.#notifications ??= openNotifications(["route"], { namespace, signal });
    for (const told of this.#notifications.take()) {
      if (told.is === "lost" || ("route" in told && told.is === "set" && isBirds(told.route))) this.#isDirty = true;
    }
  }

  async #clear(): Promise<void> {
    const { namespace, log, ask } = this.#options;
    await using netlink = openNetlink({ namespace });
    const routes = (await netlink.routes({ table: mainTable, family: "inet" })).filter(isBirds);
    const several = [...Map.groupBy(routes, ({ destination }) => destination)].filter(([, all]) => all.length > 1);
    const wrong: Route[] = [];
    for (const [destination, all] of several) {
      const metric = metricOf(await ask(destination));
      // Only beside the right one: BIRD may just be at work.
      if (all.some((route) => (route.metric ?? 0) === metric))
        wrong.push(...all.filter((route) => (route.metric ?? 0) !== metric));
      else this.#isDirty = true;
    }
    if (wrong.length === 0) return;
    await netlink.changeAll(wrong.map(deleted));
    log.info("Routes of BIRD with a metric from before are removed", {
      routes: wrong.length,
      first: wrong[0]?.destination,
    });
  }
}

/** What the kernel's filter (render/filter-text.ts) gives BIRD's best route. Undefined: it has none. */
export function metricOf(lines: readonly BirdLine[]): number | undefined {
  let isBest = false;
  let isOfBgp = false;
  for (const { text } of lines) {
    const [, flag] = /\[\S+ [^\]]*\]( \*)?/.exec(text) ?? [];
    if (/\[\S+ [^\]]*\]/.test(text)) {
      if (isBest) break;
      isBest = flag !== undefined;
      continue;
    }
    if (!isBest) continue;
    isOfBgp ||= /^\s*Type: BGP/.test(text);
    const [, preference] = /^\s*BGP\.local_pref: (\d+)/.exec(text) ?? [];
    if (preference !== undefined) return Math.max(1, highestPriority - Number(preference));
  }
  return isBest && !isOfBgp ? 0 : undefined;
}

const isBirds = ({ protocol }: Route): boolean => isOfBird(protocol);

function deleted({ destination, table, protocol, type, metric, gateway, index, hops }: Route): KernelChange {
  const way =
    type !== "unicast"
      ? {}
      : hops === undefined
        ? { ...(gateway && { gateway }), ...(index !== undefined && { index }) }
        : { hops };
  return { do: "delete", route: { destination, table, protocol, type, ...way, ...(metric && { metric }) } };
}
