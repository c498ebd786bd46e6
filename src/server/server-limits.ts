// From the settings table's names to the limits the server knows.
import type { Settings } from "../config/index.ts";
import type { ServerLimits } from "./serve.ts";

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
