// The routes of a node, kept by the part itself as the agent would run it; and what the kernel then has, as lines to compare.
import { type Log, silentLog, systemClock } from "../../../src/base/lib/index.ts";
import { mainTable, openNetlink } from "../../../src/base/linux/kernel.ts";
import { createMetrics } from "../../../src/base/observe/index.ts";
import type { LiveSettings } from "../../../src/node/part/index.ts";
import { type RoutesOptions, routesPart } from "../../../src/node/routes/index.ts";
import type { TestCluster } from "./cluster.ts";
import type { TestNode } from "./network.ts";

export class TestSettings implements LiveSettings {
  readonly #values: Map<string, string>;
  readonly #listeners = new Set<(names: readonly string[]) => void>();

  constructor(values: { readonly [name: string]: string } = {}) {
    this.#values = new Map(Object.entries(values).map(([name, value]) => [name.toLowerCase(), value]));
  }

  raw(name: string): string | undefined {
    return this.#values.get(name.toLowerCase());
  }

  onChange(listener: (names: readonly string[]) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), value);
    for (const listener of this.#listeners) listener([name]);
  }
}

export type RunningRoutes = AsyncDisposable & {
  readonly settings: TestSettings;
  health(): { readonly ready: boolean; readonly detail: string };
};

export type RunningOptions = Partial<RoutesOptions> & {
  readonly settings?: { readonly [name: string]: string };
  readonly log?: Log;
  readonly delayMs?: number;
};

/** Ends with what it is given back; a failure of the part is thrown there. */
export function runRoutes(node: TestNode, cluster: TestCluster, options: RunningOptions = {}): RunningRoutes {
  const { settings: values, log = silentLog, delayMs, ...rest } = options;
  const settings = new TestSettings(values);
  const stop = new AbortController();
  let health = { ready: false, detail: "not started" };
  const part = routesPart({ bgp: "none", namespace: node.namespace, mtuFile: false, ...rest });
  const running = part.run(
    {
      node: node.name,
      log,
      clock: systemClock,
      metrics: createMetrics({ table: {}, labels: {}, clock: systemClock }),
      health: {
        report: ({ ready = true, detail = "" }) => {
          health = { ready, detail };
        },
      },
      feed: cluster.feed(delayMs),
      settings,
      datastore: () => Promise.reject(new Error("routes need no datastore")),
    },
    stop.signal,
  );
  // Thrown at the end, too.
  running.catch((error) => {
    health = { ready: false, detail: `the part has failed: ${error}` };
  });
  return {
    settings,
    health: () => health,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

/** `10.0.0.0/26 via 172.30.0.2 dev eth0 proto 80 onlink`, sorted; without what the kernel puts there by itself. */
export async function kernelRoutes(namespace: string): Promise<string[]> {
  await using netlink = openNetlink({ namespace });
  const names = new Map((await netlink.links()).map(({ index, name }) => [index, name]));
  const routes = (await netlink.routes({ table: mainTable })).filter(
    ({ protocol, destination }) => protocol !== "kernel" && destination !== "0.0.0.0/0" && destination !== "::/0",
  );
  const line = (route: (typeof routes)[number]): string =>
    [
      route.type === "unicast" ? route.destination : `${route.type} ${route.destination}`,
      route.gateway && `via ${route.gateway}`,
      route.type === "unicast" && `dev ${names.get(route.index ?? 0)}`,
      `proto ${route.protocol}`,
      route.metric && (route.family === "inet" || route.metric !== 1024) && `metric ${route.metric}`,
      route.onlink && "onlink",
      route.mtu && `mtu ${route.mtu}`,
      route.source && `src ${route.source}`,
    ]
      .filter(Boolean)
      .join(" ");
  return routes.map(line).sort();
}
