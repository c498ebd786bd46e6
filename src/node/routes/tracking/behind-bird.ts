// A route of ours that waits for BIRD's must not stand in its place. An IPv6 route of ours has the kernel's own metric, 1024, and so has BIRD's; a new
// IPv6 route BIRD adds only where the place is free (NLM_F_EXCL), and tries again every two seconds. So it would wait for us to go, and we for it to
// come, until we give up and nobody has a route. Ours steps behind every metric that BIRD gives, and packets always have one of them
// (test/system/node-bgp-families.test.ts):
//
//   tunnel, 1024 ─▶ tunnel, 1024; tunnel, behind ─▶ tunnel, behind ─▶ BIRD's, 1024; tunnel, behind ─▶ BIRD's, 1024
//
// IPv4 has no need of it: ours have the metric 0, which BIRD's never have. Protocol and interface are as before, so whoever owns our routes owns
// these too: an agent that comes after us, and the original.
import type { NewRoute, Route } from "../../../base/linux/kernel.ts";
import { highestBirdMetric } from "../../../calico/routing/index.ts";
import { isAsWanted, metricOf } from "./kernel-route.ts";

/** Before the routes that BIRD's part keeps for a moment (node/bird/part/bridge.ts): those have the greater metric. */
const behindMetric = highestBirdMetric + 2 ** 29;

export type Waiting = {
  /** What is to be in the kernel next; undefined: nothing is in BIRD's way. */
  readonly wanted: NewRoute | undefined;
  /** Not before what takes its place is there. */
  readonly mayGo: (route: Route) => boolean;
};

/** `waiting`: the routes of ours to one destination that wait for BIRD's. */
export function stepBehind(waiting: readonly Route[]): Waiting {
  const inItsWay = waiting.find(isInBirdsWay);
  if (inItsWay === undefined) return { wanted: undefined, mayGo: () => false };
  const wanted = behind(inItsWay);
  const isThere = waiting.some((route) => isAsWanted(route, wanted));
  return { wanted, mayGo: (route) => isThere && route === inItsWay };
}

/** One with several hops is none that we have written, and stays as it is. */
function isInBirdsWay({ family, metric, hops }: Route): boolean {
  const own = metricOf(family, metric);
  return own !== 0 && own <= highestBirdMetric && hops === undefined;
}

function behind({ destination, table, type, protocol, gateway, index, onlink, mtu, source }: Route): NewRoute {
  return {
    ...{ destination, table, type, protocol, metric: behindMetric },
    ...(gateway !== undefined && { gateway }),
    ...(index !== undefined && { index }),
    ...(onlink !== undefined && { onlink }),
    ...(mtu !== undefined && { mtu }),
    ...(source !== undefined && { source }),
  };
}
