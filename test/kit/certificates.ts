// Throw-away certificates for tests: made in memory in a few milliseconds, written to a folder where a test needs files.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type CertifiedKey,
  issueAuthority,
  issueCertificate,
  type LeafNames,
  parseTlsMaterial,
  type TlsFiles,
  type TlsMaterial,
  type TlsPolicy,
  tlsPolicy,
} from "../../src/base/security/index.ts";

export const serverNames: LeafNames = {
  commonName: "calico-typha",
  dnsSans: ["localhost", "calico-typha"],
  ipSans: ["127.0.0.1", "::1"],
  uriSans: ["spiffe://cluster.local/ns/kube-system/sa/calico-typha"],
};
export const clientNames: LeafNames = {
  commonName: "calico-node",
  uriSans: ["spiffe://cluster.local/ns/kube-system/sa/calico-node"],
};

export type TestAuthority = {
  readonly pair: CertifiedKey;
  server(options?: LeafOptions): CertifiedKey;
  client(options?: LeafOptions): CertifiedKey;
  /** What a server (or client) of this CA loads. */
  serverMaterial(options?: LeafOptions): TlsMaterial;
  clientMaterial(options?: LeafOptions): TlsMaterial;
  /** For a server of ours that lets this CA's nodes in. */
  serverTls(options?: LeafOptions): { material: TlsMaterial; policy: TlsPolicy; requirement: { commonName: string } };
};

export type LeafOptions = {
  names?: Partial<LeafNames>;
  nowMs?: number;
  notAfterMs?: number;
  role?: "server" | "client";
  /** Of a client; a server's are. */
  isForBothRoles?: boolean;
};

export function testAuthority(commonName = "Test CA"): TestAuthority {
  const pair = issueAuthority({ nowMs: Date.now(), commonName });
  const issue = (role: "server" | "client", options: LeafOptions = {}): CertifiedKey =>
    issueCertificate({
      authority: pair,
      role: options.role ?? role,
      isForBothRoles: options.isForBothRoles ?? (role === "server" && options.role === undefined),
      names: { ...(role === "server" ? serverNames : clientNames), ...options.names },
      nowMs: options.nowMs ?? Date.now(),
      ...(options.notAfterMs === undefined ? {} : { notAfterMs: options.notAfterMs }),
    });
  const material = (leaf: CertifiedKey) => parseTlsMaterial({ cert: leaf.certPem, key: leaf.keyPem, ca: pair.certPem });
  return {
    pair,
    server: (options) => issue("server", options),
    client: (options) => issue("client", options),
    serverMaterial: (options) => material(issue("server", options)),
    clientMaterial: (options) => material(issue("client", options)),
    serverTls: (options) => ({
      material: material(issue("server", options)),
      policy: tlsPolicy(),
      requirement: { commonName: clientNames.commonName },
    }),
  };
}

export type CertificateFolder = Disposable & {
  readonly folder: string;
  readonly server: TlsFiles;
  readonly client: TlsFiles;
};

/** The guides' files (typhaca.crt, typha.crt, calico-node.crt and their keys) in a folder that goes when disposed. */
export function certificateFolder(
  authority: TestAuthority = testAuthority(),
  clientOptions: LeafOptions = {},
): CertificateFolder {
  const folder = mkdtempSync(join(tmpdir(), "cattail-certs-"));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o600 });
  const server = authority.server();
  const client = authority.client(clientOptions);
  write("typhaca.crt", authority.pair.certPem);
  write("typhaca.key", authority.pair.keyPem);
  write("typha.crt", server.certPem);
  write("typha.key", server.keyPem);
  write("calico-node.crt", client.certPem);
  write("calico-node.key", client.keyPem);
  const caFile = join(folder, "typhaca.crt");
  return {
    folder,
    server: { certFile: join(folder, "typha.crt"), keyFile: join(folder, "typha.key"), caFile },
    client: { certFile: join(folder, "calico-node.crt"), keyFile: join(folder, "calico-node.key"), caFile },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
