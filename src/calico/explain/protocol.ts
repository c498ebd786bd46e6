// A protocol as people name it.
import { CattailError } from "../../base/lib/index.ts";
import { protocolNumber, protocolText } from "../policy/index.ts";

/** "icmp" between addresses of IPv6 is ICMPv6. */
export function readProtocol(name: string, family: 4 | 6): number {
  const wanted = name.toLowerCase() === "icmp" && family === 6 ? "icmpv6" : name;
  const protocol = protocolNumber(/^\d+$/.test(wanted) ? Number(wanted) : wanted);
  if (protocol === undefined)
    throw new CattailError("EXPLAIN_PROTOCOL", {
      problem: `${JSON.stringify(name)} is no protocol`,
      next: "Give tcp, udp, sctp, icmp, icmpv6, udplite or a number from 0 to 255",
    });
  return protocol;
}

/** That a port can be asked about, if one is. */
export function checkPort(protocol: number, port: number | undefined): void {
  if (port === undefined || isWithPorts(protocol)) return;
  throw new CattailError("EXPLAIN_PROTOCOL", {
    problem: `--port is given, and ${protocolText(protocol)} has no ports that rules can name`,
    next: "Leave out --port, or ask about tcp, udp or sctp",
  });
}

export function isWithPorts(protocol: number): boolean {
  return ["tcp", "udp", "sctp"].includes(protocolText(protocol));
}

/** What is sent to see whether the other one answers; undefined: the protocol has no such thing. */
export function echoOf(protocol: number): { readonly type: number; readonly code: number } | undefined {
  if (protocol === 1) return { type: 8, code: 0 };
  return protocol === 58 ? { type: 128, code: 0 } : undefined;
}

export function trafficText(protocol: number, port: number | undefined): string {
  if (echoOf(protocol) !== undefined) return "ping";
  return port === undefined ? protocolText(protocol) : `${protocolText(protocol)} ${port}`;
}
