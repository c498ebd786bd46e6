// Numbers by which the kernel's routes say who has written them, and how those stand to BIRD's, as far as more than one part of a node has to know
// them.

/** Routes of BGP sessions that start anew, kept until BIRD has them again. */
export const bridgeProtocol = 81;

/** The greatest metric that BIRD gives a route: Calico's priorities end there. What lies beyond never stands in BIRD's place, nor before it. */
export const highestBirdMetric = 2 ** 31 - 1;

/** Of a route that BIRD has written, by name or by number. */
export function isOfBird(protocol: string | number | undefined): boolean {
  return protocol === "bird" || protocol === 12;
}

const bootProtocol = 3;
const ownProtocol = 80;

/**
 * Of the agent's routes that are not by an interface of Calico's: DeviceRouteProtocol, but not `boot`, which others use, too. Whoever reads the routes (BIRD)
 * and whoever writes them must mean the same one. 0, or no number: nothing is said.
 */
export function routeProtocol(deviceRouteProtocol: number): number {
  return deviceRouteProtocol > 0 && deviceRouteProtocol !== bootProtocol ? deviceRouteProtocol : ownProtocol;
}
