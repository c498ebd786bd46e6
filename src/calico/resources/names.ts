// How objects are named: in messages, in the datastore, and after what they are about. The forms are the original's, because
// both programs must find what the other stored.
import { createHash } from "node:crypto";
import { canonicalCidr } from "../../base/lib/index.ts";
import { splitEndpointName } from "../convert/views.ts";
import { type ApiKind, isNamespaced } from "./api-kinds.ts";

export type Id = { readonly namespace: string; readonly name: string };

/** As messages name an object: IPPool(p), NetworkPolicy(prod/web). */
export function nameInMessages(kind: ApiKind, { namespace, name }: Id): string {
  return isNamespaced(kind) ? `${kind}(${namespace}/${name})` : `${kind}(${name})`;
}

/** 10-244-62-64-26 for 10.244.62.64/26. Undefined: not a CIDR. */
export function cidrName(cidr: string): string | undefined {
  return canonicalCidr(cidr)?.text.replaceAll(/[.:/]/g, "-");
}

/** The CIDR that a name was made of, in canonical form. Undefined: of none. */
export function cidrOfName(name: string): string | undefined {
  const dash = name.lastIndexOf("-");
  const [address, length] = [name.slice(0, Math.max(dash, 0)), name.slice(dash + 1)];
  const version4 = canonicalCidr(`${address.replaceAll("-", ".")}/${length}`);
  const found = version4 ?? canonicalCidr(`${address.replaceAll("-", ":")}/${length}`);
  return found !== undefined && cidrName(found.text) === name ? found.text : undefined;
}

const mostNameLength = 252;
const hashLength = 11;

/** NODE-CIDRNAME; shortened, with a hash, where that is longer than a name may be. Undefined: not a CIDR. */
export function affinityName(node: string, cidr: string): string | undefined {
  const network = cidrName(cidr);
  if (network === undefined) return undefined;
  const whole = `${node}-${network}`;
  if (whole.length <= mostNameLength) return whole;
  const hash = createHash("sha256").update(`${node}+${network}`).digest("hex").slice(0, hashLength);
  return `${node.slice(0, mostNameLength - network.length - hashLength - 2)}-${network}-${hash}`;
}

/** Labels have no room for every node's name, so affinities are found by its hash. */
export function hostnameHash(node: string): string {
  return base32(createHash("sha3-256").update(node).digest());
}

const base32Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** RFC 4648, without padding. */
function base32(bytes: Uint8Array): string {
  let text = "";
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += base32Digits[(held >> (bits - 5)) & 31];
    held &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + base32Digits[(held << (5 - bits)) & 31];
}

/** Object names are lower case; two handles that differ in case only share an object. */
export function handleName(handle: string): string {
  return handle.toLowerCase();
}

/** The pod that an endpoint of Kubernetes is named after. Undefined: the name does not say one. */
export function podOfEndpoint(name: string): string | undefined {
  const [node, orchestrator, pod, _endpoint, ...more] = splitEndpointName(name);
  if (node === undefined || node === "" || orchestrator !== "k8s" || more.length > 0) return undefined;
  return pod === "" ? undefined : pod;
}

export function endpointNameOfPod(node: string, pod: string): string {
  return [node, "k8s", pod, "eth0"].map((part) => part.replaceAll("-", "--")).join("-");
}
