// Bytes that are not what the kernel would send: an error, wherever a decoder meets them.
import { CattailError } from "../../../lib/index.ts";

export function malformed(what: string): CattailError {
  return new CattailError("NETLINK_MALFORMED", {
    problem: `a netlink message cannot be read: ${what}`,
    next: "If the kernel sent it, please report it with the kernel's version (uname -r)",
  });
}
