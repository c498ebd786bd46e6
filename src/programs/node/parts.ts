// Which parts each command runs, and the rows of metrics that they bring. Rooms are loaded here and nowhere else, each when it is needed.
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import type { DataSet, Part } from "../../node/part/index.ts";
import type { BirdRoutes } from "../../node/routes/index.ts";
import { version } from "../shared/build.ts";
import type { Around, Asked } from "./agent-process.ts";
import { backendSaid } from "./starting/backend.ts";

type Environment = Around["environment"];

/** Who speaks BGP: BIRD, nobody ("none"), or somebody whom we know nothing of ("foreign", the backend none). */
type Bgp = "bird" | "none" | "foreign";

/** What Felix does. Without a word about it, routes of pools without encapsulation are BIRD's, as with the original. */
export async function felixParts({ environment }: Around): Promise<Asked> {
  return await felix(backendOf(environment) ?? "bird", environment);
}

/** What confd does. */
export async function bgpParts({ environment }: Around): Promise<Asked> {
  const { birdPart, birdOptions, birdMetrics } = await import("../../node/bird/index.ts");
  return {
    parts: [following(birdPart(birdOptions(environment, { supervises: false })), "bgp")],
    metrics: [birdMetrics],
  };
}

/** Of which of the two halves `allParts` has parts. */
export function halvesOf(environment: Environment): readonly ("felix" | "bgp")[] {
  const isBird = bgpOf(environment) === "bird";
  return [...(environment.CALICO_DISABLE_FELIX ? [] : ["felix" as const]), ...(isBird ? ["bgp" as const] : [])];
}

function bgpOf(environment: Environment): Bgp {
  return backendOf(environment) ?? (hasBird(environment) ? "bird" : "none");
}

/** Everything that calico/node runs. */
export async function allParts({ environment, log }: Around): Promise<Asked> {
  const said = backendOf(environment);
  const bgp = bgpOf(environment);
  if (said === undefined && bgp === "none")
    log.info("There is no BIRD here, and CALICO_NETWORKING_BACKEND is not set: routes are written by this agent alone");
  const all = await Promise.all([
    environment.CALICO_DISABLE_FELIX ? nothing : felix(bgp, environment),
    bgp === "bird" ? bird(environment) : nothing,
    cni(environment),
    token(environment),
    services(bgp, { environment, log }),
    bgp === "foreign" ? nothing : nodeStatus(environment),
    ipamAudit(),
  ]);
  return {
    parts: all.flatMap(({ parts }) => parts),
    metrics: all.flatMap(({ metrics }) => metrics),
    labels: Object.assign({}, ...all.map(({ labels }) => labels)),
    reports: Object.assign({}, ...all.map(({ reports }) => reports)),
  };
}

function following(part: Part, set: DataSet): Part {
  return { ...part, follows: [set] };
}

const nothing: Asked = { parts: [], metrics: [] };

async function felix(bgp: Bgp, environment: Environment): Promise<Asked> {
  const [
    { policyPart, policyMetricLabels, policyMetricRows, policyHits },
    { routeMetrics, RouteReporter, routesPart },
  ] = await Promise.all([import("../../node/dataplane/index.ts"), import("../../node/routes/index.ts")]);
  const reporter = new RouteReporter();
  const askBird = (signal: AbortSignal) => routesOfBird(environment, signal);
  return {
    parts: [following(policyPart(), "felix"), following(routesPart({ bgp, reporter, askBird }), "felix")],
    metrics: [policyMetricRows, routeMetrics],
    labels: policyMetricLabels,
    reports: { policies: () => policyHits(), routes: () => reporter.rows() },
  };
}

/** What BIRD has, and from whom: asked where the kernel's routes lead elsewhere than to their nodes. */
async function routesOfBird(environment: Environment, signal: AbortSignal): Promise<BirdRoutes> {
  const { gatherStatus } = await import("../../node/bird/index.ts");
  const status = await gatherStatus(await birdSockets(environment), { routes: true, signal });
  const ofFamily = (family: 4 | 6) => {
    const told = status[family];
    if (told.is !== "running") return undefined;
    const up = new Set(told.sessions.filter(({ bgpState }) => bgpState === "Established").map(({ name }) => name));
    return told.routes.map(({ destination, gateway, from, isBest }) => ({
      ...{ destination, from, isBest, isOfSession: up.has(from) },
      gateway: gateway === "N/A" ? undefined : gateway,
    }));
  };
  return { 4: ofFamily(4), 6: ofFamily(6) };
}

async function birdSockets(environment: Environment) {
  const { birdOptions } = await import("../../node/bird/index.ts");
  const { socket, socket6 } = birdOptions(environment, { supervises: false });
  return { 4: [socket, "/var/run/bird/bird.ctl"], 6: [socket6, "/var/run/bird/bird6.ctl"] };
}

async function bird(environment: Environment): Promise<Asked> {
  const { bgpReportOf, birdPart, birdOptions, birdMetrics, gatherStatus } = await import("../../node/bird/index.ts");
  const options = birdOptions(environment, { supervises: true });
  const sockets = { 4: [options.socket], 6: [options.socket6] };
  return {
    parts: [following(birdPart(options), "bgp")],
    metrics: [birdMetrics],
    reports: { bgp: async (signal) => bgpReportOf(await gatherStatus(sockets, { routes: false, signal })) },
  };
}

async function services(bgp: Bgp, { environment, log }: Pick<Around, "environment" | "log">): Promise<Asked> {
  const { serviceParts } = await import("./lifecycle/services.ts");
  const { usesPodCidr } = await import("../../node/startup/index.ts");
  const follows = (part: Part) => part.name === "tunnel-addresses" && !usesPodCidr(environment);
  const parts = serviceParts(environment, { runsBird: bgp === "bird", log });
  return { parts: parts.map((part) => (follows(part) ? following(part, "felix") : part)), metrics: [] };
}

/** CalicoNodeStatus objects, which say of a node's BIRD what it says. */
async function nodeStatus(environment: Environment): Promise<Asked> {
  const { nodeStatusPart } = await import("../../node/bird/index.ts");
  return { parts: [nodeStatusPart({ sockets: await birdSockets(environment) })], metrics: [] };
}

async function ipamAudit(): Promise<Asked> {
  const { findingCodeNames, ipamAuditMetrics, ipamAuditPart } = await import("../../node/ipam-audit/index.ts");
  let last: ReturnType<NonNullable<NonNullable<Asked["reports"]>["audit"]>> = null;
  const part = ipamAuditPart({
    random: Math.random,
    tells: (found) => {
      last = found;
    },
  });
  return {
    parts: [part],
    metrics: [ipamAuditMetrics],
    labels: { code: findingCodeNames },
    reports: { audit: () => last },
  };
}

/** What calico/node runs beside Felix and confd. */
export async function besideParts({ environment, log }: Around): Promise<Asked> {
  const bgp = backendOf(environment) ?? "bird";
  const all = await Promise.all([
    services(bgp, { environment, log }),
    bgp === "foreign" ? nothing : nodeStatus(environment),
    token(environment),
  ]);
  return { parts: all.flatMap(({ parts }) => parts), metrics: [] };
}

export async function tokenParts({ environment }: Around): Promise<Asked> {
  return await token(environment);
}

async function token(environment: Environment): Promise<Asked> {
  const { cniTokenPart } = await import("../../node/cni-token/index.ts");
  return { parts: [cniTokenPart({ variables: environment })], metrics: [] };
}

async function cni(environment: Environment): Promise<Asked> {
  const { cniPart } = await import("../../node/cni/index.ts");
  const socket = environment.CATTAIL_CNI_SOCKET || undefined;
  return { parts: [cniPart({ socket, version: version() })], metrics: [] };
}

/** As calico/node compares it; undefined: nobody says. */
function backendOf(environment: Environment): Bgp | undefined {
  const backend = backendSaid(environment);
  if (backend === undefined) return undefined;
  return backend === "none" ? "foreign" : backend === "vxlan" ? "none" : "bird";
}

/** One that answers already, or one that can be started. */
function hasBird(environment: Environment): boolean {
  const sockets = [environment.BIRD_CTL || "/var/run/calico/bird.ctl"];
  const program = environment.CATTAIL_BIRD || "bird";
  const programs = program.includes("/")
    ? [program]
    : (environment.PATH ?? "").split(":").map((folder) => join(folder, program));
  return (
    sockets.some((path) => isThere(path, constants.F_OK)) || programs.some((path) => isThere(path, constants.X_OK))
  );
}

function isThere(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false; // then it is the next one's turn
  }
}
