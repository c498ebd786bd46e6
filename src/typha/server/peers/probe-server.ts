// Is anybody serving there, and with fresh data? A TLS dial that gets as far as the server's hello and certificate: the
// accept loop runs and has material to show. It shows no certificate of ours, so it never becomes a client; the refusal
// that follows is the expected end.
import { connect as connectTcp } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Clock } from "../../../base/lib/index.ts";
import { freshProtocol } from "../listening/freshness.ts";

export type ProbeTarget = {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  /** A server whose datastore does not answer counts as none. Without TLS there is no way to tell. */
  readonly mustBeFresh?: boolean;
};

/** Undefined: somebody is. Else what happened instead. */
export function probeServer(
  { host, port, isTls, mustBeFresh = false }: ProbeTarget,
  { timeoutMs, clock }: { timeoutMs: number; clock: Clock },
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const done = new AbortController();
    clock.sleep(timeoutMs, done.signal).then(
      () => finish(`no answer within ${timeoutMs} ms`),
      () => undefined, // finished before
    );
    // Only the hello is of interest here: whom the certificate names is for clients to judge, with their own CA.
    const socket = isTls
      ? connectTls({
          host,
          port,
          checkServerIdentity: () => undefined,
          ...(mustBeFresh ? { ALPNProtocols: [freshProtocol] } : {}),
        })
      : connectTcp({ host, port });
    let hasHello = false;
    const finish = (problem: string | undefined) => {
      done.abort();
      socket.destroy();
      resolve(problem);
    };
    socket.on("keylog", () => {
      // The first secrets exist once the server's hello has arrived.
      hasHello = true;
      finish(undefined);
    });
    socket.once("connect", () => {
      if (!isTls) finish(undefined);
    });
    socket.once("error", (error) => finish(hasHello ? undefined : error.message));
    socket.once("close", () => finish(hasHello ? undefined : "the connection was closed"));
  });
}
