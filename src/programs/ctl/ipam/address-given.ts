// An address as --ip gives it.
import { type AddressRange, parseAddress } from "../../../base/lib/index.ts";
import { CtlError } from "../console.ts";

/** One of the four errors that stand on standard output. */
export function addressGiven(text: string): AddressRange {
  const parsed = parseAddress(text);
  if (parsed === undefined) {
    throw new CtlError(`Error executing command: invalid IP address specified: ${text}`, { stream: "stdout" });
  }
  return { family: parsed.family, first: parsed.address, prefixLength: parsed.family === 4 ? 32 : 128 };
}
