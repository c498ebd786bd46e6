// Source addresses on the way out: pods of pools with natOutgoing hide behind their node, except towards pools; and what a node sends
// through a tunnel has the tunnel's own address, or answers would take another way.
import { addressText } from "../../../base/lib/index.ts";
import type { BaseOptions } from "./base-options.ts";

export function natLines(options: BaseOptions): readonly string[] {
  return ([4, 6] as const).flatMap((family) => [...outgoing(family, options), ...tunnels(family, options)]);
}

function outgoing(family: 4 | 6, { natOutgoing }: BaseOptions): readonly string[] {
  const { addresses, portRange, excludesHosts, interfaceName } = natOutgoing;
  const word = family === 4 ? "ip" : "ip6";
  const match = [
    `${word} saddr @hidden${family} ${word} daddr != @pools${family}`,
    ...(excludesHosts ? [`${word} daddr != @nodes${family}`] : []),
    ...(interfaceName === undefined ? [] : [`oifname "${interfaceName}"`]),
  ].join(" ");
  const address = addresses[family];
  const brackets = (text: string) => (family === 4 ? text : `[${text}]`);
  const plain = address === undefined ? "masquerade" : `snat ${word} to ${addressText(family, address.first)}`;
  if (portRange === undefined) return [`${match} counter ${plain}`];
  const withPorts =
    address === undefined
      ? `masquerade to :${portRange}`
      : `snat ${word} to ${brackets(addressText(family, address.first))}:${portRange}`;
  return [`meta l4proto { 6, 17 } ${match} counter ${withPorts}`, `${match} counter ${plain}`];
}

function tunnels(family: 4 | 6, { tunnels: { vxlan, ipip }, settings }: BaseOptions): readonly string[] {
  const devices = [
    ...(vxlan[family] ? [family === 4 ? "vxlan.calico" : "vxlan-v6.calico"] : []),
    ...(family === 4 && ipip ? ["tunl0"] : []),
  ];
  return devices.flatMap((device) => {
    const match = `meta nfproto ipv${family} oifname "${device}" fib saddr . oif type != local fib saddr type local`;
    return [
      // Answers to a port that is VXLAN's would be taken for a tunnel's packets.
      ...(vxlan[family] ? [`meta l4proto 17 ${match} counter masquerade to :${portsBeside(settings.vxlanPort)}`] : []),
      `${match} counter masquerade`,
    ];
  });
}

/** The wider side of the port; nft takes one range. */
function portsBeside(port: number): string {
  return port - 1_024 >= 65_535 - port ? `1024-${port - 1}` : `${port + 1}-65535`;
}
