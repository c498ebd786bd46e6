// What a pod asks for with annotations, and its namespace for all its pods: cni.projectcalico.org/NAME.
//
//   ipv4pools, ipv6pools, ipFamilies   the pod's, else the namespace's: put into the configuration that IPAM gets
//   ipAddrs, ipAddrsNoIpam             these very addresses, from IPAM or without asking it
//   hwAddr                             the MAC of the pod's end
//   floatingIPs                        for endpoints; refused where the configuration does not allow them
//   allowedSourcePrefixes              for endpoints
import {
  canonicalMac,
  goJsonProblem,
  ipToText,
  isRecord,
  type JsonRecord,
  messageOf,
  parseCidr,
  parseIp,
} from "../../../base/lib/index.ts";
import { EndpointError } from "../endpoint-error.ts";
import type { EndpointSettings } from "./settings.ts";

export type Annotations = { readonly [name: string]: string };

export type Addressing =
  | { readonly from: "ipam" }
  /** One call of IPAM for each. */
  | { readonly from: "ipam by name"; readonly addresses: readonly string[] }
  | { readonly from: "annotation"; readonly addresses: readonly string[] };

const prefix = "cni.projectcalico.org/";

function own(annotations: Annotations, name: string): string | undefined {
  const value = Object.hasOwn(annotations, prefix + name) ? annotations[prefix + name] : undefined;
  return value === "" ? undefined : value;
}

/** The configuration that IPAM gets. Throws EndpointError. */
export function withAskedPools(
  configuration: JsonRecord,
  { pod, namespace }: { readonly pod: Annotations; readonly namespace: Annotations },
): JsonRecord {
  const ipam: { [name: string]: unknown } = { ...(isRecord(configuration.ipam) ? configuration.ipam : {}) };
  if (ipam.type !== "calico-ipam") return configuration;
  const asked = (name: string) => own(pod, name) ?? own(namespace, name);
  for (const [annotation, field] of [
    ["ipv4pools", "ipv4_pools"],
    ["ipv6pools", "ipv6_pools"],
  ] as const) {
    const text = asked(annotation);
    if (text !== undefined) ipam[field] = textList(text);
  }
  const families = asked("ipFamilies");
  if (families !== undefined) {
    const list = textList(families);
    if (list.length === 0 || list.some((family) => family !== "IPv4" && family !== "IPv6")) {
      throw new EndpointError(`error parsing ipFamilies: ${families}`);
    }
    ipam.assign_ipv4 = String(list.includes("IPv4"));
    ipam.assign_ipv6 = String(list.includes("IPv6"));
  }
  return { ...configuration, ipam };
}

/** Throws EndpointError. */
export function addressingOf(
  pod: Annotations,
  { features, ipamType }: Pick<EndpointSettings, "features" | "ipamType">,
): Addressing {
  const [byName, withoutIpam] = [own(pod, "ipAddrs"), own(pod, "ipAddrsNoIpam")];
  if (byName !== undefined && withoutIpam !== undefined) {
    throw new EndpointError("can't have both annotations: 'ipAddrs' and 'ipAddrsNoIpam' in use at the same time");
  }
  if (withoutIpam !== undefined) {
    mustBeCalicos(ipamType, "ipAddrsNoIpam");
    if (!features.ipAddrsNoIpam) throw notEnabled("ip_addrs_no_ipam");
    return { from: "annotation", addresses: addressList(withoutIpam, "ipAddrsNoIpam") };
  }
  if (byName === undefined) return { from: "ipam" };
  mustBeCalicos(ipamType, "ipAddrs");
  return { from: "ipam by name", addresses: addressList(byName, "ipAddrs") };
}

/** Another plugin knows nothing of the address, and may give it to somebody else. */
function mustBeCalicos(ipamType: string, annotation: string): void {
  if (ipamType === "calico-ipam") return;
  throw new EndpointError(`${annotation} is not compatible with configured IPAM: ${ipamType}`);
}

/** Undefined: the kernel chooses one. Throws EndpointError. */
export function askedMac(pod: Annotations): string | undefined {
  const text = Object.hasOwn(pod, `${prefix}hwAddr`) ? pod[`${prefix}hwAddr`] : undefined;
  if (text === undefined) return undefined; // an empty one is refused, as by the original
  const mac = canonicalMac(text);
  if (mac === undefined || mac.length !== usualMacLength) {
    const named = text === "" ? "" : `address ${text}: `;
    throw new EndpointError(
      `failed to parse MAC address ${text} provided via ${prefix}hwAddr: ${named}invalid MAC address`,
    );
  }
  if (!isOfOneInterface(mac)) {
    const wish = `failed to set container-side interface MAC to ${mac} as requested via ${prefix}hwAddr`;
    throw new EndpointError(`${wish}: cannot assign requested address`);
  }
  return mac;
}

/** Six bytes: longer ones are addresses of other networks, of which the kernel would take the beginning. */
const usualMacLength = "00:00:00:00:00:00".length;

/** The kernel takes no address of a group, nor none at all. */
function isOfOneInterface(mac: string): boolean {
  return Number.parseInt(mac.slice(0, 2), 16) % 2 === 0 && mac !== "00:00:00:00:00:00";
}

/** Throws EndpointError where floating addresses are asked for and not allowed. */
export function checkFloatingAddresses(pod: Annotations, { features }: Pick<EndpointSettings, "features">): void {
  if (own(pod, "floatingIPs") !== undefined && !features.floatingIps) throw notEnabled("floating_ips");
}

export function floatingAddresses(pod: Annotations): readonly string[] {
  const text = own(pod, "floatingIPs");
  const list = text === undefined ? [] : listOfAddresses(text);
  const stranger = list.find((each) => parseIp(each) === undefined);
  if (stranger === undefined) return list;
  throw new EndpointError(
    `error with field ExternalIP = '${stranger}' (Reason: failed to validate Field: ExternalIP because of Tag: ip )`,
  );
}

/** They become the endpoint's with the pod that is read; here is only told what cannot be, in the original's words. */
export function checkSourcePrefixes(pod: Annotations): void {
  const text = own(pod, "allowedSourcePrefixes");
  const stranger = text === undefined ? undefined : listOfAddresses(text).find((each) => parseCidr(each) === undefined);
  if (stranger === undefined) return;
  throw new EndpointError(`failed to parse '${stranger}' as a CIDR: invalid CIDR address: ${stranger}`);
}

function notEnabled(feature: string): EndpointError {
  return new EndpointError(`requested feature is not enabled: ${feature}`);
}

/** In canonical text: endpoints and routes are compared with it. */
function addressList(text: string, annotation: string): readonly string[] {
  const named = JSON.stringify(prefix + annotation);
  let list: readonly string[];
  try {
    list = listOfAddresses(text);
  } catch (error) {
    throw new EndpointError(`failed to parse IPs ${text} for annotation ${named}: ${messageOf(error)}`, {
      cause: error,
    });
  }
  if (list.length === 0) throw new EndpointError(`annotation ${named} specified but empty`);
  const seen = new Set<number>();
  return list.map((each) => {
    const address = parseIp(each);
    if (address === undefined) throw new EndpointError(`invalid IP format: ${each}`);
    if (seen.has(address.version)) {
      throw new EndpointError(`cannot have more than one IPv${address.version} address for ${named} annotation`);
    }
    seen.add(address.version);
    return ipToText(address);
  });
}

function listOfAddresses(text: string): readonly string[] {
  try {
    return textList(text);
  } catch (error) {
    throw new EndpointError(`failed to parse '${text}' as JSON: ${messageOf(error)}`, { cause: error });
  }
}

/** In the words of Go's parser, and as it reads: null is nothing, a text or a list. */
function textList(text: string): readonly string[] {
  const problem = goJsonProblem(text);
  if (problem !== undefined) throw new EndpointError(problem);
  const value: unknown = JSON.parse(text) ?? [];
  const next = 'write a JSON list of texts, such as ["a","b"]';
  const refused = (seen: unknown, wanted: string) =>
    new EndpointError(`json: cannot unmarshal ${jsonType(seen)} into Go value of type ${wanted}`, { next });
  if (!Array.isArray(value)) throw refused(value, "[]string");
  return value.map((each: unknown) => {
    if (typeof each === "string") return each;
    if (each === null) return "";
    throw refused(each, "string");
  });
}

function jsonType(value: unknown): string {
  if (typeof value === "boolean") return "bool";
  return Array.isArray(value) ? "array" : typeof value;
}
