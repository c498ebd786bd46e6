// One question to another server: which nodes do you have? (neighbour-protocol.ts)
import { connect } from "node:tls";
import { type Clock, connectionWords } from "../../../base/lib/index.ts";
import { identityOf, tlsClientOptions } from "../../../base/security/index.ts";
import type { TlsSetup } from "../listening/listener.ts";
import type { Peer } from "./evacuation.ts";
import { mostAnswerBytes, neighbourName, type OwnNode, readAnswer } from "./neighbour-protocol.ts";

const patienceMs = 3000;

/** Rejects with an Error that says in plain words why there is no answer. */
export function askNeighbour(peer: Peer, tls: TlsSetup, clock: Clock): Promise<OwnNode[]> {
  const identity = identityOf(tls.material.cert);
  if (identity === undefined) return Promise.reject(new Error("our own certificate has no name to be known by"));
  return new Promise((resolve, reject) => {
    const done = new AbortController();
    const socket = connect({
      ...tlsClientOptions(tls.material, tls.policy, identity),
      host: peer.host,
      port: peer.port,
      servername: neighbourName,
    });
    const finish = (outcome: OwnNode[] | Error) => {
      done.abort();
      socket.destroy();
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
    };
    clock.sleep(patienceMs, done.signal).then(
      () => finish(new Error(`no answer within ${patienceMs / 1000} s`)),
      () => undefined, // finished before
    );
    const parts: Buffer[] = [];
    let size = 0;
    socket.on("data", (part: Buffer) => {
      size += part.length;
      if (size > mostAnswerBytes) finish(new Error(`its answer is larger than ${mostAnswerBytes} bytes`));
      else parts.push(part);
    });
    socket.once("end", () => {
      try {
        if (size === 0) throw new Error("it closed the connection: it is calico/typha, or an older version of Cattail");
        finish(readAnswer(Buffer.concat(parts).toString("utf8")));
      } catch (error) {
        finish(error as Error); // made above or by readAnswer
      }
    });
    socket.once("error", (error: NodeJS.ErrnoException) => finish(inWords(error)));
    socket.once("close", () => finish(new Error("it closed the connection")));
  });
}

function inWords(error: NodeJS.ErrnoException): Error {
  const code = error.code ?? "";
  if (/ALERT_(UNSUPPORTED_CERTIFICATE|BAD_CERTIFICATE|HANDSHAKE_FAILURE)/.test(code) || code === "ECONNRESET") {
    return new Error(
      "it refused our certificate: servers show it to each other as clients, so it must be allowed for both (cattail certs inspect FILE shows it)",
    );
  }
  return new Error(connectionWords(error));
}
