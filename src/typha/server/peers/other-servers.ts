// The other servers of this cluster that could take our clients: those the Typha service lists as ready, and those the
// settings name.
import { networkInterfaces } from "node:os";
import type { Endpoint } from "../../../base/kube/index.ts";
import type { Settings } from "../../settings/index.ts";
import type { Server } from "../serve.ts";
import type { Peer } from "./evacuation.ts";
import type { TyphaService } from "./typha-service.ts";

/** Where we ourselves are: the service lists us, too. */
export type Own = { readonly hosts: ReadonlySet<string>; readonly port: number };

export function otherServers(of: {
  settings: Pick<Settings, "peerAddresses">;
  service: Pick<TyphaService, "peers">;
  own: Own;
}): Peer[] {
  return others(of, (endpoint) => endpoint.isReady);
}

/** All that may have clients: one that is not ready keeps those it has. */
export function everyOtherServer(of: Parameters<typeof otherServers>[0]): Peer[] {
  return others(of, () => true);
}

function others({ settings, service, own }: Parameters<typeof otherServers>[0], isMeant: (one: Endpoint) => boolean) {
  const known = [...service.peers().filter(isMeant), ...settings.peerAddresses.map(parseAddress)];
  return known.flatMap(({ host, port }) => (own.hosts.has(host) && port === own.port ? [] : [{ host, port }]));
}

export function ownAddresses({ serverHost }: Pick<Settings, "serverHost">, { address }: Pick<Server, "address">): Own {
  const local = Object.values(networkInterfaces()).flatMap((list) => list?.map((one) => one.address) ?? []);
  return { hosts: new Set([...local, serverHost]), port: address.port };
}

/** Of the form that the settings have let through: host:port, IPv6 in brackets. */
function parseAddress(text: string): Peer {
  const at = text.lastIndexOf(":");
  return { host: text.slice(0, at).replace(/^\[(.*)\]$/, "$1"), port: Number(text.slice(at + 1)) };
}
