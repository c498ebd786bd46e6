// The endpoints of a Service, as its EndpointSlices tell them: asked for once, or read from slices that came otherwise.
import { type Clock, isRecord, type JsonRecord, type Log, silentLog, systemClock } from "../lib/index.ts";
import { ApiClient } from "./api-client.ts";
import { readPages } from "./list.ts";
import { metadataOf } from "./object-metadata.ts";
import type { KubeSettings } from "./settings.ts";

export type ServiceName = { readonly namespace: string; readonly service: string };

export type Endpoint = {
  readonly host: string;
  readonly port: number;
  /** No word on readiness counts as ready. */
  readonly isReady: boolean;
  readonly node?: string;
};

const serviceLabel = "kubernetes.io/service-name";

/**
 * Parsed JSON whose shape nobody has checked. A list in one namespace by label, so that it needs no right beyond that;
 * identity and connection are made for the question and go with it.
 */
export async function listServiceSlices(
  { namespace, service }: ServiceName,
  options: { settings: KubeSettings; signal?: AbortSignal; clock?: Clock; log?: Log },
): Promise<unknown[]> {
  const { settings, signal, clock = systemClock, log = silentLog } = options;
  using client = new ApiClient(settings, { clock, log });
  const query = { labelSelector: `${serviceLabel}=${service}` };
  const path = `/apis/discovery.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/endpointslices`;
  const pages = await Array.fromAsync(readPages({ client, path, query, signal }));
  return pages.flatMap(({ items }) => items);
}

/** The name of the Service that a slice is of. */
export function serviceOf(slice: unknown): string | undefined {
  const { labels } = metadataOf(slice);
  const name = isRecord(labels) ? labels[serviceLabel] : undefined;
  return typeof name === "string" ? name : undefined;
}

/** Those at the port of this name. Undefined: what is no slice, or has no such port. */
export function endpointsOf(slice: unknown, portName: string): Endpoint[] | undefined {
  if (!isRecord(slice)) return undefined;
  const port = records(slice.ports).find((candidate) => candidate.name === portName)?.port;
  if (!isPort(port)) return undefined;
  return records(slice.endpoints).flatMap(({ addresses, conditions, nodeName }) => {
    const isReady = !isRecord(conditions) || conditions.ready !== false;
    const node = typeof nodeName === "string" ? { node: nodeName } : {};
    const hosts = Array.isArray(addresses) ? addresses.filter((host) => typeof host === "string" && host !== "") : [];
    return hosts.map((host: string) => ({ host, port, isReady, ...node }));
  });
}

function isPort(port: unknown): port is number {
  return typeof port === "number" && Number.isInteger(port) && port > 0 && port < 65_536;
}

function records(value: unknown): JsonRecord[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
