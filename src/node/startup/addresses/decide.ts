// Which address the node has, by family: what IP or IP6 says, what is on the Node already, and what is found (the table of decisions is in
// docs/reference/node-startup.md).
import { type Family, type Log, parseAddress, parseCidrOrIp } from "../../../base/lib/index.ts";
import { cidrOfFamily } from "../settings/types.ts";
import { startupError } from "../startup-error.ts";
import { cidrWith, type DetectWorld, detectAddress, localCidr } from "./detect.ts";
import { type HostInterface, interfacesForNode } from "./interfaces.ts";

export type AddressSettings = { readonly given: string; readonly method: string };

export type Addresses = {
  readonly ipv4: string;
  readonly ipv6: string;
  readonly interfaces: readonly { name: string; addresses?: string[] }[];
};

/** Nothing was found where something must be: then what the Node has is cleared. */
export class NotDetected extends Error {
  /** What had been decided before: it is written with what is cleared. */
  readonly ipv4: string | undefined;

  constructor(message: string, ipv4?: string) {
    super(message);
    this.ipv4 = ipv4;
  }
}

/** "" where the node has none. Throws NotDetected, and StartupError for settings that cannot be used. */
export async function decideAddresses(
  settings: { readonly ipv4: AddressSettings; readonly ipv6: AddressSettings },
  old: { readonly ipv4: string; readonly ipv6: string },
  world: DetectWorld,
): Promise<Addresses> {
  const ipv4 = await decide(4, settings.ipv4, old.ipv4, world);
  const ipv6 = await decide(6, settings.ipv6, old.ipv6, world).catch((error: unknown) => {
    throw error instanceof NotDetected ? new NotDetected(error.message, ipv4) : error;
  });
  const isOn = ({ given }: AddressSettings) => given !== "" && given !== "none";
  const families: Family[] = [
    ...(isOn(settings.ipv4) ? [4 as const] : []),
    ...(isOn(settings.ipv6) ? [6 as const] : []),
  ];
  return { ipv4, ipv6, interfaces: interfacesForNode(world.interfaces, families) };
}

async function decide(
  family: Family,
  { given, method }: AddressSettings,
  old: string,
  world: DetectWorld,
): Promise<string> {
  const { log, interfaces } = world;
  if (given === "autodetect" || (given === "" && family === 4 && old === "")) {
    const found = await detectAddress(method, family, world);
    if (found !== undefined) return found;
    if (old !== "") {
      log.warn(`Autodetection of IPv${family} address failed, keeping existing value: ${old}`);
      return confirmed(old, family, { log, interfaces });
    }
    log.warn(
      `Couldn't autodetect an IPv${family} address. If auto-detecting, choose a different autodetection method. Otherwise provide an explicit address.`,
    );
    throw new NotDetected(`failed to autodetect an IPv${family} address`);
  }
  if (given === "none") {
    if (old === "") return "";
    log.info(`Autodetection for IPv${family} disabled, keeping existing value: ${old}`);
    return confirmed(old, family, { log, interfaces });
  }
  if (given === "") return old === "" ? "" : confirmed(old, family, { log, interfaces });
  return confirmed(fromEnvironment(given, family, { log, interfaces }), family, { log, interfaces });
}

type Here = { readonly log: Log; readonly interfaces: readonly HostInterface[] };

function fromEnvironment(given: string, family: Family, here: Here): string {
  const name = family === 4 ? "IP" : "IP6";
  const isAddress = !given.includes("/") && parseAddress(given)?.family === family;
  if (!given.includes("/") && !isAddress) {
    here.log.warn(`Attempt to get the local CIDR: ${given} failed, ${given} is invalid`);
  }
  const withMask = (isAddress ? localCidr(given, family, here) : undefined) ?? given;
  const cidr = cidrOfFamily(withMask, family);
  if (cidr === undefined) {
    throw startupError(`Environment does not contain a valid IPv${family} address: ${name}=${given}`, {
      next: `Set ${name} to an IPv${family} address, with or without a mask, to autodetect, or to none`,
    });
  }
  here.log.info(`Using IPv${family} address from environment: ${name}=${withMask}`);
  return cidr;
}

/** An address that no interface has is only warned about: it may come later. */
function confirmed(cidr: string, family: Family, { log, interfaces }: Here): string {
  const [address = ""] = cidr.split("/");
  if (parseCidrOrIp(cidr) === undefined) {
    throw startupError(`Failed to parse autodetected CIDR '${cidr}'`, {
      next: `Correct the annotation projectcalico.org/IPv${family}Address of the Node`,
    });
  }
  if (cidrWith(address, family, interfaces) === undefined) {
    log.warn(`Unable to confirm IPv${family} address ${address} is assigned to this host`);
  }
  return cidr;
}
