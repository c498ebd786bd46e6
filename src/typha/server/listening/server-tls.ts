// The server's TLS from its settings: all of it or none, followed through every change of the files.

import type { Clock, Log } from "../../../base/lib/index.ts";
import { type TlsFilesState, tlsPolicy, watchTlsFiles } from "../../../base/security/index.ts";
import type { Settings } from "../../settings/index.ts";
import type { Server } from "../serve.ts";
import type { TlsSetup } from "./listener.ts";

export type ServerTls = AsyncDisposable & {
  setup(): TlsSetup;
  state(): TlsFilesState;
  readonly files: readonly { readonly role: "certificate" | "ca"; readonly path: string }[];
  /** What would keep clients out, in words. */
  problem(): string | undefined;
  reload(): Promise<unknown>;
  /** Hands each new material to the server, until the signal aborts. */
  follow(server: Server, signal: AbortSignal): Promise<void>;
};

/** Undefined: no TLS setting at all is given. A partial set never gets here: typha/settings refuses it. */
export async function openTls(
  settings: Settings,
  edge: { log: Log; clock: Clock; signal: AbortSignal },
): Promise<ServerTls | undefined> {
  const { serverCertFile, serverKeyFile, caFile, clientCn, clientUriSan } = settings;
  if (serverCertFile === "" && serverKeyFile === "" && caFile === "") {
    edge.log.warn(
      "TLS is off: whoever reaches the port can read everything. Set TYPHA_CAFILE, TYPHA_SERVERCERTFILE, TYPHA_SERVERKEYFILE and TYPHA_CLIENTCN.",
    );
    return undefined;
  }
  const policy = tlsPolicy({ minVersion: settings.tlsMinVersion, cipherSuites: settings.tlsCipherSuites });
  const watcher = await watchTlsFiles(
    { certFile: serverCertFile, keyFile: serverKeyFile, caFile },
    { role: "server", ...edge },
  );
  const requirement = {
    ...(clientCn === "" ? {} : { commonName: clientCn }),
    ...(clientUriSan === "" ? {} : { uriSan: clientUriSan }),
  };
  return {
    setup: () => ({
      material: watcher.state().material,
      policy,
      requirement,
      endsUntrusted: settings.closeExpiredClients,
    }),
    state: () => watcher.state(),
    files: [
      { role: "certificate", path: serverCertFile },
      { role: "ca", path: caFile },
    ],
    problem() {
      const { problems, refused } = watcher.state();
      return refused?.says ?? problems[0]?.says;
    },
    reload: () => watcher.reload(),
    async follow(server, signal) {
      for await (const material of watcher.changes()) {
        if (signal.aborted) return;
        server.setTlsMaterial(material);
      }
    },
    [Symbol.asyncDispose]: () => watcher[Symbol.asyncDispose](),
  };
}
