// Addresses that are not handed out by themselves: the ranges of all IPReservations. A named address may still be one of them.
import { type AddressRange, holds, parseRange, sizeOf } from "../../base/lib/index.ts";

export type Reservations = readonly AddressRange[];

/** Blank entries and what is no range are left out, as the original does: a bad entry must not stop a node from starting pods. */
export function readReservations(
  specs: readonly { readonly reservedCIDRs?: readonly string[] | undefined }[],
): Reservations {
  return specs.flatMap(({ reservedCIDRs = [] }) =>
    reservedCIDRs.flatMap((text) => {
      const range = parseRange(text.trim());
      return range === undefined ? [] : [range];
    }),
  );
}

/** Whether every address of a range is reserved, be it by several reservations together. */
export function isReserved(reservations: Reservations, range: AddressRange): boolean {
  const touching = reservations.filter((reserved) => holds(reserved, range) || holds(range, reserved));
  if (touching.some((reserved) => holds(reserved, range))) return true;
  if (touching.length < 2) return false;
  const half = { ...range, prefixLength: range.prefixLength + 1 };
  return isReserved(touching, half) && isReserved(touching, { ...half, first: range.first + sizeOf(half) });
}
