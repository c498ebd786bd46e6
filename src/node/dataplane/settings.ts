// The settings that this room asks for, as the table and the files beside it need them. What is wrong falls back to the default, as
// node/settings has warned of it; names are the original's, but for DropSamplesPerSecond, which is ours.
import { type AddressRange, compileGoRegexp, parseAddress, parseRange } from "../../base/lib/index.ts";
import { type NodeSettings, nodeSettings } from "../../calico/policy/index.ts";
import type { LiveSettings } from "../part/index.ts";
import { settingValue } from "../settings/index.ts";
import { isInterfaceName } from "./nft/names.ts";

/** Bits of the packet's mark: "this policy passes on", "accepted before NAT", and "from the node itself, translated". */
export type Marks = { readonly pass: number; readonly accept: number; readonly local: number };

/** Everything that decides over the text of the table beside the cluster's data. */
export type BuildOptions = {
  readonly settings: NodeSettings;
  /** "cali" */
  readonly interfacePrefixes: readonly string[];
  readonly marks: Marks;
  /** Whether a host endpoint for all interfaces leaves this one alone. */
  readonly isExcluded: (interfaceName: string) => boolean;
  readonly excludedNames: readonly string[];
  /** Whether packets that belong to no known connection, and begin none, are dropped. */
  readonly dropsInvalid: boolean;
  /** "5/second burst 5 packets" */
  readonly logLimit: string | undefined;
  readonly natOutgoing: NatOutgoing;
  /** So many denied packets a second are shown with what dropped them (`cattail node drops`). */
  readonly dropSamplesPerSecond: number;
};

export type NatOutgoing = {
  readonly addresses: { readonly 4: AddressRange | undefined; readonly 6: AddressRange | undefined };
  readonly portRange: string | undefined;
  readonly excludesHosts: boolean;
  readonly interfaceName: string | undefined;
};

export type DataplaneSettings = BuildOptions & {
  /** Undefined: never. */
  readonly refreshMs: number | undefined;
  /** Undefined: no files say that a pod's rules are in. */
  readonly statusFolder: string | undefined;
  /** From where packets of tunnels may come beside the cluster's nodes. */
  readonly externalNodes: readonly AddressRange[];
};

type Setting = (name: string) => string | undefined;

export function dataplaneSettings(live: Pick<LiveSettings, "raw">): DataplaneSettings {
  // A number may be written in several ways.
  const setting: Setting = (name) => (name === "VXLANPort" ? String(settingValue(live, name)) : live.raw(name));
  const exclude = listOf(setting("InterfaceExclude") ?? "kube-ipvs0");
  const patterns = exclude.flatMap(patternOf);
  return {
    settings: nodeSettings(setting),
    interfacePrefixes: prefixes(setting("InterfacePrefix")),
    marks: marksOf(settingValue(live, "NftablesMarkMask")),
    isExcluded: (name) => patterns.some((pattern) => pattern.test(name)),
    excludedNames: exclude.filter(isInterfaceName),
    dropsInvalid: !isTrue(setting("DisableConntrackInvalidCheck")),
    logLimit: logLimit(setting),
    natOutgoing: natOutgoing(setting),
    dropSamplesPerSecond: Math.min(1_000, positiveWhole(setting("DropSamplesPerSecond")) ?? 0),
    refreshMs: refreshMs(setting),
    externalNodes: listOf(setting("ExternalNodesCIDRList") ?? "").flatMap((text) => parseRange(text) ?? []),
    statusFolder: statusFolder(setting("EndpointStatusPathPrefix") ?? "/var/run/calico"),
  };
}

function statusFolder(prefix: string): string | undefined {
  return prefix === "" || prefix.toLowerCase() === "none" ? undefined : `${prefix}/endpoint-status`;
}

function prefixes(text: string | undefined): readonly string[] {
  const given = listOf(text ?? "cali").filter(isInterfaceName);
  return given.length === 0 ? ["cali"] : given;
}

/** `/^veth.*$/` is a pattern, anything else a name. */
function patternOf(text: string): readonly RegExp[] {
  const inner = /^\/(.*)\/$/.exec(text)?.[1];
  if (inner === undefined) return [new RegExp(`^${RegExp.escape(text)}$`)];
  try {
    return [compileGoRegexp(inner)];
  } catch {
    return []; // said by node/settings, where the setting is checked
  }
}

const defaultMask = 0xffff0000;

/** The lowest three bits that we may use. */
function marksOf(mask: number): Marks {
  const bits = bitsOf(mask);
  const [pass, accept, local] = bits.length >= 3 ? bits : bitsOf(defaultMask);
  return { pass: pass ?? 0, accept: accept ?? 0, local: local ?? 0 };
}

function bitsOf(mask: number): readonly number[] {
  const bits = Array.from({ length: 32 }, (_, bit) => 2 ** bit);
  return bits.filter((bit) => Math.floor(mask / bit) % 2 === 1);
}

function logLimit(setting: Setting): string | undefined {
  const [, rate, per] = /^(\d{1,7})\/(second|minute|hour|day)$/i.exec(setting("LogActionRateLimit") ?? "") ?? [];
  if (rate === undefined || per === undefined || Number(rate) === 0) return undefined;
  const burst = positiveWhole(setting("LogActionRateLimitBurst")) ?? 5;
  return `${Number(rate)}/${per.toLowerCase()} burst ${burst} packets`;
}

function natOutgoing(setting: Setting): NatOutgoing {
  const [, first, last = first] = /^(\d{1,5})(?::(\d{1,5}))?$/.exec(setting("NATPortRange") ?? "") ?? [];
  const isRange = first !== undefined && Number(first) <= Number(last) && Number(last) <= 65_535;
  const filter = setting("IptablesNATOutgoingInterfaceFilter") ?? "";
  return {
    addresses: { 4: addressOf(setting("NATOutgoingAddress"), 4), 6: addressOf(setting("NATOutgoingAddress"), 6) },
    portRange: isRange ? `${Number(first)}-${Number(last)}` : undefined,
    excludesHosts: setting("NATOutgoingExclusions")?.toLowerCase() === "ippoolsandhostips",
    // A "+" at the end is how iptables says "and whatever follows".
    interfaceName: isInterfaceName(filter.replace(/[+*]$/, "")) ? filter.replace(/\+$/, "*") : undefined,
  };
}

function addressOf(text: string | undefined, family: 4 | 6): AddressRange | undefined {
  const range = text === undefined || parseAddress(text) === undefined ? undefined : parseRange(text);
  return range?.family === family ? range : undefined;
}

/** Rules and members are one thing to us: the shorter interval counts for both. */
function refreshMs(setting: Setting): number | undefined {
  const seconds = [setting("NftablesRefreshInterval") ?? "180", setting("IpsetsRefreshInterval") ?? "90"].flatMap(
    (text) => positive(text) ?? [],
  );
  return seconds.length === 0 ? undefined : Math.min(...seconds) * 1_000;
}

function listOf(text: string): readonly string[] {
  return text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

function positive(text: string | undefined): number | undefined {
  const number = Number.parseFloat(text ?? "");
  return Number.isFinite(number) && number > 0 ? number : undefined;
}

/** nft refuses fractions, and with them the whole table. */
function positiveWhole(text: string | undefined): number | undefined {
  const number = positive(text);
  return number === undefined ? undefined : Math.ceil(number);
}

function isTrue(text: string | undefined): boolean {
  return /^(?:true|1|yes|y|t)$/i.test(text ?? "");
}
