// How a node finds its own address: a method, the host's interfaces, and what Kubernetes says of the node. Everything here is a function of these, but
// for can-reach, which asks the kernel for the way to a host.
import { createSocket } from "node:dgram";
import {
  type AddressRange,
  type Family,
  holds,
  type Log,
  messageOf,
  parseAddress,
  parseCidr,
  parseRange,
  rangeText,
} from "../../../base/lib/index.ts";
import { startupError } from "../startup-error.ts";
import { type HostInterface, internalInterfaces, named } from "./interfaces.ts";

export type DetectWorld = {
  readonly interfaces: readonly HostInterface[];
  /** Of the Kubernetes Node, in its order; undefined: there is no Kubernetes. */
  readonly internalIps: readonly string[] | undefined;
  /** The address that a packet to the host would leave from. */
  readonly reach: (host: string, family: Family) => Promise<string>;
  readonly log: Log;
};

/** ADDRESS/LENGTH; undefined: nothing found, which has been said. Throws StartupError for a method that is none. */
export async function detectAddress(method: string, family: Family, world: DetectWorld): Promise<string | undefined> {
  const { log } = world;
  const [name = "", rest = ""] = /^([a-z-]+=)(.*)$/s.exec(method)?.slice(1) ?? [];
  if (method === "" || method === "first-found") {
    const found = find(family, world, { exclude: internalInterfaces });
    if (found.is === "none") return missed(log, `Unable to auto-detect an IPv${family} address: ${found.why}`);
    log.info(`Using autodetected IPv${family} address on interface ${found.name}: ${found.cidr}`);
    return found.cidr;
  }
  if (name === "interface=") {
    const include = listed(rest);
    const found = find(family, world, { include });
    const using = `using interface regexes [${include.join(" ")}]`;
    if (found.is === "none") return missed(log, `Unable to auto-detect an IPv${family} address ${using}: ${found.why}`);
    log.info(`Using autodetected IPv${family} address ${found.cidr} on matching interface ${found.name}`);
    return found.cidr;
  }
  if (name === "cidr=") return byCidr(method, listed(rest), family, world);
  if (name === "can-reach=") return await byReach(rest, family, world);
  if (name === "skip-interface=") {
    const skipped = listed(rest);
    const found = find(family, world, { exclude: [...internalInterfaces, ...skipped] });
    const without = `while excluding [${skipped.join(" ")}]`;
    if (found.is === "none")
      return missed(log, `Unable to auto-detect an IPv${family} address ${without}: ${found.why}`);
    const where = `on interface ${found.name}: ${found.cidr}`;
    log.info(`Using autodetected IPv${family} address ${where} while skipping matching interfaces`);
    return found.cidr;
  }
  if (method.startsWith("kubernetes-internal-ip")) return byInternalIp(family, world);
  throw startupError(`Invalid IP autodetection method: ${method}`, {
    next: `Set ${family === 4 ? "IP" : "IP6"}_AUTODETECTION_METHOD to first-found, interface=, skip-interface=, cidr=, can-reach= or kubernetes-internal-ip`,
  });
}

function byCidr(
  method: string,
  texts: readonly string[],
  family: Family,
  { interfaces, log }: DetectWorld,
): string | undefined {
  const ranges: AddressRange[] = [];
  for (const text of texts) {
    const range = parseCidr(text) === undefined ? undefined : parseRange(text);
    if (range === undefined) {
      log.error(`Invalid CIDR ${JSON.stringify(text)} for IP autodetection method: ${method}`);
      return undefined;
    }
    ranges.push(range);
  }
  const found = find(family, { interfaces }, {}, (cidr) => {
    const address = parseRange(cidr.split("/")[0] ?? "");
    return address !== undefined && ranges.some((range) => holds(range, address));
  });
  const shown = `[${ranges.map(rangeText).join(" ")}]`;
  if (found.is === "none")
    return missed(log, `Unable to auto-detect an IPv${family} address using interface cidr ${shown}: ${found.why}`);
  const where = `${found.cidr} on interface ${found.name} matching cidrs ${shown}`;
  log.info(`Using autodetected IPv${family} address ${where}`);
  return found.cidr;
}

async function byReach(
  host: string,
  family: Family,
  { interfaces, reach, log }: DetectWorld,
): Promise<string | undefined> {
  const unable = `Unable to auto-detect IPv${family} address by connecting to ${host}`;
  try {
    const local = await reach(host, family);
    log.info("Auto-detected address by connecting to remote", { IP: local, Destination: host });
    const cidr = cidrWith(local, family, interfaces);
    if (cidr === undefined)
      return missed(
        log,
        `${unable}: autodetected IPv${family} address does not match any addresses found on local interfaces: ${local}`,
      );
    log.info(`Using autodetected IPv${family} address ${cidr}, detected by connecting to ${host}`);
    return cidr;
  } catch (error) {
    return missed(log, `${unable}: ${messageOf(error)}`);
  }
}

function byInternalIp(family: Family, { interfaces, internalIps, log }: DetectWorld): string | undefined {
  if (internalIps === undefined) {
    log.error("Cannot use method 'kubernetes-internal-ip' when not running on a Kubernetes cluster");
    return undefined;
  }
  const address = internalIps.find((text) => parseAddress(text)?.family === family);
  if (address === undefined) {
    log.error(`The Kubernetes Node has no IPv${family} InternalIP`);
    return undefined;
  }
  return localCidr(address, family, { interfaces, log });
}

/** With the mask of the interface that has the address; undefined, and said: none has. */
export function localCidr(
  address: string,
  family: Family,
  { interfaces, log }: Pick<DetectWorld, "interfaces" | "log">,
): string | undefined {
  const cidr = cidrWith(address, family, interfaces);
  if (cidr === undefined) log.warn(`Unable to find matching host interface for IP ${address}`);
  else log.info("Including CIDR information from host interface.", { CIDR: cidr });
  return cidr;
}

export function cidrWith(address: string, family: Family, interfaces: readonly HostInterface[]): string | undefined {
  const wanted = parseAddress(address);
  if (wanted === undefined) return undefined;
  for (const { addresses } of interfaces) {
    for (const { family: own, cidr } of addresses) {
      if (own === family && parseAddress(cidr.split("/")[0] ?? "")?.address === wanted.address) return cidr;
    }
  }
  return undefined;
}

type Found =
  | { readonly is: "found"; readonly name: string; readonly cidr: string }
  | { readonly is: "none"; readonly why: string };

function find(
  family: Family,
  { interfaces }: Pick<DetectWorld, "interfaces">,
  filter: Parameters<typeof named>[1],
  isMeant: (cidr: string) => boolean = () => true,
): Found {
  let candidates: readonly HostInterface[];
  try {
    candidates = named(interfaces, filter);
  } catch (error) {
    return { is: "none", why: messageOf(error) }; // an expression that is none
  }
  if (candidates.length === 0) return { is: "none", why: "no valid host interfaces found" };
  for (const { name, addresses } of candidates) {
    for (const { family: own, cidr } of addresses) {
      if (own === family && isGlobalUnicast(cidr) && isMeant(cidr)) return { is: "found", name, cidr };
    }
  }
  return { is: "none", why: `no valid IPv${family} addresses found on the host interfaces` };
}

const notGlobal = [
  "0.0.0.0/32",
  "255.255.255.255/32",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "224.0.0.0/4",
  "::/128",
  "::1/128",
  "fe80::/10",
  "ff00::/8",
].flatMap((text) => parseRange(text) ?? []);

function isGlobalUnicast(cidr: string): boolean {
  const address = parseRange(cidr.split("/")[0] ?? "");
  return address !== undefined && !notGlobal.some((range) => holds(range, address));
}

/** Commas, with or without blanks around them. */
function listed(text: string): string[] {
  return text.split(/\s*,\s*/);
}

function missed(log: Log, says: string): undefined {
  log.warn(says);
  return undefined;
}

/** Asks the kernel for the way, by a socket that never sends anything. Names are looked up. */
export async function reachFrom(host: string, family: Family): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = createSocket(family === 4 ? "udp4" : "udp6");
  try {
    socket.on("error", reject);
    socket.connect(80, host, () => resolve(socket.address().address));
    return await promise;
  } finally {
    socket.close();
  }
}
