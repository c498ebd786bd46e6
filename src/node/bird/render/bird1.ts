// The configuration of BIRD 1.6, Debian's and the fork that Calico ships: a daemon and a file for each family.
import type { BgpIntent, FamilyIntent, Session } from "../model/intent.ts";
import { directInterfaces, familyFunctions, sessionFilters } from "./filter-text.ts";
import { hopOptions, sessionOptions } from "./session-options.ts";

export function renderBird1(intent: BgpIntent, family: FamilyIntent): string {
  const { address, isBound, blackholes, hostRoutes } = family;
  const debug = { none: [], info: ["  debug { states };"], debug: ["  debug all;"] }[intent.logLevel];
  const statics = [
    ...blackholes.map((cidr) => `  route ${cidr} blackhole;`),
    ...hostRoutes.map(({ to, via }) => `  route ${to} via ${via};`),
  ];
  const listen = [
    ...(isBound && address !== undefined ? [`address ${address}`] : []),
    ...(intent.listenPort === undefined ? [] : [`port ${intent.listenPort}`]),
  ];
  const texts = [
    `# Written by cattail for BIRD 1.6, IPv${family.family}; what is changed here is lost with the next change of the cluster.`,
    "log stderr all;",
    `router id ${intent.routerId};`,
    ...(listen.length === 0 ? [] : [`listen bgp ${listen.join(" ")};`]),
    "",
    ...["protocol device device1 {", ...debug, "  scan time 2;", "}"],
    ...["protocol direct direct1 {", ...debug, `  interface ${directInterfaces(intent.ignoredInterfaces)};`, "}"],
    ...familyFunctions(family, {
      agentProtocol: intent.agentProtocol,
      rejectsDeviceRoutes: false,
      replacesOthers: false,
      noGateways: [family.family === 4 ? "0.0.0.0" : "::"],
    }),
    "",
    ...(statics.length === 0 ? [] : ["protocol static static1 {", ...statics, "}"]),
    "protocol kernel kernel1 {",
    "  learn;",
    "  persist;",
    "  scan time 2;",
    "  merge paths on;",
    "  graceful restart;",
    "  import all;",
    `  export filter calico_kernel${family.family};`,
    "}",
    ...family.sessions.flatMap((session) => sessionText(session, family, intent)),
  ];
  return `${texts.join("\n")}\n`;
}

function sessionText(session: Session, family: FamilyIntent, intent: BgpIntent): readonly string[] {
  const { asNumber, localAs, address, port } = session;
  const filters = sessionFilters(session, family);
  const debug = { none: [], info: ["debug { states, events };"], debug: ["debug all;"] }[intent.logLevel];
  const options = [
    ...debug,
    `local as ${localAs};`,
    `neighbor ${address}${port === undefined ? "" : ` port ${port}`} as ${asNumber};`,
    ...(session.usesNodeAddress ? [`source address ${family.address};`] : []),
    ...hopOptions(session),
    "gateway recursive;",
    "add paths on;",
    "graceful restart;",
    ...sessionOptions(session),
    ...(session.nextHop === "auto" ? [] : [`next hop ${session.nextHop};`]),
    ...(session.allowedLocalAs === undefined ? [] : [`allow local as ${session.allowedLocalAs};`]),
    `import filter ${filters.import};`,
    `export filter ${filters.export};`,
  ];
  return [`protocol bgp ${session.name} {`, ...options.map((option) => `  ${option}`), "}"];
}
