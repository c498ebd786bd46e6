// Discovery as the original's clients do it: the Typha service's EndpointSlices, those on our own node first, each
// group in random order. Pure; kubernetes-discovery.ts does the asking.
import { isRecord } from "../../../calico/model/basics.ts";
import { isName, isPort } from "../options/check-options.ts";
import type { ServerAddress } from "./server-address.ts";

const portName = "calico-typha";

export function addressesOf(
  slices: readonly unknown[],
  options: { readonly localNode?: string; readonly random: () => number },
): ServerAddress[] {
  const found = slices.flatMap(addressesOfSlice);
  const isLocal = ({ node }: ServerAddress) => options.localNode !== undefined && node === options.localNode;
  return [
    ...shuffle(found.filter(isLocal), options.random),
    ...shuffle(
      found.filter((server) => !isLocal(server)),
      options.random,
    ),
  ];
}

function addressesOfSlice(slice: unknown): ServerAddress[] {
  if (!isRecord(slice)) return [];
  const port = list(slice.ports).find((candidate) => candidate.name === portName)?.port;
  if (!isPort(port)) return [];
  return list(slice.endpoints).flatMap((endpoint) => {
    const conditions = endpoint.conditions;
    // No word on readiness counts as ready.
    if (isRecord(conditions) && conditions.ready === false) return [];
    const node = endpoint.nodeName;
    const addresses = Array.isArray(endpoint.addresses) ? endpoint.addresses : [];
    return addresses.filter(isName).map((host) => ({ host, port, ...(typeof node === "string" ? { node } : {}) }));
  });
}

function list(value: unknown): { readonly [field: string]: unknown }[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function shuffle<T>(items: T[], random: () => number): T[] {
  const shuffled = [...items];
  for (let index = shuffled.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    [shuffled[index], shuffled[other]] = [shuffled[other] as T, shuffled[index] as T]; // both are within bounds
  }
  return shuffled;
}
