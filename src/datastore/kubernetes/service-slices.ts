// The EndpointSlices of one service, asked for once: how clients find their servers. A list in one namespace by label,
// so that it needs no right beyond that; identity and connection are made for the question and go with it.
import { type Clock, type Log, silentLog, systemClock } from "../../lib/index.ts";
import { DatastoreError } from "../errors.ts";
import { isJsonObject, metadataOf } from "../identify.ts";
import { ApiClient } from "./api-client.ts";
import { loadIdentity } from "./load-identity.ts";
import { RateLimit } from "./rate-limit.ts";
import { apiLimits, defaultClientBurst, defaultClientQps, type KubernetesSettings } from "./settings.ts";

export type ServiceName = { readonly namespace: string; readonly service: string };

/** Parsed JSON whose shape nobody has checked. */
export async function listServiceSlices(
  { namespace, service }: ServiceName,
  options: { settings: KubernetesSettings; signal?: AbortSignal; clock?: Clock; log?: Log },
): Promise<unknown[]> {
  const { settings, signal, clock = systemClock, log = silentLog } = options;
  const rateLimit = new RateLimit(clock, { perSecond: defaultClientQps, burst: defaultClientBurst });
  using client = new ApiClient({ clock, log, rateLimit, load: () => loadIdentity(settings) });
  const query = new URLSearchParams({
    labelSelector: `kubernetes.io/service-name=${service}`,
    limit: `${apiLimits.pageItems}`,
  });
  const path = `/apis/discovery.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/endpointslices`;
  const slices: unknown[] = [];
  for (;;) {
    const answer = await client.json({ method: "GET", path: `${path}?${query}`, signal });
    const items = isJsonObject(answer) ? answer.items : undefined;
    if (!Array.isArray(items) && items !== null) throw new DatastoreError("invalid", `list ${path}: no items`);
    slices.push(...(items ?? []));
    const next = metadataOf(answer).continue;
    if (typeof next !== "string" || next === "") return slices;
    query.set("continue", next);
  }
}
