// Kinds of values that only calico-node's environment has: words that mean an address, yes and no as its start-up reads them, modes of a pool.
import type { SettingType } from "../../../base/config/index.ts";
import { canonicalIp, parseCidrOrIp } from "../../../base/lib/index.ts";

/** Any text: what it means is said where it is used, in the original's words. */
export function text(allowed: string): SettingType<string> {
  return { allowed, zero: "", parse: (value) => ({ ok: true, value }), show: (value) => value };
}

/** false, 0, no, n and f in any case are no; every other value is yes. */
export const unlessNo: SettingType<boolean> = {
  allowed: "false, 0, no, n or f (in any case) for no, anything else for yes",
  zero: false,
  parse: (value) => ({ ok: true, value: !/^(false|0|no|n|f)$/i.test(value) }),
  show: String,
};

/** Only this word, in exactly this case, is yes. */
export const exactlyTrue: SettingType<boolean> = {
  allowed: "exactly true for yes, anything else for no",
  zero: false,
  parse: (value) => ({ ok: true, value: value === "true" }),
  show: String,
};

export const trueInAnyCase: SettingType<boolean> = {
  allowed: "true (in any case) for yes, anything else for no",
  zero: false,
  parse: (value) => ({ ok: true, value: value.toLowerCase() === "true" }),
  show: String,
};

/** A Calico CIDR or address of that family, as it is stored; an address alone gets all its bits. Undefined: none. */
export function cidrOfFamily(value: string, family: 4 | 6): string | undefined {
  const cidr = parseCidrOrIp(value);
  if (cidr === undefined || cidr.ip.version !== family) return undefined;
  const [address = ""] = value.split("/");
  return `${canonicalIp(address)}/${cidr.prefixLength}`;
}
