// Which addresses a pod has, to which it is translated, and from which it may send. The first source that says anything
// wins; the annotations are there because the CNI plugin knows an address before the kubelet reports it.
import {
  canonicalCidr,
  canonicalIp,
  canonicalNetwork,
  type JsonRecord,
  type Network,
} from "../../../base/lib/index.ts";
import { FieldError, listAt, member, recordOf, type StringMap, stringAt } from "../../model/index.ts";
import type { Nat } from "../endpoint/endpoint.ts";
import { annotationField, ownText, parseTextList } from "../object/annotations.ts";

type Nats = { readonly ipv4Nats: readonly Nat[]; readonly ipv6Nats: readonly Nat[] };
export const noNats: Nats = { ipv4Nats: [], ipv6Nats: [] };

const podIps = "cni.projectcalico.org/podIPs";
const podIp = "cni.projectcalico.org/podIP";
const awsPodIps = "vpc.amazonaws.com/pod-ips";
const floatingIps = "cni.projectcalico.org/floatingIPs";
const sourcePrefixes = "cni.projectcalico.org/allowedSourcePrefixes";

/** In the order given. Throws FieldError for anything that is no address. */
export function podNetworks(status: JsonRecord, annotations: StringMap): readonly Network[] {
  const listed = listAt(status, "podIPs", "status");
  if (listed.length > 0) return listed.map(readPodIp);
  const single = stringAt(status, "podIP", "status");
  if (single !== undefined && single !== "") return [network(single, "status.podIP")];
  return (
    annotatedNetworks(annotations, podIps) ??
    annotatedNetworks(annotations, podIp) ??
    annotatedNetworks(annotations, awsPodIps) ??
    []
  );
}

function readPodIp(item: unknown, at: number): Network {
  const { ip } = recordOf(item ?? {}, "status.podIPs[]");
  const found = typeof ip === "string" ? canonicalNetwork(ip) : undefined;
  if (found === undefined) throw new FieldError(`status.podIPs[${at}].ip`, "must be an IP address or network");
  return found;
}

function annotatedNetworks(annotations: StringMap, name: string): readonly Network[] | undefined {
  const text = ownText(annotations, name);
  if (text === undefined || text === "") return undefined;
  const pieces = name === podIp ? [text] : text.split(",");
  return pieces.map((piece) => network(piece, annotationField(name)));
}

function network(text: string, field: string): Network {
  const found = canonicalNetwork(text);
  if (found === undefined) throw new FieldError(field, "must be an IP address or network");
  return found;
}

/** A pod that is done has given its addresses back, whatever its status still shows. */
export function isPodFinished(pod: { metadata: JsonRecord; phase: string; annotations: StringMap }): boolean {
  if (pod.phase === "Failed" || pod.phase === "Succeeded" || pod.phase === "Completed") return true;
  if (member(pod.metadata, "deletionTimestamp") === undefined) return false;
  return ownText(pod.annotations, podIp) === "" || ownText(pod.annotations, awsPodIps) === "";
}

/** Floating IPs: each goes to the pod's last address of its family. A text that is no address is dropped. */
export function podNats(networks: readonly Network[], annotations: StringMap): Nats {
  const text = ownText(annotations, floatingIps);
  if (text === undefined || networks.length === 0) return noNats;
  const externals = parseTextList(text, annotationField(floatingIps));
  const internal4 = translatedAddress(networks, 4);
  const internal6 = translatedAddress(networks, 6);
  const ipv4Nats: Nat[] = [];
  const ipv6Nats: Nat[] = [];
  for (const external of externals) {
    const externalIp = canonicalIp(external);
    if (externalIp === undefined) continue;
    if (external.includes(":")) {
      if (internal6 !== undefined) ipv6Nats.push({ internalIp: internal6, externalIp });
    } else if (internal4 !== undefined) ipv4Nats.push({ internalIp: internal4, externalIp });
  }
  return { ipv4Nats, ipv6Nats };
}

function translatedAddress(networks: readonly Network[], version: 4 | 6): string | undefined {
  const suffix = version === 4 ? "/32" : "/128";
  let address: string | undefined;
  for (const { version: found, text } of networks) {
    if (found !== version) continue;
    if (!text.endsWith(suffix)) {
      throw new FieldError(annotationField(floatingIps), `needs a pod address that is a single one, not ${text}`);
    }
    address = text.slice(0, -suffix.length);
  }
  return address;
}

/** Sources besides its own that a pod may send from. CIDRs only: the original refuses a bare address. */
export function podAllowedSources(annotations: StringMap): readonly string[] {
  const text = ownText(annotations, sourcePrefixes);
  if (text === undefined || text === "") return [];
  const field = annotationField(sourcePrefixes);
  return parseTextList(text, field).map((prefix) => {
    const found = canonicalCidr(prefix);
    if (found === undefined) throw new FieldError(field, "must be a JSON list of networks such as 10.0.0.0/8");
    return found.text;
  });
}
