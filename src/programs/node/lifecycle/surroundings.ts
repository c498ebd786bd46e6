// What the short-lived commands of a node share: a log in the original's form at CALICO_STARTUP_LOGLEVEL, the datastore that the environment names, and
// how they end.
import { CattailError, type Log, messageOf, systemClock } from "../../../base/lib/index.ts";
import { type LogSeverity, openLogs } from "../../../base/observe/log.ts";
import {
  type Datastore,
  type KubernetesDatastore,
  openDatastore,
  openKubernetes,
} from "../../../calico/datastore/index.ts";
import { nodeDatastoreOptions } from "../../../node/settings/index.ts";
import { isStartupError } from "../../../node/startup/startup.ts";

export type Surroundings = {
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Log;
  readonly clock: typeof systemClock;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
};

const severities: { readonly [name: string]: LogSeverity } = {
  panic: "CRITICAL",
  fatal: "CRITICAL",
  error: "ERROR",
  warn: "WARNING",
  warning: "WARNING",
  info: "INFO",
  debug: "DEBUG",
  trace: "DEBUG",
};

/** Runs to its end and exits: 0, or 1 where it failed, with the original's last word. */
export async function runToItsEnd(component: string, work: (around: Surroundings) => Promise<void>): Promise<void> {
  const asked = (process.env.CALICO_STARTUP_LOGLEVEL || "info").toLowerCase();
  const screen = severities[asked] ?? "INFO";
  const names = { component, syslogTag: "calico-node", whenNoFile: "" };
  const logs = await openLogs({ names, clock: systemClock, screen, keepsAll: true });
  const log = logs.logger(component);
  if (severities[asked] === undefined) log.error("Failed to parse log level, defaulting to info.", { level: asked });
  log.info(`Early log level set to ${asked}`);
  const stop = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stop.abort());
  let exitCode = 0;
  try {
    const { signal } = stop;
    const say = (text: string) => void process.stderr.write(`${text}\n`);
    await work({ environment: process.env, log, clock: systemClock, signal, say });
  } catch (error) {
    exitCode = stop.signal.aborted ? 0 : 1;
    if (exitCode === 1) sayFailure(error, log);
  }
  await logs[Symbol.asyncDispose]();
  process.exit(exitCode);
}

/** In the original's words, as the last lines. */
export function sayFailure(error: unknown, log: Log): void {
  if (isStartupError(error)) {
    const { says, cause, code } = error;
    log.error(says, { ...(cause === undefined ? {} : { error: cause }), code });
    log.info(`What to do: ${error.next.split("\n", 1)[0]}`);
  } else if (error instanceof CattailError) log.error(error.problem, { next: error.next, code: error.code });
  else
    log.error("Unexpected error", {
      error: error instanceof Error ? (error.stack ?? error.message) : messageOf(error),
    });
  log.warn("Terminating");
}

export async function openNodeDatastore({ environment, clock, log }: Surroundings): Promise<Datastore> {
  return await openDatastore({ ...oneShot, ...nodeDatastoreOptions(environment) }, { clock, log });
}

/** A command reads each list once, and asks as fast as it is answered. */
const oneShot = { streamLists: false, readsAgain: 10, clientQps: -1 } as const;

/** The Kubernetes API where something says where it is, whatever keeps Calico's data. */
export async function openKubernetesBeside({
  environment,
  clock,
  log,
}: Pick<Surroundings, "environment" | "clock" | "log">): Promise<KubernetesDatastore | undefined> {
  const names = [
    "CALICO_KUBECONFIG",
    "KUBECONFIG",
    "K8S_API_ENDPOINT",
    "CALICO_K8S_API_ENDPOINT",
    "KUBERNETES_SERVICE_HOST",
  ];
  if (!names.some((name) => environment[name])) return undefined;
  const asKubernetes = { ...environment, CALICO_DATASTORE_TYPE: "kubernetes" };
  const { type: _, ...options } = nodeDatastoreOptions(asKubernetes);
  return await openKubernetes({ ...oneShot, ...options }, { clock, log });
}

/** As above, for steps that are left out where it cannot be used: the kubeconfig of a machine that has none, for one. */
export async function openKubernetesIfUsable(around: Surroundings): Promise<KubernetesDatastore | undefined> {
  try {
    return await openKubernetesBeside(around);
  } catch (error) {
    if (!(error instanceof CattailError)) throw error;
    around.log.warn("What the environment says of Kubernetes cannot be used; its part is skipped", { error });
    return undefined;
  }
}

/** Opened when somebody first asks, kept for as long as the process lives, and tried again where that failed. */
export function sharedKubernetesBeside(
  around: Parameters<typeof openKubernetesBeside>[0],
): () => Promise<KubernetesDatastore | undefined> {
  let opened: ReturnType<typeof openKubernetesBeside> | undefined;
  return async () => {
    opened ??= openKubernetesBeside(around);
    try {
      return await opened;
    } catch (error) {
      opened = undefined;
      throw error;
    }
  };
}
