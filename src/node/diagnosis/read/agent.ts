// Whether the node's agent runs: somebody listens where it would. Only that is asked, so that an agent which is busy is not taken for one that is gone.
import { existsSync } from "node:fs";
import { createConnection } from "node:net";
import { type Clock, systemClock } from "../../../base/lib/index.ts";
import type { AgentFact, HostFacts } from "../facts.ts";
import { agentSocket } from "./plugin-files.ts";

/** Where the agent's probes are answered; `isSaid`: its settings say that they are. */
export type HealthEndpoint = { readonly host: string; readonly port: number; readonly isSaid: boolean };

const patienceMs = 5_000;
const pauseMs = 500;
const connectMs = 1_500;

/** Undefined: nothing says that there should be one, or where it listens. */
export async function readAgent(
  endpoint: HealthEndpoint,
  owners: HostFacts["ruleOwners"],
  clock: Clock = systemClock,
): Promise<AgentFact | undefined> {
  const health = `${endpoint.host}:${endpoint.port}`;
  const endMs = clock.monotonicMs() + patienceMs;
  for (;;) {
    const hasSocket = existsSync(agentSocket);
    if (hasSocket && (await answers({ path: agentSocket }))) return { asked: [agentSocket], isThere: true };
    if (await answers({ host: endpoint.host, port: endpoint.port })) return { asked: [health], isThere: true };
    // A socket stays where an agent was killed. Without it and without settings nobody knows whether probes are answered at all.
    if (!hasSocket && !(endpoint.isSaid && owners.length > 0)) return undefined;
    const asked = [...(hasSocket ? [agentSocket] : []), health];
    // One that starts is there within seconds.
    if (clock.monotonicMs() > endMs) return { asked, isThere: false };
    await clock.sleep(pauseMs);
  }
}

function answers(
  target: { readonly path: string } | { readonly host: string; readonly port: number },
): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(target);
    const end = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.setTimeout(connectMs, () => end(false));
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
  });
}
