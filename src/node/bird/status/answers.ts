// BIRD's longer answers, of both generations, read: its status, its sessions, and its routes.
import { canonicalIp, parseIp } from "../../../base/lib/index.ts";
import type { BirdLine } from "../control-socket.ts";

export type DaemonStatus = {
  readonly version: string;
  readonly routerId: string;
  readonly serverTime: string;
  readonly bootTime: string;
  readonly reconfiguredTime: string;
};

/** Of the answer to "show status". */
export function readStatus(lines: readonly BirdLine[]): DaemonStatus {
  const after = (words: string) =>
    lines
      .map(({ text }) => text.trim())
      .find((text) => text.startsWith(words))
      ?.slice(words.length) ?? "";
  return {
    version: after("BIRD "),
    routerId: after("Router ID is "),
    serverTime: after("Current server time is "),
    bootTime: after("Last reboot on "),
    reconfiguredTime: after("Last reconfiguration on "),
  };
}

export type SessionKindName = "Mesh" | "Node" | "Global" | "Local_Workload";

/** A BGP session by one of Calico's names. */
export type SessionReport = {
  readonly name: string;
  readonly kind: SessionKindName;
  readonly address: string;
  readonly family: 4 | 6;
  /** Of the protocol: up, start, down. */
  readonly state: string;
  readonly since: string;
  /** Of BGP: Established, Active. */
  readonly bgpState: string;
};

export type ProtocolReport = {
  readonly kinds: ReadonlyMap<string, string>;
  readonly sessions: readonly SessionReport[];
};

const rowCode = 1002;

/** Of the answer to "show protocols all": the address is what BIRD says it is, not what the name looks like. */
export function readSessions(lines: readonly BirdLine[]): ProtocolReport {
  const kinds = new Map<string, string>();
  const sessions: SessionReport[] = [];
  let current: { row: readonly string[]; bgpState: string; address: string } | undefined;
  const finish = () => {
    const report = current === undefined ? undefined : sessionOf(current);
    if (report !== undefined) sessions.push(report);
    current = undefined;
  };
  for (const { code, text } of lines) {
    if (code === rowCode && !/^\s/.test(text)) {
      finish();
      const row = text.trim().split(/\s+/);
      kinds.set(row[0] ?? "", row[1] ?? "");
      current = { row, bgpState: "", address: "" };
      continue;
    }
    if (current === undefined) continue;
    const [, label, value = ""] = /^\s+(BGP state|Neighbor address):\s*(\S*)/.exec(text) ?? [];
    if (label === "BGP state") current.bgpState = value;
    if (label === "Neighbor address") current.address = value.split("%")[0] ?? "";
  }
  finish();
  return { kinds, sessions };
}

function sessionOf({
  row,
  bgpState,
  address,
}: {
  row: readonly string[];
  bgpState: string;
  address: string;
}): SessionReport | undefined {
  const [name = "", kind = "", _table, state = "", ...rest] = row;
  const named = kind === "BGP" ? nameParts(name) : undefined;
  if (named === undefined) return undefined;
  // A day ago and longer, BIRD 2 writes date and time.
  const since =
    /^\d{4}-\d\d-\d\d$/.test(rest[0] ?? "") && /^\d\d:\d\d/.test(rest[1] ?? "")
      ? `${rest[0]} ${rest[1]}`
      : (rest[0] ?? "");
  const at = canonicalIp(address) ?? named.address;
  return { name, kind: named.kind, address: at, family: parseIp(at)?.version ?? 4, state, since, bgpState };
}

/** Mesh_172_30_0_12, Global_fd00__1_port_1790. Undefined: not one of Calico's names. */
export function nameParts(name: string): { kind: SessionKindName; address: string } | undefined {
  const [, kind, place] = /^(Mesh|Node|Global|Local_Workload)_(.+?)(?:_port_\d+)?$/.exec(name) ?? [];
  if (kind === undefined || place === undefined) return undefined;
  const address = place.replaceAll("_", /^\d{1,3}(?:_\d{1,3}){3}$/.test(place) ? "." : ":");
  return { kind: kind as SessionKindName, address }; // the expression has no other
}

export type RouteReport = {
  readonly destination: string;
  /** "N/A" for what has none. */
  readonly gateway: string;
  /** Or what is done instead: blackhole, unreachable. */
  readonly interface: string;
  /** The protocol's name. */
  readonly from: string;
  readonly isBest: boolean;
};

/**
 * Of the answer to "show route".
 *
 *   BIRD 1.6   10.1.0.0/26  via 172.30.0.12 on eth0 [Mesh_172_30_0_12 10:00:05] * (100/0) [i]
 *   BIRD 2     10.1.0.0/26  unicast [Mesh_172_30_0_12 10:00:05.123] * (100) [i]
 *                  via 172.30.0.12 on eth0
 */
export function readRoutes(lines: readonly BirdLine[]): readonly RouteReport[] {
  const routes: RouteReport[] = [];
  let destination = "";
  let open: Omit<RouteReport, "gateway" | "interface"> | undefined;
  for (const { text } of lines) {
    const hop = hopOf(text.trim());
    if (/^\s/.test(text) && hop !== undefined && !text.includes("[")) {
      if (open !== undefined) routes.push({ ...open, ...hop });
      continue;
    }
    const [, to = "", way = "", from = "", flag = ""] =
      /^(\S+\/\d+)?\s+(.*?)\s*\[(\S+) [^\]]*\]( \*)?/.exec(text) ?? [];
    if (from === "") continue;
    destination = to || destination;
    const head = { destination, from, isBest: flag !== "" };
    open = undefined;
    const single = hopOf(way);
    if (single !== undefined) routes.push({ ...head, ...single });
    else if (way === "unicast" || way === "multipath") open = head;
    else routes.push({ ...head, gateway: "N/A", interface: way });
  }
  return routes;
}

function hopOf(text: string): { gateway: string; interface: string } | undefined {
  const [, gateway, by] = /^via (\S+) on (\S+)/.exec(text) ?? [];
  if (gateway !== undefined && by !== undefined) return { gateway, interface: by };
  const [, device] = /^dev (\S+)/.exec(text) ?? [];
  return device === undefined ? undefined : { gateway: "N/A", interface: device };
}
