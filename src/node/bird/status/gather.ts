// What the BIRDs of a node say, for a person or for a CalicoNodeStatus. A family whose daemon does not answer is one that does not answer: the
// other one is told all the same.
import { CattailError, parseIp } from "../../../base/lib/index.ts";
import { askBird } from "../control-socket.ts";
import {
  type DaemonStatus,
  type ProtocolReport,
  type RouteReport,
  readRoutes,
  readSessions,
  readStatus,
  type SessionReport,
} from "./answers.ts";

export type FamilyStatus =
  | { readonly is: "absent"; readonly why: string }
  | {
      readonly is: "running";
      readonly daemon: DaemonStatus;
      readonly sessions: readonly SessionReport[];
      readonly routes: readonly RouteReport[];
      /** By the names that routes give: Kernel, Static, Direct, BGP. */
      readonly kinds: ReadonlyMap<string, string>;
    };

export type NodeBgpStatus = { readonly 4: FamilyStatus; readonly 6: FamilyStatus };

export type BirdSockets = {
  /** Each is tried until one answers: Calico's own place, and a distribution's. */
  readonly 4: readonly string[];
  readonly 6: readonly string[];
};

export const usualSockets: BirdSockets = {
  4: ["/var/run/calico/bird.ctl", "/var/run/bird/bird.ctl"],
  6: ["/var/run/calico/bird6.ctl", "/var/run/bird/bird6.ctl"],
};

type Answer =
  | { readonly is: "absent"; readonly why: string }
  | {
      readonly is: "running";
      readonly daemon: DaemonStatus;
      readonly protocols: ProtocolReport;
      readonly routes: readonly RouteReport[];
    };

export async function gatherStatus(
  sockets: BirdSockets,
  options: { readonly routes: boolean; readonly signal?: AbortSignal },
): Promise<NodeBgpStatus> {
  const four = await askAll(sockets[4], options);
  // BIRD 2 speaks for both families.
  const isBoth = four.is === "running" && !/(^|bird)v?1\./.test(four.daemon.version);
  const six = isBoth ? four : await askAll(sockets[6], options);
  return { 4: ofFamily(four, 4), 6: ofFamily(six, 6) };
}

function ofFamily(answer: Answer, family: 4 | 6): FamilyStatus {
  if (answer.is === "absent") return answer;
  const { daemon, protocols, routes } = answer;
  const isOfFamily = (address: string) => parseIp(address.split("/")[0] ?? "")?.version === family;
  return {
    is: "running",
    daemon,
    sessions: protocols.sessions.filter((session) => session.family === family),
    routes: routes.filter(({ destination }) => isOfFamily(destination)),
    kinds: protocols.kinds,
  };
}

async function askAll(
  paths: readonly string[],
  { routes, signal }: { routes: boolean; signal?: AbortSignal },
): Promise<Answer> {
  const why: string[] = [];
  for (const path of paths) {
    try {
      return {
        is: "running",
        daemon: readStatus(await askBird(path, "show status", { signal })),
        protocols: readSessions(await askBird(path, "show protocols all", { signal })),
        routes: routes ? readRoutes(await askBird(path, "show route", { signal })) : [],
      };
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof CattailError)) throw error;
      why.push(error.problem);
    }
  }
  return { is: "absent", why: why.join("; ") };
}
