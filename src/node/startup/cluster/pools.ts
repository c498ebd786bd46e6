// The default pools: what the environment, kubeadm and the host's own addresses make of them. Pure; run-startup.ts creates what comes out.
import { randomBytes } from "node:crypto";
import {
  type Family,
  holds,
  type JsonRecord,
  type Log,
  parseCidr,
  parseRange,
  rangeText,
} from "../../../base/lib/index.ts";
import { parseSelector } from "../../../calico/model/index.ts";
import type { HostInterface } from "../addresses/interfaces.ts";
import type { ReadNodeSettings } from "../settings/read.ts";
import type { NodeSettingName } from "../settings/table.ts";
import { startupError } from "../startup-error.ts";
import { kubeadmSubnets } from "./facts.ts";

export type DefaultPool = { readonly family: Family; readonly name: string; readonly spec: JsonRecord };

export type PoolWorld = {
  readonly read: ReadNodeSettings;
  readonly kubeadm: JsonRecord | undefined;
  readonly interfaces: readonly HostInterface[];
  /** The families that have a pool already, disabled ones too. */
  readonly present: ReadonlySet<Family>;
  readonly hasIpv6: boolean;
  readonly random?: () => Uint8Array;
  readonly log: Log;
};

/** The pools that are to be created. Everything the environment says about pools is checked, also where there are some. Throws StartupError. */
export function defaultPools(world: PoolWorld): readonly DefaultPool[] {
  const { read, log } = world;
  const { values: settings } = read;
  if (settings.noDefaultPools) {
    if (settings.pool4Cidr !== "" || settings.pool6Cidr !== "") {
      throw startupError(
        "Invalid configuration with NO_DEFAULT_POOLS defined and CALICO_IPV4POOL_CIDR or CALICO_IPV6POOL_CIDR defined.",
        { next: "Remove one of them" },
      );
    }
    log.info("Skipping IP pool configuration");
    return [];
  }
  const given: { readonly [family in Family]: string } = { 4: settings.pool4Cidr, 6: settings.pool6Cidr };
  const families = ([4, 6] as const).filter((family) => {
    if (given[family] === "none") log.info(`Skipping IPv${family} pool configuration`);
    return given[family] !== "none";
  });
  const open = families.filter((family) => given[family] === "");
  const subnets = open.length > 0 && world.kubeadm !== undefined ? kubeadmSubnets(world.kubeadm) : undefined;
  if (subnets !== undefined) {
    for (const family of open) log.info(`found v${family}=${subnets[family]} in the kubeadm config map`);
  }
  return families.flatMap((family) => {
    const cidr = poolCidr(family, given[family] || subnets?.[family] || "", world);
    const rest = checkedRest(family, read);
    if (world.present.has(family) || (family === 6 && !isIpv6Wanted(world))) return [];
    const natOutgoing = yesOrNo(family === 4 ? "pool4NatOutgoing" : "pool6NatOutgoing", world);
    const disableBGPExport = yesOrNo(family === 4 ? "pool4DisableBgpExport" : "pool6DisableBgpExport", world);
    const { values } = read;
    const ipipMode = family === 4 ? modeOf("IPIP", values.pool4Ipip, "CALICO_IPV4POOL_IPIP") : "Never";
    const vxlan = family === 4 ? values.pool4Vxlan : values.pool6Vxlan;
    const vxlanMode = modeOf("VXLAN", vxlan, `CALICO_IPV${family}POOL_VXLAN`);
    const spec = { cidr, natOutgoing, ipipMode, vxlanMode, ...rest, disableBGPExport };
    return [{ family, name: `default-ipv${family}-ippool`, spec }];
  });
}

/** As the original's lines say it. */
export function poolText({ spec }: DefaultPool): string {
  return `IPIP mode: ${spec.ipipMode}, VXLAN mode: ${spec.vxlanMode}, DisableBGPExport: ${spec.disableBGPExport}`;
}

function poolCidr(family: Family, asked: string, { interfaces, log, random }: PoolWorld): string {
  let chosen = asked;
  if (chosen === "" && family === 4) {
    chosen = freeDefault(interfaces);
    log.info(`Selected default IP pool is '${chosen}'`);
  } else if (chosen === "") {
    chosen = randomUla(random);
  }
  const cidr = parseCidr(chosen);
  const range = parseRange(chosen);
  if (cidr === undefined || range === undefined || cidr.ip.version !== family) {
    throw startupError(`Invalid CIDR specified in CALICO_IPV${family}POOL_CIDR '${chosen}'`, {
      next: `Set it to an IPv${family} CIDR, to none, or not at all`,
    });
  }
  return rangeText(range);
}

const bounds = { 4: { least: 20, most: 32 }, 6: { least: 116, most: 128 } } as const;

function checkedRest(family: Family, { values }: ReadNodeSettings): { blockSize: number; nodeSelector?: string } {
  const text = family === 4 ? values.pool4BlockSize : values.pool6BlockSize;
  const { least, most } = bounds[family];
  const blockSize = /^[+-]?\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  const next = `Set CALICO_IPV${family}POOL_BLOCK_SIZE to a number from ${least} to ${most}`;
  if (Number.isNaN(blockSize)) throw startupError("Unable to convert blocksize to int", { next, cause: text });
  if (blockSize < least || blockSize > most)
    throw startupError(`Invalid blocksize ${blockSize} for version ${family}`, { next });
  const nodeSelector = family === 4 ? values.pool4NodeSelector : values.pool6NodeSelector;
  const parsed = parseSelector(nodeSelector);
  if (parsed.is === "error") {
    throw startupError(`Invalid node selector '${nodeSelector}' for version ${family}: ${parsed.why}`, {
      next: `Correct CALICO_IPV${family}POOL_NODE_SELECTOR`,
    });
  }
  return { blockSize, ...(nodeSelector === "" ? {} : { nodeSelector }) };
}

function modeOf(what: "IPIP" | "VXLAN", text: string, variable: string): "Never" | "Always" | "CrossSubnet" {
  switch (text.toLowerCase()) {
    case "":
    case "off":
    case "never":
      return "Never";
    case "crosssubnet":
    case "cross-subnet":
      return "CrossSubnet";
    case "always":
      return "Always";
    default:
      throw startupError(`Unrecognized ${what} mode specified in ${variable} '${text.toLowerCase()}'`, {
        next: "Set it to Never, Always or CrossSubnet",
      });
  }
}

function isIpv6Wanted(world: PoolWorld): boolean {
  if (!yesOrNo("ipv6Support", world)) return false;
  world.log.info(`IPv6 supported on this platform: ${world.hasIpv6}`);
  return world.hasIpv6;
}

const variables = {
  pool4NatOutgoing: "CALICO_IPV4POOL_NAT_OUTGOING",
  pool6NatOutgoing: "CALICO_IPV6POOL_NAT_OUTGOING",
  pool4DisableBgpExport: "CALICO_IPV4POOL_DISABLE_BGP_EXPORT",
  pool6DisableBgpExport: "CALICO_IPV6POOL_DISABLE_BGP_EXPORT",
  ipv6Support: "FELIX_IPV6SUPPORT",
} as const satisfies { readonly [name in NodeSettingName]?: string };

function yesOrNo(name: keyof typeof variables, { read, log }: PoolWorld): boolean {
  const value = read.values[name];
  const origin = read.origins.get(name)?.from === "environment" ? "" : " (defaulted)";
  log.info(`${variables[name]} is ${value}${origin} through environment variable`);
  return value;
}

/** 192.168.0.0/16, unless the host is in it. */
function freeDefault(interfaces: readonly HostInterface[]): string {
  const usual = "192.168.0.0/16";
  const candidates = [usual, ...Array.from({ length: 16 }, (_, at) => `172.${16 + at}.0.0/16`)];
  const hosts = interfaces.flatMap(({ addresses }) =>
    addresses.flatMap(({ cidr }) => parseRange(cidr.split("/")[0] ?? "") ?? []),
  );
  const isFree = (text: string) => {
    const range = parseRange(text);
    return range !== undefined && !hosts.some((host) => holds(range, host));
  };
  return candidates.find(isFree) ?? usual;
}

/** RFC 4193: fd and 40 random bits. */
function randomUla(random: () => Uint8Array = () => randomBytes(5)): string {
  const bytes = [0xfd, ...random()].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const groups = bytes.match(/.{4}/g) ?? [];
  const range = parseRange(`${groups.join(":")}::/48`);
  return range === undefined ? "fd00::/48" : rangeText(range);
}
