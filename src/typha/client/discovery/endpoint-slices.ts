// Discovery as the original's clients do it: the Typha service's ready endpoints, those on our own node first, each
// group in random order. Pure; kubernetes-discovery.ts does the asking.
import { endpointsOf } from "../../../base/kube/index.ts";
import { shuffled } from "../../../base/lib/index.ts";
import type { ServerAddress } from "./server-address.ts";

const portName = "calico-typha";

export function addressesOf(
  slices: readonly unknown[],
  options: { readonly localNode?: string; readonly random: () => number },
): ServerAddress[] {
  const found = slices.flatMap(readyAddresses);
  const isLocal = ({ node }: ServerAddress) => options.localNode !== undefined && node === options.localNode;
  return [
    ...shuffled(found.filter(isLocal), options.random),
    ...shuffled(
      found.filter((server) => !isLocal(server)),
      options.random,
    ),
  ];
}

function readyAddresses(slice: unknown): ServerAddress[] {
  const ready = (endpointsOf(slice, portName) ?? []).filter(({ isReady }) => isReady);
  return ready.map(({ isReady: _, ...address }) => address);
}
