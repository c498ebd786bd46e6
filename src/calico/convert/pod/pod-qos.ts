// The traffic shaping that a pod asks for by annotations. Nothing here makes a pod invalid: what cannot be read counts
// as not asked for, what is out of range is moved to the nearest bound, and each is said.
import { type StringMap, writeGoString } from "../../model/index.ts";
import { readDscp } from "../endpoint/dscp.ts";
import { annotationField, ownText } from "../object/annotations.ts";
import type { Warning } from "../processor/processor.ts";
import { parseQuantity } from "./quantity.ts";

const prefix = "qos.projectcalico.org/";

type Limit = { readonly name: string; readonly min: number; readonly max: number };

// In the order of the JSON fields.
const limits: readonly Limit[] = [
  ...["ingress", "egress"].flatMap((direction) => [
    { name: `${direction}Bandwidth`, min: 1000, max: 1e15 },
    { name: `${direction}Burst`, min: 1000, max: 34_359_738_360 },
    { name: `${direction}Peakrate`, min: 1010, max: 1_010_000_000_000_000 },
    { name: `${direction}Minburst`, min: 1000, max: 100_000_000 },
  ]),
  ...["ingress", "egress"].flatMap((direction) => [
    { name: `${direction}PacketRate`, min: 1, max: 10_000 },
    { name: `${direction}PacketBurst`, min: 1, max: 10_000 },
  ]),
  { name: "ingressMaxConnections", min: 1, max: 4_294_967_295 },
  { name: "egressMaxConnections", min: 1, max: 4_294_967_295 },
];

const kubernetesNames: { readonly [name: string]: string } = {
  ingressBandwidth: "kubernetes.io/ingress-bandwidth",
  egressBandwidth: "kubernetes.io/egress-bandwidth",
};

const defaultBurst = 4_294_967_296;
const defaultPacketBurst = 5;

export function asksForQos(annotations: StringMap): boolean {
  for (const name in annotations) {
    if (name.startsWith(prefix) || (name.startsWith("kubernetes.io/") && name.endsWith("-bandwidth"))) return true;
  }
  return false;
}

/** The JSON of qosControls; undefined: nothing is asked for. */
export function podQosControls(annotations: StringMap, warnings: Warning[]): string | undefined {
  const values = new Map<string, number>();
  for (const limit of limits) values.set(limit.name, readLimit(limit, annotations, warnings));
  for (const direction of ["ingress", "egress"]) settle(values, direction);
  const members = limits.flatMap(({ name }) => {
    const value = values.get(name) ?? 0;
    return value === 0 ? [] : [`"${name}":${value}`];
  });
  const dscp = readDscp(annotations, warnings);
  if (dscp !== undefined) members.push(`"dscp":${typeof dscp === "number" ? dscp : writeGoString(dscp)}`);
  return members.length === 0 ? undefined : `{${members.join(",")}}`;
}

function readLimit(limit: Limit, annotations: StringMap, warnings: Warning[]): number {
  const kubernetesName = kubernetesNames[limit.name];
  const own = `${prefix}${limit.name}`;
  // Calico's annotation counts even when it cannot be read.
  const name = ownText(annotations, own) === undefined && kubernetesName !== undefined ? kubernetesName : own;
  const text = ownText(annotations, name);
  if (text === undefined) return 0;
  const field = annotationField(name);
  const value = parseQuantity(text);
  if (value === undefined) {
    warnings.push({ field, rule: "must be a quantity such as 10M", effect: "dropped" });
    return 0;
  }
  if (value >= limit.min && value <= limit.max) return Number(value);
  warnings.push({ field, rule: `must be from ${limit.min} to ${limit.max}`, effect: "sent-as-original" });
  return value < limit.min ? limit.min : limit.max;
}

/** What depends on something that is not there is dropped; what must be there is given its default. */
function settle(values: Map<string, number>, direction: string): void {
  const get = (name: string) => values.get(direction + name) ?? 0;
  const set = (name: string, value: number) => values.set(direction + name, value);
  if (get("Bandwidth") === 0) set("Burst", 0);
  if (get("Bandwidth") === 0 || get("Peakrate") <= get("Bandwidth")) set("Peakrate", 0);
  if (get("Peakrate") === 0) set("Minburst", 0);
  if (get("PacketRate") === 0) set("PacketBurst", 0);
  if (get("Bandwidth") !== 0 && get("Burst") === 0) set("Burst", defaultBurst);
  if (get("PacketRate") !== 0 && get("PacketBurst") === 0) set("PacketBurst", defaultPacketBurst);
}
