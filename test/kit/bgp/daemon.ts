// A real BIRD in a namespace, and the facts that it tells.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { askBird } from "../../../src/node/bird/index.ts";
import type { KernelFact, MachineFacts, RouteFact, SessionFact, Tor } from "./case.ts";
import { ip } from "./network.ts";

/** Why tests that need BIRD 2 cannot run here; false: they can. */
export const noBird: string | false = (() => {
  try {
    const said = execFileSync("bird", ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    return /BIRD version 2/.test(said) || said === "" ? false : "needs BIRD 2";
  } catch {
    return "needs BIRD 2 (package bird2)";
  }
})();

export class CaseBird implements AsyncDisposable {
  readonly socket: string;
  readonly #namespace: string;
  readonly #folder: string;
  readonly #program: string;
  readonly #generation: 1 | 2;
  #child: ChildProcess | undefined;

  constructor(options: {
    namespace: string;
    folder: string;
    program?: string;
    name?: "bird" | "bird6";
    generation?: 1 | 2;
  }) {
    this.#namespace = options.namespace;
    this.#folder = options.folder;
    this.#program = options.program ?? "bird";
    this.#generation = options.generation ?? 2;
    this.#name = options.name ?? "bird";
    mkdirSync(options.folder, { recursive: true });
    this.socket = join(options.folder, `${this.#name}.ctl`);
  }

  readonly #name: "bird" | "bird6";

  get configuration(): string {
    return join(this.#folder, `${this.#name}.cfg`);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** What it said last, where it has ended by itself or was not started; undefined: it runs. */
  get end(): string | undefined {
    if (this.#child === undefined) return existsSync(this.configuration) ? "not started" : "it has no configuration";
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null) return undefined;
    const log = readFileSync(join(this.#folder, `${this.#name}.log`), "utf8").slice(-500);
    return `ended with ${exitCode ?? signalCode}: ${log}`;
  }

  /** Starts it once its configuration is there. */
  tick(...flags: readonly string[]): void {
    if (this.#child === undefined && existsSync(this.configuration)) this.start(...flags);
  }

  start(...flags: readonly string[]): void {
    const log = openSync(join(this.#folder, `${this.#name}.log`), "a");
    // One process, not `ip netns exec` as a parent: that replaces itself by the program.
    const parameters = [
      "netns",
      "exec",
      this.#namespace,
      this.#program,
      "-f",
      "-c",
      this.configuration,
      "-s",
      this.socket,
      ...flags,
    ];
    this.#child = spawn("ip", parameters, { stdio: ["ignore", log, log] });
    closeSync(log);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await ended;
  }

  async facts(): Promise<MachineFacts & { readonly since: ReadonlyMap<string, string> }> {
    if (this.#child === undefined || !existsSync(this.socket)) return { sessions: [], received: {}, since: new Map() };
    try {
      const sessions = await sessionsOf(this.socket);
      const routes = await routesOf(this.socket, this.#generation);
      return gathered(sessions, routes);
    } catch {
      return { sessions: [], received: {}, since: new Map() }; // not up yet: asked again in a moment
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

type Session = { name: string; since: string; state: string; session: string; peer: string; as: number };

async function sessionsOf(socket: string): Promise<readonly Session[]> {
  const sessions: Session[] = [];
  let current: Session | undefined;
  for (const { text } of await askBird(socket, "show protocols all")) {
    const [, name, since] = /^(\S+)\s+BGP\s+\S+\s+\S+\s+(\S+(?: \d\d:\S+)?)/.exec(text) ?? [];
    if (name !== undefined) {
      current = { name, since: since ?? "", state: "down", session: "", peer: "", as: 0 };
      sessions.push(current);
    } else if (/^\S/.test(text)) current = undefined;
    const [, label, value = ""] = /^\s+(BGP state|Neighbor address|Neighbor AS|Session):\s*(.*?)\s*$/.exec(text) ?? [];
    if (current === undefined || label === undefined) continue;
    if (label === "BGP state") current.state = value === "Established" ? value : "down";
    if (label === "Neighbor address") current.peer = value.split("%")[0] ?? "";
    if (label === "Neighbor AS") current.as = Number(value);
    if (label === "Session") current.session = value;
  }
  return sessions.filter(({ peer }) => peer !== "");
}

type Route = {
  prefix: string;
  asPath: number[];
  nextHop: string | null;
  localPref?: number;
  communities: string[];
  largeCommunities: string[];
};

const head = /^(\S+\/\d+)?\s+(?:via|dev|unicast|blackhole|unreachable|prohibit|multipath)\b.*?\[(\S+) [^\]]*\]/;

/** By the protocol that brought them. */
async function routesOf(socket: string, generation: 1 | 2): Promise<ReadonlyMap<string, Route[]>> {
  const found = new Map<string, Route[]>();
  let prefix = "";
  let current: Route | undefined;
  const command = generation === 1 ? "show route all" : "show route table all all";
  for (const { text } of await askBird(socket, command)) {
    const [, to, from] = text.startsWith("\t") ? [] : (head.exec(text) ?? []);
    if (from !== undefined) {
      prefix = to ?? prefix;
      current = { prefix, asPath: [], nextHop: null, communities: [], largeCommunities: [] };
      found.set(from, [...(found.get(from) ?? []), current]);
      continue;
    }
    const [, name, value = ""] = /^\s*BGP\.(\w+):\s*(.*)$/.exec(text) ?? [];
    if (name !== undefined && current !== undefined) readAttribute(current, name, value.trim());
  }
  return found;
}

function readAttribute(route: Route, name: string, value: string): void {
  const tuples = () =>
    [...value.matchAll(/\(([^)]*)\)/g)]
      .map(([, inner = ""]) => inner.replaceAll(/\s/g, "").replaceAll(",", ":"))
      .sort();
  if (name === "as_path") route.asPath = (value.match(/\d+/g) ?? []).map(Number);
  if (name === "next_hop") route.nextHop = value.split(/\s+/)[0] ?? null;
  if (name === "local_pref") route.localPref = Number(value);
  if (name === "community") route.communities = tuples();
  if (name === "large_community") route.largeCommunities = tuples();
}

const kinds: { readonly [name: string]: string } = {
  Mesh: "mesh",
  Global: "global",
  Node: "node",
  Local_Workload: "local",
};

function gathered(all: readonly Session[], routes: ReadonlyMap<string, Route[]>) {
  const sessions: SessionFact[] = [];
  const received: { [peer: string]: RouteFact[] } = {};
  const since = new Map<string, string>();
  for (const { name, peer, as, state, session, since: time } of all) {
    const [, kind = ""] = /^(Mesh|Global|Node|Local_Workload)_/.exec(name) ?? [];
    const isInternal = session.includes("internal");
    const isUp = state === "Established";
    const more = isUp ? { internal: isInternal, rrClient: session.includes("route-reflector") } : {};
    sessions.push({ peer, as, state, kind: kinds[kind] ?? "other", ...more });
    if (isUp) since.set(peer, time);
    const found = (routes.get(name) ?? []).map(({ localPref, communities, largeCommunities, ...route }) => ({
      ...route,
      ...(isInternal && localPref !== undefined ? { localPref } : {}),
      ...(communities.length > 0 ? { communities } : {}),
      ...(largeCommunities.length > 0 ? { largeCommunities } : {}),
    }));
    if (found.length > 0) received[peer] = [...(received[peer] ?? []), ...found];
  }
  return { sessions, received, since };
}

/** The main table's routes of BIRD. */
export function kernelFacts(namespace: string): readonly KernelFact[] {
  const merged = new Map<string, { dst: string; type: string; via: string[]; metric: number }>();
  for (const family of ["-4", "-6"]) {
    const said = ip("-n", namespace, "-j", family, "route", "show", "table", "main", "proto", "bird");
    for (const route of JSON.parse(said || "[]") as KernelRoute[]) {
      const type = route.type ?? "unicast";
      const hops = route.nexthops ?? [route];
      const via = type === "unicast" ? hops.map((hop) => hop.gateway ?? `dev ${hop.dev}`) : [];
      const whole = route.dst.includes("/") || route.dst === "default";
      const dst = whole ? route.dst : `${route.dst}/${family === "-4" ? 32 : 128}`;
      const metric = route.metric ?? 0;
      const known = merged.get(`${dst} ${type} ${metric}`);
      if (known === undefined) merged.set(`${dst} ${type} ${metric}`, { dst, type, via: via.sort(), metric });
      else known.via = [...new Set([...known.via, ...via])].sort();
    }
  }
  return [...merged.values()];
}

type KernelRoute = {
  dst: string;
  type?: string;
  gateway?: string;
  dev?: string;
  metric?: number;
  nexthops?: { gateway?: string; dev?: string }[];
};

/** An outside router's configuration: BIRD 2. */
function torConfiguration(tor: Tor): string {
  const bare = (address: string) => address.split("/")[0] ?? "";
  const announced = (["ipv4", "ipv6"] as const).flatMap((family) => {
    const ours = (tor.announce ?? []).filter((prefix) => prefix.includes(":") === (family === "ipv6"));
    if (ours.length === 0) return [];
    return [`protocol static { ${family}; ${ours.map((prefix) => `route ${prefix} blackhole;`).join(" ")} }`];
  });
  const adds = [
    ...(tor.addCommunities ?? []).map((value) => ` bgp_community.add((${value.replace(":", ",")}));`),
    ...(tor.prepend ?? []).map((asNumber) => ` bgp_path.prepend(${asNumber});`),
  ].join("");
  const sources = tor.reexport ? "RTS_STATIC, RTS_BGP" : "RTS_STATIC";
  const sessions = tor.neighbors.map((neighbor, at) => {
    const family = neighbor.ip.includes(":") ? "ipv6" : "ipv4";
    const own = bare(family === "ipv6" ? (tor.ip6 ?? "") : tor.ip);
    const options = [
      `local ${own}${tor.port ? ` port ${tor.port}` : ""} as ${neighbor.localAS ?? tor.as};`,
      `neighbor ${neighbor.ip}${neighbor.port ? ` port ${neighbor.port}` : ""} as ${neighbor.as};`,
      neighbor.direct ? "direct;" : `multihop ${neighbor.ttl ?? ""};`,
      "connect delay time 1; connect retry time 3; error wait time 2,6;",
      neighbor.ttlSecurity ? "ttl security on;" : "",
      neighbor.password ? `password "${neighbor.password}";` : "",
      neighbor.passive ? "passive on;" : "",
      neighbor.rrClient ? "rr client;" : "",
    ];
    const channel = `import all; export filter tor_out;${neighbor.nextHopKeep ? " next hop keep;" : ""}${neighbor.addPaths ? " add paths on;" : ""}`;
    return `protocol bgp peer${at} { ${options.join(" ")} ${family} { ${channel} }; }`;
  });
  return [
    "log stderr all;",
    `router id ${bare(tor.ip)};`,
    "protocol device { scan time 2; }",
    `protocol direct { ${tor.direct ? "" : "disabled; "}ipv4; ipv6; }`,
    ...announced,
    `filter tor_out { if source ~ [ ${sources} ] then {${adds} accept; } reject; }`,
    ...sessions,
    "",
  ].join("\n");
}

export function writeTor(folder: string, tor: Tor): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "bird.cfg"), torConfiguration(tor));
}
