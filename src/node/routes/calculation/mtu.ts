// How long packets may be: the host's smallest uplink, less what each encapsulation adds.
import type { Family } from "../../../base/lib/index.ts";

/** Bytes that an encapsulation adds to a packet. */
const overheads = {
  vxlan: { 4: 50, 6: 70 },
  ipip: { 4: 20, 6: 20 },
} as const;
export type Encapsulation = keyof typeof overheads;

/** Where no uplink is found: small enough for every cloud. */
export const unknownHostMtu = 1460;

export type MtuSettings = {
  /** 0: from the host's. */
  readonly set: { readonly [encapsulation in Encapsulation]: { readonly [family in Family]: number } };
};

export type LinkMtu = { readonly name: string; readonly isUp: boolean; readonly mtu: number };

/** Undefined: no link that is up has such a name. */
export function hostMtu(links: Iterable<LinkMtu>, pattern: RegExp): number | undefined {
  let smallest: number | undefined;
  for (const { name, isUp, mtu } of links) {
    if (isUp && mtu > 0 && pattern.test(name) && (smallest === undefined || mtu < smallest)) smallest = mtu;
  }
  return smallest;
}

export function encapsulatedMtu(what: Encapsulation, family: Family, host: number, settings: MtuSettings): number {
  const set = settings.set[what][family];
  return set > 0 ? set : host - overheads[what][family];
}

/** What a pod's interface can have: the smallest of the encapsulations in use, the host's where there is none. */
export function podMtu(
  host: number,
  inUse: readonly { readonly what: Encapsulation; readonly family: Family }[],
  settings: MtuSettings,
): number {
  if (inUse.length === 0) return host;
  return Math.min(...inUse.map(({ what, family }) => encapsulatedMtu(what, family, host, settings)));
}
