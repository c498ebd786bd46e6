// The settings of a node that decide over packets beside the policies, with the original's defaults.
import { type AddressRange, holds, parseRange } from "../../base/lib/index.ts";
import type { Packet } from "./match-rule.ts";
import type { PolicyData } from "./policy-data.ts";
import { protocolNumber } from "./protocols.ts";
import type { Direction } from "./values.ts";

type FailsafePort = { readonly protocol: number; readonly net: AddressRange | undefined; readonly port: number };

export type NodeSettings = {
  /** False: packets of IPv6 are left alone. */
  readonly isIpv6On: boolean;
  readonly endpointToHost: "drop" | "return" | "accept";
  readonly failsafe: { readonly [D in Direction]: readonly FailsafePort[] };
  readonly vxlanPort: number;
  readonly allowsVxlanFromWorkloads: boolean;
  readonly allowsIpipFromWorkloads: boolean;
  /** Whether pods may ask for source addresses that are not their own. */
  readonly allowsSpoofedSources: boolean;
  /** What pods of pools with natOutgoing hide behind, if not the address of the node's interface. */
  readonly natAddress: AddressRange | undefined;
  /** Whether they hide from nodes of the cluster, too. */
  readonly hidesFromNodes: boolean;
  /** What becomes of a packet that policy denies. */
  readonly denyAction: "drop" | "reject";
  /** Stands before the lines that rules of action Log write. */
  readonly logPrefix: string;
};

/** A setting's text by its name, whoever has said it: environment, file or datastore. */
export type SettingOf = (name: string) => string | undefined;

const inbound = "tcp:22,udp:68,tcp:179,tcp:2379,tcp:2380,tcp:5473,tcp:6443,tcp:6666,tcp:6667";
const outbound = "udp:53,udp:67,tcp:179,tcp:2379,tcp:2380,tcp:5473,tcp:6443,tcp:6666,tcp:6667";

export function nodeSettings(setting: SettingOf): NodeSettings {
  const action = setting("DefaultEndpointToHostAction")?.toLowerCase();
  return {
    isIpv6On: !isFalse(setting("Ipv6Support")),
    endpointToHost: action === "accept" || action === "return" ? action : "drop",
    failsafe: {
      ingress: readFailsafe(setting("FailsafeInboundHostPorts") ?? inbound),
      egress: readFailsafe(setting("FailsafeOutboundHostPorts") ?? outbound),
    },
    vxlanPort: readPort(setting("VXLANPort")) ?? 4789,
    allowsVxlanFromWorkloads: isTrue(setting("AllowVXLANPacketsFromWorkloads")),
    allowsIpipFromWorkloads: isTrue(setting("AllowIPIPPacketsFromWorkloads")),
    allowsSpoofedSources: setting("WorkloadSourceSpoofing")?.toLowerCase() === "any",
    natAddress: parseRange(setting("NATOutgoingAddress") ?? ""),
    hidesFromNodes: setting("NATOutgoingExclusions")?.toLowerCase() !== "ippoolsandhostips",
    denyAction: setting("NftablesFilterDenyAction")?.toLowerCase() === "reject" ? "reject" : "drop",
    logPrefix: setting("LogPrefix") ?? "calico-packet",
  };
}

export function settingsOf(data: PolicyData, node: string): NodeSettings {
  return nodeSettings((name) => data.setting(node, name));
}

/** Ports of a host that no policy closes, so that nobody locks himself out. The net is the other side's. */
export function isFailsafe(ports: readonly FailsafePort[], direction: Direction, packet: Packet): boolean {
  const other = direction === "ingress" ? packet.source : packet.destination;
  return ports.some(
    ({ protocol, net, port }) =>
      protocol === packet.protocol && port === packet.destinationPort && (net === undefined || holds(net, other)),
  );
}

/** tcp:22, udp:10.0.0.0/8:53, or a number alone, which is TCP; a network of IPv6 stands in brackets or not. */
function readFailsafe(text: string): readonly FailsafePort[] {
  if (text.trim().toLowerCase() === "none") return [];
  return text.split(",").flatMap((entry) => {
    const parts = /^(?:(?<protocol>[a-z]+):)?(?:\[?(?<net>[0-9a-f.:/]+?)\]?:)?(?<port>[0-9]+)$/i.exec(entry.trim());
    const { protocol: name = "tcp", net, port } = parts?.groups ?? {};
    const protocol = protocolNumber(name);
    const range = net === undefined ? undefined : parseRange(net);
    if (protocol === undefined || port === undefined || (net !== undefined && range === undefined)) return [];
    return [{ protocol, net: range, port: Number(port) }];
  });
}

/** "none", which a setting may say, is no port that nft knows. */
function readPort(text: string | undefined): number | undefined {
  const number = Number(text);
  return text !== undefined && Number.isInteger(number) && number > 0 && number <= 65_535 ? number : undefined;
}

function isTrue(text: string | undefined): boolean {
  return /^(?:true|1|yes|y|t)$/i.test(text ?? "");
}

function isFalse(text: string | undefined): boolean {
  return /^(?:false|0|no|n|f|none)$/i.test(text ?? "");
}
