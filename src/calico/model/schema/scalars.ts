// The scalar types of Calico's API with readers of their own: ports, protocols, AS numbers, DSCP, times and durations.
// Each is kept in its canonical JSON form, so that writing it needs no knowledge.
import { goNumber, goNumberOrText, writeGoString } from "../go/go-json.ts";
import { canonicalTime, parseDuration, printDuration } from "../go/go-time.ts";
import { type CrdSchema, type Schema, scalar } from "./schema.ts";

/** A number; or as text a name, or for a port a range "min:max". */
export type NumberOrText = number | string;

const intOrString: CrdSchema = {
  anyOf: [{ type: "integer" }, { type: "string" }],
  pattern: "^.*",
  "x-kubernetes-int-or-string": true,
};

const digits = /^[0-9]+$/;
const range = /^([0-9]+):([0-9]+)$/;
const plainName = /^[a-zA-Z0-9_.-]{1,128}$/;

/** Calico's own rule for names that need not be Kubernetes': ports, profiles, endpoints. */
export function isPlainName(text: string): boolean {
  return plainName.test(text);
}

/** The protocols that a rule may name, as users write them. */
export const protocolNames: readonly string[] = ["TCP", "UDP", "ICMP", "ICMPv6", "SCTP", "UDPLite"];

/** Undefined: neither a port number, a range "min:max", nor a name. */
export function canonicalPort(value: unknown): NumberOrText | undefined {
  if (typeof value === "number") return isUint(value, 65535) ? value : undefined;
  if (typeof value !== "string") return undefined;
  if (digits.test(value)) return Number(value) <= 65535 ? Number(value) : undefined;
  const ends = range.exec(value);
  if (ends === null) return isPlainName(value) ? value : undefined;
  const [min, max] = [Number(ends[1]), Number(ends[2])];
  if (min > 65535 || max > 65535 || min > max) return undefined;
  return min === max ? min : `${min}:${max}`;
}

/** A number from 0 to 255, also when written as text; any other text as it is. */
export function canonicalUint8OrText(value: unknown): NumberOrText | undefined {
  if (typeof value === "number") return isUint(value, 255) ? value : undefined;
  if (typeof value !== "string") return undefined;
  return digits.test(value) && Number(value) <= 255 ? Number(value) : value;
}

/** A number, or text: decimal, or dotted as in 1.10. */
export function canonicalAsNumber(value: unknown): number | undefined {
  if (typeof value === "number") return isUint(value, 4294967295) ? value : undefined;
  if (typeof value !== "string") return undefined;
  if (digits.test(value)) return Number(value) <= 4294967295 ? Number(value) : undefined;
  const [, high, low] = /^([0-9]+)\.([0-9]+)$/.exec(value) ?? [];
  if (high === undefined || low === undefined || Number(high) > 65535 || Number(low) > 65535) return undefined;
  return Number(high) * 65536 + Number(low);
}

function isUint(value: number, max: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= max;
}

/** A range that ends before it begins is told in the original's words. */
function portRule(value: unknown): string {
  const [, min, max] = (typeof value === "string" ? range.exec(value) : undefined) ?? [];
  if (min === undefined || max === undefined || Number(min) <= Number(max) || Number(min) > 65535) {
    return "must be a port number, a range such as 80:90, or a port name";
  }
  return `minimum port number (${Number(min)}) is greater than maximum port number (${Number(max)}) in port range`;
}

export const port: Schema<NumberOrText> = scalar({
  read: canonicalPort,
  rule: portRule,
  go: goNumberOrText,
  crd: intOrString,
});

export const protocol: Schema<NumberOrText> = scalar({
  read: canonicalUint8OrText,
  rule: "must be a protocol name or a number from 0 to 255",
  go: goNumberOrText,
  crd: intOrString,
});

export const dscp: Schema<NumberOrText> = scalar({
  read: canonicalUint8OrText,
  rule: "must be a DSCP name or number",
  go: goNumberOrText,
  crd: intOrString,
});

export const asNumber: Schema<number> = scalar<number>({
  read: canonicalAsNumber,
  rule: "must be an AS number",
  go: goNumber,
  crd: { type: "integer", format: "int32" },
});

/** "" is Go's zero time, which counts as not being there. */
export const time: Schema<string> = scalar({
  read: (value) => (typeof value === "string" ? canonicalTime(value) : undefined),
  rule: "must be a time such as 2026-01-31T12:00:00Z",
  go: {
    write: (value) => (value === "" ? "null" : writeGoString(value)),
    isEmpty: (value) => value === "",
    zero: "null",
  },
  crd: { type: "string", format: "date-time" },
});

export const duration = (crd: CrdSchema = {}): Schema<string> =>
  scalar({
    read: (value) => {
      const parsed = typeof value === "string" ? parseDuration(value) : undefined;
      return parsed === undefined ? undefined : printDuration(parsed);
    },
    rule: "must be a duration such as 1m30s",
    go: { write: writeGoString, isEmpty: () => false, zero: "null" },
    crd: { type: "string", ...crd },
  });
