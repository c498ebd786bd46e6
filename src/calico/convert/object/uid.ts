// The second UID that Calico gives to what it makes of another object, so that the two are never mistaken for one.
import { FieldError } from "../../model/index.ts";

const dashed = /^([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})$/i;
const bare = /^[0-9a-f]{32}$/i;
const urn = /^urn:uuid:/i;

/** The bits of each byte reversed, but for the version and variant bytes. Undefined: not a UUID. Its own inverse. */
export function translateUid(uid: string): string | undefined {
  // Of the form in braces the original looks at the length alone: whatever stands around it will do.
  const inner = uid.length === 38 ? uid.slice(1, -1) : uid.replace(urn, "");
  const hex = bare.test(uid) ? uid : dashed.exec(inner)?.slice(1).join("");
  if (hex === undefined) return undefined;
  let text = "";
  for (let at = 0; at < 16; at++) {
    const byte = Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16);
    const kept = at === 6 || at === 8 ? byte : reverseBits(byte);
    if (at === 4 || at === 6 || at === 8 || at === 10) text += "-";
    text += kept.toString(16).padStart(2, "0");
  }
  return text;
}

function reverseBits(byte: number): number {
  let from = byte;
  let to = 0;
  for (let bit = 0; bit < 8; bit++) {
    to = (to << 1) | (from & 1);
    from >>= 1;
  }
  return to;
}

/** As translateUid; throws FieldError for what is no UUID. */
export function requiredUid(uid: string, field = "metadata.uid"): string {
  const translated = translateUid(uid);
  if (translated === undefined) throw new FieldError(field, "must be a UUID");
  return translated;
}

/** An object may lack a UID, but one that has it must have a good one. */
export function checkUid(uid: string | undefined): void {
  if (uid !== undefined && uid !== "") requiredUid(uid);
}
