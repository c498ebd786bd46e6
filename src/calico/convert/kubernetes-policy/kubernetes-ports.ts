// Ports of Kubernetes policies, grouped by protocol and made as few as possible: neighbours merge into ranges.
import { compareUtf8, type NumberOrText } from "../../model/index.ts";

/** Ports by protocol; the protocol "" is any, and no list is all ports. */
export type PortsByProtocol = ReadonlyMap<string, readonly NumberOrText[] | undefined>;

/** Undefined port: all of them. Once a protocol has all ports, it keeps them. */
export function groupPorts(entries: readonly { protocol: string; port: NumberOrText | undefined }[]): PortsByProtocol {
  const ports = new Map<string, NumberOrText[] | undefined>();
  for (const { protocol, port } of entries) {
    const known = ports.get(protocol);
    if (port === undefined) ports.set(protocol, undefined);
    else if (known !== undefined) known.push(port);
    else if (!ports.has(protocol)) ports.set(protocol, [port]);
  }
  const sorted = [...ports].sort(([a], [b]) => compareUtf8(a, b));
  return new Map(sorted.map(([protocol, list]) => [protocol, list === undefined ? undefined : simplifyPorts(list)]));
}

type Range = { readonly min: number; readonly max: number };

/** Named ports first, as they came; then all numbers, sorted, without duplicates, in the longest ranges there are. */
export function simplifyPorts(ports: readonly NumberOrText[]): readonly NumberOrText[] {
  const names = ports.filter((port) => rangeOf(port) === undefined);
  const ranges = ports.flatMap((port) => rangeOf(port) ?? []);
  const count = ranges.reduce((sum, { min, max }) => sum + max - min + 1, 0);
  if (ports.length <= 1 || count <= 1) return ports;
  const merged: { min: number; max: number }[] = [];
  for (const { min, max } of ranges.toSorted((a, b) => a.min - b.min)) {
    const last = merged.at(-1);
    if (last !== undefined && min <= last.max + 1) last.max = Math.max(last.max, max);
    else merged.push({ min, max });
  }
  return [...names, ...merged.map(({ min, max }) => (min === max ? min : `${min}:${max}`))];
}

function rangeOf(port: NumberOrText): Range | undefined {
  if (typeof port === "number") return { min: port, max: port };
  const [min, max] = port.split(":");
  return max === undefined ? undefined : { min: Number(min), max: Number(max) };
}
