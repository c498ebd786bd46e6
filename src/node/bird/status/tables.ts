// What BIRD says, for a person: three tables for each family, headed as the original heads them.
import type { FamilyStatus, NodeBgpStatus } from "./gather.ts";

export function statusText(status: NodeBgpStatus): string {
  return ([4, 6] as const).map((family) => `${familyText(family, status[family])}\n\n`).join("");
}

function familyText(family: 4 | 6, status: FamilyStatus): string {
  if (status.is === "absent") return `\nbird v${family} does not answer: ${status.why}\n`;
  const { daemon, sessions, routes } = status;
  const { version, routerId, serverTime, bootTime, reconfiguredTime } = daemon;
  return [
    `\nbird v${family} status\n`,
    table(
      ["READY", "VERSION", "ROUTEID", "SERVERTIME", "LASTBOOT", "LASTRECONFIG"],
      [["true", version, routerId, serverTime, bootTime, reconfiguredTime]],
    ),
    `\nbird v${family} BGP peers\n`,
    table(
      ["PEER ADDRESS", "PEER TYPE", "STATE", "SINCE", "BGPSTATE"],
      sessions.map(({ address, kind, state, since, bgpState }) => [address, kind, state, since, bgpState]),
    ),
    `\nbird v${family} routes\n`,
    table(
      ["DESTINATION", "GATEWAY", "IFACE", "LEARNEDFROM", "PRIMARY"],
      routes.map(({ destination, gateway, interface: by, from, isBest }) => [
        destination,
        gateway,
        by,
        from,
        isBest ? "*" : "",
      ]),
    ),
  ].join("");
}

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, at) => Math.max(heading.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const rule = `+${widths.map((width) => "-".repeat(width + 2)).join("+")}+\n`;
  const line = (cells: readonly string[]) =>
    `|${widths.map((width, at) => ` ${(cells[at] ?? "").padEnd(width)} `).join("|")}|\n`;
  return rule + line(headings) + rule + rows.map(line).join("") + rule;
}
