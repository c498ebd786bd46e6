// A server's end of a conversation with ordinary settings: what a test does not care about, it need not say.
import { ServerMachine, serverStreams } from "../../src/typha/wire/index.ts";

type Options = ConstructorParameters<typeof ServerMachine>[0];

export function serverMachine(options: Partial<Options> = {}, nowMs = 0): ServerMachine {
  const ordinary: Options = {
    version: "test",
    connectionId: 1n,
    streams: serverStreams(),
    preference: ["zstd", "snappy"],
    handshakeTimeoutMs: 10_000,
    pongTimeoutMs: 60_000,
    maxMessageBytes: 1_048_576,
  };
  return new ServerMachine({ ...ordinary, ...options }, nowMs);
}
