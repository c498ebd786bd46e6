// The classes of FelixConfiguration's fields: how each is read and written, and how it looks as a setting of Felix, which
// is a text. felix-fields.ts is the table of the fields.
import { parseCidrOrIp } from "../../../base/lib/index.ts";
import {
  type CrdSchema,
  compareUtf8,
  dscp,
  duration,
  FieldError,
  flag,
  int64,
  integer,
  kept,
  lazy,
  list,
  type Member,
  map,
  type NumberOrText,
  optional,
  parseDuration,
  port,
  printGoFloat,
  required,
  type SchemaType,
  struct,
  text,
  uint16,
} from "../../model/index.ts";
import { celRules } from "../parts/cel.ts";

export type Setting<T> = Member<T> & {
  /** The setting's name where it is not the field's with a capital first letter. */
  readonly as: string | undefined;
  /** Undefined: not set. Throws FieldError for what cannot be said. */
  format(value: T): string | undefined;
};

type Options = { readonly as?: string; readonly crd?: CrdSchema };

const setting = <T>(member: Member<T>, { as }: Options, format: (value: T) => string | undefined): Setting<T> => ({
  ...member,
  as,
  format,
});

/** "" is not set. */
export const plain = (options: Options = {}) =>
  setting(text(options.crd), options, (value) => (value === "" ? undefined : value));

/** "" is a value. */
export const given = (options: Options = {}) => setting(optional(text(options.crd)), options, (value) => value);

export const toggle = (options: Options = {}) => setting(optional(flag(options.crd)), options, String);

export const count = (options: Options = {}) => setting(optional(integer(int64, options.crd)), options, String);

/** The original's own pattern, whose second backslash makes it refuse fractions. */
const wholeUnits = { pattern: "^([0-9]+(\\\\.[0-9]+)?(ms|s|m|h))*$" };

export const seconds = (options: Options = {}) =>
  setting(duration(options.crd ?? wholeUnits), options, (value) => inUnits(value, 1_000_000_000n));

export const milliseconds = (options: Options = {}) =>
  setting(duration(options.crd ?? wholeUnits), options, (value) => inUnits(value, 1_000_000n));

function inUnits(value: string, unit: bigint): string {
  const nanoseconds = parseDuration(value) ?? 0n; // canonical: it parses
  return printGoFloat(Number(nanoseconds / unit) + Number(nanoseconds % unit) / Number(unit));
}

export const texts = (options: Options = {}) =>
  setting(optional(list(text(), options.crd)), options, (values) => values.join(","));

const protoPort = lazy(() => struct({ protocol: text(), port: required(kept(integer(uint16))), net: text() }));
type ProtoPort = SchemaType<typeof protoPort>;

export const failsafePorts = (options: Options = {}) =>
  setting(optional(list(protoPort, options.crd)), options, (ports) =>
    ports.length === 0 ? "none" : ports.map(printProtoPort).join(","),
  );

function printProtoPort({ protocol = "", port: number = 0, net = "" }: ProtoPort, at: number): string {
  const name = protocol.toLowerCase();
  if (net === "") return `${name}:${number}`;
  const cidr = parseCidrOrIp(net);
  // The original crashes on it.
  if (cidr === undefined) throw new FieldError(`[${at}].net`, "must be a CIDR or an IP address");
  return cidr.ip.version === 6 ? `${name}:[${net}]:${number}` : `${name}:${net}:${number}`;
}

/** Go's own print of a list, brackets and blanks included. */
export const portRanges = (options: Options = {}) =>
  setting(optional(list(port, options.crd)), options, (ports) => `[${ports.join(" ")}]`);

export const portRange = (options: Options = {}) =>
  setting<NumberOrText>(optional({ ...port, crd: { ...port.crd, ...options.crd } }), options, String);

export const dscpMark = (options: Options = {}) =>
  setting<NumberOrText>(optional({ ...dscp, crd: { ...dscp.crd, ...options.crd } }), options, String);

const range = (crd: CrdSchema) =>
  struct({ min: required(kept(integer(int64))), max: required(kept(integer(int64))) }, crd);
const printRange = ({ min = 0, max = 0 }: SchemaType<ReturnType<typeof range>>) => `${min}-${max}`;

export const routeTableRange = (options: Options = {}) =>
  setting(
    range(
      celRules({
        rule: "self.min >= 1 && self.min <= self.max && self.max <= 250",
        message: "must be a range of route table indices within 1..250",
      }),
    ),
    options,
    printRange,
  );

export const routeTableRanges = (options: Options = {}) =>
  setting(
    optional(
      list(
        range(
          celRules(
            { rule: "self.min >= 1", message: "min must be >= 1" },
            { rule: "self.min <= self.max", message: "min must not be greater than max" },
          ),
        ),
      ),
    ),
    options,
    (ranges) => ranges.map(printRange).join(","),
  );

const healthTimeout = lazy(() =>
  struct({
    name: required(kept(text())),
    timeout: required(kept({ ...duration(), go: { ...duration().go, zero: '"0s"' } })),
  }),
);

export const healthTimeouts = (options: Options = {}) =>
  setting(list(healthTimeout, options.crd), options, (overrides) =>
    overrides.length === 0
      ? undefined
      : overrides.map(({ name = "", timeout = "0s" }) => `${name}=${timeout}`).join(","),
  );

const timeout = () => optional(text({ pattern: "^(([0-9]*(\\.[0-9]*)?(ms|s|h|m|us)+)+|Auto)$" }));
const conntrackFields = {
  creationGracePeriod: timeout(),
  tcpSynSent: timeout(),
  tcpEstablished: timeout(),
  tcpFinsSeen: timeout(),
  tcpResetSeen: timeout(),
  udpTimeout: timeout(),
  genericTimeout: timeout(),
  icmpTimeout: timeout(),
};
const conntrackNames = [
  ["creationGracePeriod", "CreationGracePeriod"],
  ["tcpSynSent", "TCPSynSent"],
  ["tcpEstablished", "TCPEstablished"],
  ["tcpFinsSeen", "TCPFinsSeen"],
  ["tcpResetSeen", "TCPResetSeen"],
  ["udpTimeout", "UDPTimeout"],
  ["genericTimeout", "GenericTimeout"],
  ["icmpTimeout", "ICMPTimeout"],
] as const;

export const conntrackTimeouts = (options: Options = {}) =>
  setting(struct(conntrackFields), options, (timeouts) =>
    conntrackNames
      .filter(([field]) => timeouts[field] !== undefined)
      .map(([field, name]) => `${name}=${timeouts[field]}`)
      .join(","),
  );

/** A comma after each entry. The original's order is that of a Go map, so any; here it is sorted. */
export const textMap = (options: Options = {}) =>
  setting(optional(map(text(), options.crd)), options, (entries) =>
    Object.keys(entries)
      .sort(compareUtf8)
      .map((key) => `${key}=${entries[key]},`)
      .join(""),
  );

/** In the CRD only: one of these words, in any case, or nothing. */
export const anyCase = (...words: string[]): CrdSchema => ({ pattern: `^(?i)(${words.join("|")})?$` });

export const oneOf = (...words: string[]): CrdSchema => ({ enum: words });
