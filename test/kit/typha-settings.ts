// Settings for a `cattail typha` process that a test can have to itself: free ports, loopback, an empty memory datastore.
import type { CertificateFolder } from "./certificates.ts";
import { freePort } from "./free-port.ts";

export type TyphaEnvironment = { readonly [name: string]: string };

export async function typhaSettings(more: TyphaEnvironment = {}): Promise<TyphaEnvironment> {
  return {
    TYPHA_LOGFILEPATH: "none",
    TYPHA_LOGSEVERITYSYS: "none",
    TYPHA_DATASTORETYPE: "memory",
    TYPHA_WORKERS: "0",
    TYPHA_SERVERHOST: "127.0.0.1",
    TYPHA_SERVERPORT: `${await freePort()}`,
    TYPHA_HEALTHENABLED: "true",
    TYPHA_HEALTHHOST: "127.0.0.1",
    TYPHA_HEALTHPORT: `${await freePort()}`,
    ...more,
  };
}

export function tlsSettings({ server }: CertificateFolder): TyphaEnvironment {
  return {
    TYPHA_CAFILE: server.caFile,
    TYPHA_SERVERCERTFILE: server.certFile,
    TYPHA_SERVERKEYFILE: server.keyFile,
    TYPHA_CLIENTCN: "calico-node",
  };
}
