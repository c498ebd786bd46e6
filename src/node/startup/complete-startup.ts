// The end of a start-up: once the daemons work, or after five minutes in any case, the Kubernetes Node is marked as having a network, and the time of the
// last shutdown is forgotten.
import type { Environment } from "../../base/config/index.ts";
import { type Clock, type Log, messageOf } from "../../base/lib/index.ts";
import type { KubernetesDatastore } from "../../calico/datastore/index.ts";
import type { Part, PartWorld } from "../part/index.ts";
import { exists, removeShutdownTime, writeNameFile } from "./folders.ts";
import { markNetwork } from "./network-available.ts";
import { determineNodeName, kubernetesNameOf } from "./node-name.ts";
import { readNodeSettings } from "./settings/read.ts";
import { startupError } from "./startup-error.ts";
import { asKubernetes } from "./world.ts";

export type CompleteWorld = {
  readonly environment: Environment;
  /** Undefined: nothing says where Kubernetes is. */
  readonly kubernetes: () => Promise<Pick<KubernetesDatastore, "api"> | undefined>;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
};

const markMs = 30_000;

/** At once. Throws StartupError. */
export async function completeStartup(world: CompleteWorld): Promise<void> {
  const { environment, clock, log, signal } = world;
  const { values } = readNodeSettings(environment);
  if (values.backend === "none") {
    log.info("Calico is not managing networking, skipping NetworkUnavailable condition update");
    return;
  }
  const kubernetes = await world.kubernetes();
  if (kubernetes === undefined) {
    log.info("Kubernetes configuration not detected; skipping NetworkUnavailable condition update");
  } else {
    const name = kubernetesNameOf(await determineNodeName(values, log), values);
    try {
      await markNetwork("available", { kubernetes, name, clock, log, signal, limitMs: markMs });
    } catch (error) {
      signal.throwIfAborted();
      throw startupError("Unable to set NetworkUnavailable to False", {
        cause: error,
        next: "Grant patch of nodes/status, and look whether the API server answers",
      });
    }
  }
  await removeShutdownTime(values.shutdownTimeFile, log);
  log.info("Calico started successfully");
}

const waitMs = 5 * 60_000;
const betweenMs = 1000;

/** `isReady`: throws why not, or answers. Goes on after five minutes, ready or not. */
export async function waitUntilReady(
  isReady: () => Promise<void>,
  { clock, log, signal }: Pick<CompleteWorld, "clock" | "log" | "signal">,
): Promise<void> {
  log.info("Waiting for Calico to become ready before continuing...");
  const startedMs = clock.monotonicMs();
  let last: string | undefined;
  while (clock.monotonicMs() - startedMs < waitMs) {
    try {
      await isReady();
      return;
    } catch (error) {
      signal.throwIfAborted();
      const reason = messageOf(error);
      if (reason !== last) log.warn("Calico is not ready yet, waiting...", { reason });
      last = reason;
    }
    await clock.sleep(betweenMs, signal);
  }
  log.error("Calico failed to become ready, continuing anyway", { reason: last });
}

export type CompleteOptions = {
  readonly environment: Environment;
  readonly kubernetesBeside?: () => Promise<Pick<KubernetesDatastore, "api"> | undefined>;
  /** Throws why the node is not ready yet; the agent knows what it supervises. */
  readonly isReady: () => Promise<void>;
};

/** Waits for the daemons, marks the node, and then sees to it that the name file stays. */
export function completeStartupPart({ environment, kubernetesBeside, isReady }: CompleteOptions): Part {
  return {
    name: "complete-startup",
    async run({ node, clock, log, health, datastore }, signal) {
      health.report({ ready: true, detail: "waiting for the daemons" });
      await waitUntilReady(isReady, { clock, log, signal });
      const kubernetes = async () => asKubernetes(await datastore()) ?? (await kubernetesBeside?.());
      await completeStartup({ environment, kubernetes, clock, log, signal });
      health.report({ ready: true });
      await keepNameFile({ ...readNodeSettings(environment).values, node, clock, log, signal });
    },
  };
}

const lookMs = 30_000;

/** One that was there and is gone is written again: without it no pod is started on the node. */
async function keepNameFile(
  of: Pick<PartWorld, "node" | "clock" | "log"> & { readonly nodeNameFile: string; readonly signal: AbortSignal },
): Promise<void> {
  const { nodeNameFile: file, node, clock, log, signal } = of;
  for (let wasThere = false; !signal.aborted; ) {
    try {
      const isThere = await exists(file);
      if (wasThere && !isThere) {
        await writeNameFile(file, node);
        log.warn("The name file was gone; it is written again", { file });
      }
      wasThere ||= isThere;
    } catch (error) {
      log.error("The name file is gone and cannot be written: no pod can be started on this node", { error });
    }
    await clock.sleep(lookMs, signal).catch(() => undefined); // aborted: the loop ends
  }
}
