// Discovery as the original's clients do it: the Typha service's ready endpoints, those on our own node first, each
// group in random order. Pure; kubernetes-discovery.ts does the asking.
import { endpointsOf } from "../../../base/kube/index.ts";
import type { ServerAddress } from "./server-address.ts";

const portName = "calico-typha";

export function addressesOf(
  slices: readonly unknown[],
  options: { readonly localNode?: string; readonly random: () => number },
): ServerAddress[] {
  const found = slices.flatMap(readyAddresses);
  const isLocal = ({ node }: ServerAddress) => options.localNode !== undefined && node === options.localNode;
  return [
    ...shuffle(found.filter(isLocal), options.random),
    ...shuffle(
      found.filter((server) => !isLocal(server)),
      options.random,
    ),
  ];
}

function readyAddresses(slice: unknown): ServerAddress[] {
  const ready = (endpointsOf(slice, portName) ?? []).filter(({ isReady }) => isReady);
  return ready.map(({ isReady: _, ...address }) => address);
}

function shuffle<T>(items: T[], random: () => number): T[] {
  const shuffled = [...items];
  for (let index = shuffled.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    [shuffled[index], shuffled[other]] = [shuffled[other] as T, shuffled[index] as T]; // both are within bounds
  }
  return shuffled;
}
