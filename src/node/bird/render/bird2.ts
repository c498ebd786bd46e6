// The configuration of BIRD 2 (2.0.12 and later): one daemon and one file for both families, with a channel for each.
import type { BgpIntent, FamilyIntent, Session } from "../model/intent.ts";
import { directInterfaces, familyFunctions, sessionFilters } from "./filter-text.ts";
import { hopOptions, sessionOptions } from "./session-options.ts";

export function renderBird2(intent: BgpIntent): string {
  const families = intent.families.filter(isInUse);
  const channels = families.map(({ family }) => `ipv${family};`).join(" ");
  const debug = { none: [], info: ["  debug { states };"], debug: ["  debug all;"] }[intent.logLevel];
  return lines([
    "# Written by cattail for BIRD 2; what is changed here is lost with the next change of the cluster.",
    "log stderr all;",
    `router id ${intent.routerId};`,
    "",
    ...["protocol device device1 {", ...debug, "  scan time 2;", "}"],
    ...(channels === ""
      ? []
      : [
          "protocol direct direct1 {",
          ...debug,
          `  ${channels}`,
          `  interface ${directInterfaces(intent.ignoredInterfaces)};`,
          "}",
        ]),
    ...families.flatMap((family) => familyText(family, intent)),
  ]);
}

/** A node without IPv6 has nothing to say about it, and perhaps no IPv6 in its kernel. */
function isInUse({ address, blackholes }: FamilyIntent): boolean {
  return address !== undefined || blackholes.length > 0;
}

function familyText(family: FamilyIntent, intent: BgpIntent): readonly string[] {
  const { blackholes, hostRoutes } = family;
  const channel = `ipv${family.family}`;
  // BIRD's own names for what has none: who reports on the node's routes knows them by these.
  const number = family.family === 4 ? 1 : 2;
  return [
    "",
    `# IPv${family.family}`,
    ...familyFunctions(family, {
      agentProtocol: intent.agentProtocol,
      rejectsDeviceRoutes: true,
      replacesOthers: family.family === 4,
      noGateways: ["0.0.0.0", "::"],
    }),
    "",
    `protocol static static${number} {`,
    `  ${channel};`,
    ...blackholes.map((cidr) => `  route ${cidr} blackhole;`),
    ...hostRoutes.map(({ to, via }) => `  route ${to} via ${via};`),
    "}",
    `protocol kernel kernel${number} {`,
    "  learn;",
    "  persist;",
    "  scan time 2;",
    "  merge paths on;",
    "  graceful restart;",
    "  metric 0;", // another would take the place of krt_metric
    `  ${channel} { import all; export filter calico_kernel${family.family}; };`,
    "}",
    ...family.sessions.flatMap((session) => sessionText(session, family, intent)),
  ];
}

function sessionText(session: Session, family: FamilyIntent, intent: BgpIntent): readonly string[] {
  const { asNumber, localAs, address, port } = session;
  const filters = sessionFilters(session, family);
  const local = session.usesNodeAddress || family.isBound ? ` ${family.address}` : "";
  const listens = intent.listenPort === undefined ? "" : ` port ${intent.listenPort}`;
  const debug = { none: [], info: ["debug { states, events };"], debug: ["debug all;"] }[intent.logLevel];
  const options = [
    ...debug,
    `local${local}${listens} as ${localAs};`,
    ...(family.isBound ? ["strict bind yes;"] : []),
    `neighbor ${address}${port === undefined ? "" : ` port ${port}`} as ${asNumber};`,
    ...hopOptions(session),
    "graceful restart on;",
    ...sessionOptions(session),
    ...(session.allowedLocalAs === undefined ? [] : [`allow local as ${session.allowedLocalAs};`]),
  ];
  const channel = [
    "gateway recursive;",
    "add paths on;",
    ...(session.nextHop === "auto" ? [] : [`next hop ${session.nextHop};`]),
    `import filter ${filters.import};`,
    `export filter ${filters.export};`,
  ];
  return [
    `protocol bgp ${session.name} {`,
    ...options.map((option) => `  ${option}`),
    `  ipv${family.family} {`,
    ...channel.map((option) => `    ${option}`),
    "  };",
    "}",
  ];
}

const lines = (texts: readonly string[]): string => `${texts.join("\n")}\n`;
