// From the settings table's names to the limits the server knows.
import { availableParallelism } from "node:os";
import type { FanoutLimits } from "../../fanout/index.ts";
import { type Settings, settingsTable, settingsWith, soundPongTimeoutMs } from "../../settings/index.ts";

export type ServerLimits = FanoutLimits & {
  /** Most keys in one message. */
  readonly maxMessageKvs: number;
  readonly maxConnections: number;
  readonly dropIntervalMs: number;
  readonly shutdownTimeoutMs: number;
  readonly shutdownMaxIntervalMs: number;
};

/** Two limits that nobody can set: longer and more than any client has a use for. */
const fixedLimits = { maxInboundBytes: 1024 * 1024, maxHandshaking: 4096 };

export function serverLimits(settings: Settings): ServerLimits {
  return {
    ...fixedLimits,
    handshakeTimeoutMs: settings.serverHandshakeTimeoutMs,
    writeTimeoutMs: settings.serverWriteTimeoutMs,
    pingIntervalMs: settings.serverPingIntervalMs,
    pongTimeoutMs: settings.serverPongTimeoutMs,
    maxFallBehindMs: settings.serverMaxFallBehindMs,
    newClientGraceMs: settings.serverNewClientFallBehindGraceMs,
    batchingAgeMs: settings.serverMinBatchingAgeThresholdMs,
    maxMessageKvs: settings.serverMaxMessageSize,
    maxConnections: settings.maxConnectionsUpperLimit,
    dropIntervalMs: settings.connectionDropIntervalMs,
    shutdownTimeoutMs: settings.shutdownTimeoutMs,
    shutdownMaxIntervalMs: settings.shutdownConnectionDropIntervalMaxMs,
  };
}

/** For a server that is started without settings: the table's defaults, what is given instead, and the table's corrections. */
export function limitsWith(given: Partial<ServerLimits> = {}): ServerLimits {
  const limits = { ...serverLimits(settingsWith()), ...given };
  const { pingIntervalMs: serverPingIntervalMs, pongTimeoutMs: serverPongTimeoutMs, batchingAgeMs } = limits;
  const { whenNotPositive: ageOfNothing = batchingAgeMs } = settingsTable.serverMinBatchingAgeThresholdMs;
  return {
    ...limits,
    pongTimeoutMs: soundPongTimeoutMs({ serverPingIntervalMs, serverPongTimeoutMs }),
    batchingAgeMs: batchingAgeMs <= 0 ? ageOfNothing : batchingAgeMs,
  };
}

const mostWorkersByDefault = 8;

/** Threads that serve clients. Where the settings leave it to us, the main thread keeps a core for itself. */
export function workerCount({ workers }: Pick<Settings, "workers">): number {
  return workers === "auto" ? Math.min(mostWorkersByDefault, Math.max(1, availableParallelism() - 1)) : workers;
}
