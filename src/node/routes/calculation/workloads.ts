// The local endpoints, as far as routes and interfaces are concerned.
import { type AddressRange, isRecord, parseRange } from "../../../base/lib/index.ts";

export type WorkloadFacts = {
  readonly interfaceName: string;
  readonly ranges: readonly AddressRange[];
  /** It may send from addresses that are not its own, so the kernel must not look at where they come from. */
  readonly maySpoof: boolean;
};

export function workloadPrefix(node: string): string {
  return `/calico/v1/host/${node}/workload/`;
}

/** Undefined: makes no sense, or is switched off. */
export function readWorkload(value: unknown): WorkloadFacts | undefined {
  if (!isRecord(value) || typeof value.name !== "string" || value.name === "" || value.state !== "active")
    return undefined;
  const ranges: AddressRange[] = [];
  for (const nets of [value.ipv4_nets, value.ipv6_nets]) {
    for (const net of Array.isArray(nets) ? nets : []) {
      const range = typeof net === "string" ? parseRange(net) : undefined;
      if (range !== undefined) ranges.push(range);
    }
  }
  const { allow_spoofed_source_ips: spoofed } = value;
  return { interfaceName: value.name, ranges, maySpoof: Array.isArray(spoofed) && spoofed.length > 0 };
}
