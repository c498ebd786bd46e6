// The EndpointSlices of one service, asked for once: how clients find their servers. A list in one namespace by label,
// so that it needs no right beyond that; identity and connection are made for the question and go with it.
import { type Clock, type Log, silentLog, systemClock } from "../../../base/lib/index.ts";
import { ApiClient } from "./api-client.ts";
import { readPages } from "./list.ts";
import { loadIdentity } from "./load-identity.ts";
import { RateLimit } from "./rate-limit.ts";
import { defaultClientBurst, defaultClientQps, type KubernetesSettings } from "./settings.ts";

export type ServiceName = { readonly namespace: string; readonly service: string };

/** Parsed JSON whose shape nobody has checked. */
export async function listServiceSlices(
  { namespace, service }: ServiceName,
  options: { settings: KubernetesSettings; signal?: AbortSignal; clock?: Clock; log?: Log },
): Promise<unknown[]> {
  const { settings, signal, clock = systemClock, log = silentLog } = options;
  const rateLimit = new RateLimit(clock, { perSecond: defaultClientQps, burst: defaultClientBurst });
  using client = new ApiClient({ clock, log, rateLimit, load: () => loadIdentity(settings) });
  const query = { labelSelector: `kubernetes.io/service-name=${service}` };
  const path = `/apis/discovery.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/endpointslices`;
  const pages = await Array.fromAsync(readPages({ client, path, query, signal }));
  return pages.flatMap(({ items }) => items);
}
