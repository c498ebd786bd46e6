// The part of the agent that keeps a node's routes: what the feed says goes into the calculation, what the kernel tells goes into the
// pictures, and after each the keeper makes the one like the other. Nothing is touched before the data is whole, and nothing at the end.
//
//   feed ──▶ calculation ┐
//   settings ────────────┼─▶ wake ─▶ keep() ─▶ health, metrics        one at a time; what comes meanwhile is the next one's
//   kernel's notifications┘
import { type Clock, messageOf, passAbort } from "../../base/lib/index.ts";
import { openConntrack, openNetlink, openNotifications } from "../../base/linux/kernel.ts";
import type { FeedState, Part, PartWorld } from "../part/index.ts";
import { Keeper } from "./keeper.ts";
import type { RouteReporter } from "./report.ts";
import { type Bgp, readRouteSettings } from "./settings.ts";
import type { AskBird } from "./tracking/bgp-hops.ts";

export type RoutesOptions = {
  /** Who speaks BGP here: what decides who writes the routes of pools without encapsulation. */
  readonly bgp: Bgp;
  /** The path of the network namespace that is the node's; its own where none is named. */
  readonly namespace?: string | undefined;
  /** Where the CNI plugin looks the MTU up; undefined: /var/lib/calico/mtu; false: nowhere. */
  readonly mtuFile?: string | false | undefined;
  /** How long routes that nobody wants stay on a new interface: the CNI plugin may still be at work. */
  readonly graceMs?: number;
  /** Which routes BIRD has, and from whom; undefined: it is not asked. */
  readonly askBird?: AskBird | undefined;
  /** How long a tunnel stays that no pool needs: other nodes may hear of it later. */
  readonly lingerMs?: number;
  /** Tells whoever asks what the keeper knows. */
  readonly reporter?: RouteReporter;
};

const tickMs = 5_000;

export function routesPart(options: RoutesOptions): Part {
  return { name: "routes", run: (world, signal) => run(options, world, signal) };
}

async function run(options: RoutesOptions, world: PartWorld, signal: AbortSignal): Promise<void> {
  const { namespace, mtuFile = "/var/lib/calico/mtu", graceMs = 10_000, lingerMs = 60_000 } = options;
  const { clock, log, settings: live } = world;
  const stop = new AbortController();
  using _passing = passAbort(signal, stop);
  await using netlink = openNetlink({ namespace });
  await using conntrack = openConntrack({ namespace });
  // Opened before anything is listed: from here on nothing is missed.
  const subjects = ["link", "address", "route", "neighbour", "sysctl"] as const;
  await using notifications = openNotifications(subjects, { namespace, signal: stop.signal });
  let settings = readRouteSettings(live, options.bgp);
  log.info("Routes of pools without encapsulation", { by: settings.ways.plain, because: settings.plainBecause });
  const bell = new WakeBell(clock);
  let feed: FeedState = { inSync: false };
  let mustLoad = true;
  const hear = (): void => {
    for (const notification of notifications.take()) {
      if (notification.is === "lost") {
        log.warn("The kernel told more than could be read: everything is listed again", { reason: notification.why });
        mustLoad = true;
        bell.ring();
      } else if (keeper.heard(notification)) bell.ring();
    }
  };
  const file = mtuFile === false ? undefined : mtuFile;
  const keeper = new Keeper(
    {
      ...{ node: world.node, netlink, conntrack, namespace, clock, log, graceMs, lingerMs, hear },
      ...{ mtuFile: file, askBird: options.askBird, hasNoBird: options.bgp === "none" },
    },
    settings,
  );
  using _reported = options.reporter?.attach(keeper);
  using _settings = live.onChange(() => {
    settings = readRouteSettings(live, options.bgp);
    keeper.configure(settings);
    bell.ring();
  });
  using _feed = world.feed.follow("felix", {
    set: (path, value) => keeper.calculation.set(path, value),
    delete: (path) => keeper.calculation.delete(path),
    settled(state) {
      // Most of what others do changes no route of this node.
      const isSame = state.inSync === feed.inSync && state.cutOff === feed.cutOff;
      feed = state;
      if (!isSame || keeper.calculation.isDirty) bell.ring();
    },
  });
  world.health.report({ ready: false, detail: "waiting for the cluster's data" });

  const listening = (async () => {
    while (!stop.signal.aborted) {
      await notifications.wait();
      if (!stop.signal.aborted) hear();
    }
  })();
  let checking: Promise<void> | undefined;
  const checkHops = (): void => {
    checking ??= keeper.checkHops(stop.signal).finally(() => {
      checking = undefined;
      bell.ring();
    });
    checking.catch(messageOf); // whoever waits for it hears of it
  };
  const keeping = (async () => {
    let [refreshAtMs, tickAtMs] = [0, 0];
    while (!stop.signal.aborted) {
      const nowMs = clock.monotonicMs();
      if (nowMs >= tickAtMs) {
        keeper.tick();
        tickAtMs = nowMs + tickMs;
      }
      if (feed.inSync) {
        if (mustLoad || nowMs >= refreshAtMs) {
          mustLoad = false;
          await keeper.load();
          refreshAtMs = nowMs + settings.refreshIntervalMs;
        }
        await keeper.keep();
        if (clock.monotonicMs() >= keeper.hopsDueMs) checkHops();
        report(world, keeper, feed);
      }
      await bell.wait(Math.min(tickAtMs, refreshAtMs, keeper.dueMs, keeper.hopsDueMs), stop.signal);
    }
  })();
  try {
    await Promise.race([listening, keeping]);
  } finally {
    stop.abort();
    bell.ring();
    await Promise.allSettled([listening, keeping, checking]);
  }
}

function report({ health, metrics, settings }: PartWorld, keeper: Keeper, feed: FeedState): void {
  const worst = keeper.routes.troubles.worst();
  const isReady = keeper.problem === undefined && (worst?.isReady ?? true);
  const detail =
    keeper.problem ?? worst?.detail ?? (feed.cutOff === undefined ? "" : `data may be old: ${feed.cutOff}`);
  // The original is ready whatever became of single routes; whoever wants that says so.
  const isLenient = settings.raw("ReadinessRule")?.toLowerCase() === "original";
  health.report({ ready: isReady || isLenient, detail });
  const { counts, picture } = keeper.routes;
  metrics.set("felix_route_table_num_routes", undefined, picture.size);
  metrics.set("felix_route_table_num_ifaces", undefined, picture.interfaces);
  for (const seconds of keeper.routes.takeListings())
    metrics.observe("felix_route_table_resync_seconds", undefined, seconds);
  metrics.set("cattail_routes_written", undefined, counts.written);
  metrics.set("cattail_routes_deleted", undefined, counts.deleted);
  metrics.set("cattail_routes_refused", undefined, counts.refused);
}

const putOff = new Error("put off"); // a reason made once: without one, abort() makes an exception with a stack

/** Rings are gathered: one that comes while somebody works is heard when he waits again. */
class WakeBell {
  readonly #clock: Clock;
  #isRung = false;
  #wake: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  async wait(untilMs: number, signal: AbortSignal): Promise<void> {
    if (!this.#isRung && !signal.aborted) {
      const timer = new AbortController();
      const rung = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const late = this.#clock
        .sleep(Math.min(untilMs - this.#clock.monotonicMs(), 2 ** 31 - 1), timer.signal)
        .catch(messageOf); // put off
      await Promise.race([rung, late]);
      timer.abort(putOff);
      this.#wake = undefined;
    }
    // What belongs together arrives together: the rest of a batch of notifications is read first.
    await new Promise((resolve) => setImmediate(resolve));
    this.#isRung = false;
  }
}
