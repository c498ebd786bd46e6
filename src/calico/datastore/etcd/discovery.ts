// etcd's members by a domain: its SRV records name them, as etcd's own client looks for them. Both records count, and one of them is enough:
//
//   _etcd-client-ssl._tcp.DOMAIN ─▶ https://NAME:PORT        _etcd-client._tcp.DOMAIN ─▶ http://NAME:PORT
import { CattailError } from "../../../base/lib/index.ts";

export type ResolveSrv = (name: string) => Promise<readonly { readonly name: string; readonly port: number }[]>;

const services = [
  { service: "etcd-client-ssl", scheme: "https" },
  { service: "etcd-client", scheme: "http" },
] as const;

/** At least one. Throws CattailError. */
export async function endpointsOfDomain(domain: string, resolve: ResolveSrv = systemResolver): Promise<string[]> {
  const found = await Promise.allSettled(
    services.map(async ({ service, scheme }) => {
      const records = await resolve(`_${service}._tcp.${domain}`);
      return records.map(({ name, port }) => `${scheme}://${name}:${port}`);
    }),
  );
  const endpoints = found.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  if (endpoints.length > 0) return endpoints;
  const [failed = "there are no such records"] = found.flatMap((one) =>
    one.status === "rejected" ? [String(one.reason)] : [],
  );
  throw new CattailError("ETCD_DISCOVERY", {
    problem: `failed to discover etcd endpoints through SRV discovery: ${failed}`,
    next: `Look whether dig SRV _etcd-client-ssl._tcp.${domain} (or _etcd-client) has an answer here, or name the endpoints`,
  });
}

async function systemResolver(name: string) {
  const { resolveSrv } = await import("node:dns/promises");
  return await resolveSrv(name);
}
