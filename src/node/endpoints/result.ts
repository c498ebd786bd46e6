// What a runtime is told: the pod's interface and addresses, in the form of each version of the protocol; and what IPAM plugins answer, read
// from any of these forms.
import { isRecord, type JsonRecord, parseCidr } from "../../base/lib/index.ts";
import { EndpointError } from "./endpoint-error.ts";

export type Assigned = {
  /** Without masks, in the order given. */
  readonly addresses: readonly { readonly family: 4 | 6; readonly address: string }[];
  readonly routes: readonly JsonRecord[];
  /** Servers of names and such, of an IPAM plugin that knows some. */
  readonly dns?: JsonRecord;
};

export type PluggedIn = Assigned & {
  /** What the endpoint calls the interface, whatever the runtime does. */
  readonly endpoint: string;
  readonly hostSide: string;
  readonly ifname: string;
  readonly mac: string;
  /** 0: nobody said one. */
  readonly mtu: number;
  readonly sandbox: string;
};

/** One who names no version gets the second, as from the original. */
export const versionWhenUnsaid = "0.2.0";

export function resultOf(cniVersion: string, plugged: PluggedIn): JsonRecord {
  const { hostSide, ifname, mac, mtu, sandbox, addresses, routes, dns = {} } = plugged;
  if (cniVersion === "0.1.0" || cniVersion === "0.2.0") return { cniVersion, ...oldFamilies(plugged), dns };
  const isOld = cniVersion.startsWith("0.");
  const ips = addresses.map(({ family, address }) => ({
    ...(isOld ? { version: String(family) } : {}),
    interface: 1,
    address: networkOf(address),
  }));
  return {
    cniVersion,
    interfaces: [{ name: hostSide }, { name: ifname, mac, ...(isOld || mtu === 0 ? {} : { mtu }), sandbox }],
    ips,
    ...(routes.length === 0 ? {} : { routes }),
    ...(isOld || Object.keys(dns).length > 0 ? { dns } : {}),
  };
}

/** An address alone: /32 or /128. */
export function networkOf(address: string): string {
  return `${address}/${address.includes(":") ? 128 : 32}`;
}

function oldFamilies({ addresses, routes }: Assigned): JsonRecord {
  const families = addresses.map(({ family, address }) => {
    const own = routes.filter(({ dst }) => String(dst).includes(":") === (family === 6));
    return [`ip${family}`, { ip: networkOf(address), ...(own.length === 0 ? {} : { routes: own }) }] as const;
  });
  return Object.fromEntries(families);
}

/** Throws EndpointError where there is no address in it. */
export function readIpamAnswer(answer: unknown): Assigned {
  const value = isRecord(answer) ? answer : {};
  const old = [value.ip4, value.ip6].filter(isRecord);
  const ips = Array.isArray(value.ips) ? value.ips.filter(isRecord).map(({ address }) => address) : [];
  const addresses = [...ips, ...old.map(({ ip }) => ip)].map(addressOf);
  if (addresses.length === 0) throw new EndpointError("IPAM plugin returned missing IP config");
  const lists = [value.routes, ...old.map(({ routes }) => routes)];
  const routes = lists.flatMap((list) => (Array.isArray(list) ? list.filter(isRecord) : []));
  mustBeRoutes(routes);
  return { addresses, routes, ...(isRecord(value.dns) ? { dns: value.dns } : {}) };
}

/** A runtime would not understand them: the pod would have its network, and be taken off again. */
function mustBeRoutes(routes: readonly JsonRecord[]): void {
  const stranger = routes.find(({ dst }) => typeof dst !== "string" || parseCidr(dst) === undefined);
  if (stranger !== undefined) throw new EndpointError(`invalid CIDR address: ${String(stranger.dst).slice(0, 80)}`);
}

function addressOf(text: unknown): Assigned["addresses"][number] {
  const cidr = typeof text === "string" ? parseCidr(text) : undefined;
  if (cidr === undefined)
    throw new EndpointError(`invalid CIDR address: ${String(text).slice(0, 80)}`, {
      next: "the IPAM plugin answered with an address that is none",
    });
  return { family: cidr.ip.version, address: String(text).replace(/\/\d+$/, "") };
}
