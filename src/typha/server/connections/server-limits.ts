// From the settings table's names to the limits the server knows.
import { availableParallelism } from "node:os";
import type { Settings } from "../../../base/config/index.ts";
import { defaultFanoutLimits, type FanoutLimits } from "../../fanout/index.ts";

export type ServerLimits = FanoutLimits & {
  /** Most keys in one message. */
  readonly maxMessageKvs: number;
  readonly maxConnections: number;
  readonly dropIntervalMs: number;
  readonly shutdownTimeoutMs: number;
  readonly shutdownMaxIntervalMs: number;
};

export const defaultServerLimits: ServerLimits = {
  ...defaultFanoutLimits,
  maxMessageKvs: 100,
  maxConnections: 10_000,
  dropIntervalMs: 1000,
  shutdownTimeoutMs: 300_000,
  shutdownMaxIntervalMs: 1000,
};

export function serverLimits(settings: Settings): Partial<ServerLimits> {
  return {
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

const mostWorkersByDefault = 8;

/** Threads that serve clients: one for each core, where the settings leave it to us. */
export function workerCount({ workers }: Pick<Settings, "workers">): number {
  return workers === "auto" ? Math.min(mostWorkersByDefault, availableParallelism()) : workers;
}
