// What runs beside routes, policies and BIRD: the end of start-up, tunnel addresses, and the monitor of the node's own address. `cattail node run` has them
// all; each can also run by itself, as the original's node-services does.
import { type Log, systemClock } from "../../../base/lib/index.ts";
import type { Part } from "../../../node/part/index.ts";
import { type CheckName, checkHealth, hasBirdOfIpv6, healthSentence } from "../../../node/startup/health.ts";
import {
  addressMonitorPart,
  completeStartupPart,
  readNodeSettings,
  tunnelAddressPart,
} from "../../../node/startup/index.ts";

import { sharedKubernetesBeside } from "./surroundings.ts";

type Environment = NodeJS.ProcessEnv;

/** `runsBird`: whether the end of start-up waits for BIRD's sessions. */
export function serviceParts(environment: Environment, { runsBird, log }: { runsBird: boolean; log: Log }): Part[] {
  const kubernetesBeside = sharedKubernetesBeside({ environment, clock: systemClock, log });
  return [
    completeStartupPart({ environment, kubernetesBeside, isReady: daemonsAreReady(environment, runsBird) }),
    tunnelAddressPart({ environment }),
    addressMonitorPart({ environment, kubernetesBeside }),
  ];
}

/** In the first five minutes all sessions count, as if start-up had just ended. */
const thresholdMs = 5 * 60_000;

/** As probes ask them; the promise fails with why not. */
export function daemonsAreReady(environment: Environment, runsBird: boolean): () => Promise<void> {
  const { values } = readNodeSettings(environment);
  const ofAgent: readonly CheckName[] = values.healthEnabled ? ["felix-ready"] : [];
  return async () => {
    const { signal } = new AbortController();
    const sockets = { 4: environment.BIRD_CTL, 6: environment.BIRD6_CTL };
    const hasIpv6 = runsBird && (await hasBirdOfIpv6(sockets, signal));
    const ofBird: readonly CheckName[] = hasIpv6 ? ["bird-ready", "bird6-ready"] : runsBird ? ["bird-ready"] : [];
    const checks = [...ofBird, ...ofAgent];
    if (checks.length === 0) return;
    const checked = await checkHealth(checks, { settings: values, thresholdMs, sockets, clock: systemClock, signal });
    const sentence = healthSentence(checked);
    if (sentence !== undefined) throw new Error(sentence);
  };
}

/** One part as a process of its own, beside an agent that has the ports of health and metrics. */
export async function runServiceAlone(
  component: string,
  part: (environment: Environment, log: Log) => Part,
): Promise<void> {
  process.env.FELIX_HEALTHENABLED = "false";
  process.env.FELIX_PROMETHEUSMETRICSENABLED = "false";
  const { nameOfStartup, runAgentProcess } = await import("../agent-process.ts");
  await runAgentProcess({
    component,
    followsSettings: false,
    nameOf: nameOfStartup,
    parts: async ({ environment, log }) => ({ parts: [part(environment, log)], metrics: [] }),
  });
}
