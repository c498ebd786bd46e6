// What a runtime says, with CHECK, that an earlier ADD gave: the addresses in it, whatever version it is in.
import { canonicalIp, isRecord } from "../../../base/lib/index.ts";

/** In canonical text, without masks. What cannot be read is passed over. */
export function heldAddresses(previous: unknown): readonly string[] {
  if (!isRecord(previous)) return [];
  const ips = Array.isArray(previous.ips) ? previous.ips.filter(isRecord).map(({ address }) => address) : [];
  const old = [previous.ip4, previous.ip6].filter(isRecord).map(({ ip }) => ip);
  return [...ips, ...old].flatMap((text) => {
    const address = typeof text === "string" ? canonicalIp(text.replace(/\/\d+$/, "")) : undefined;
    return address === undefined ? [] : [address];
  });
}
