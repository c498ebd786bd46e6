// The folder of certificates that the guides make by hand: one CA, the server's pair and the nodes' pair, under the
// guides' names. `cattail certs`, the demo and the tests make and renew them here.
import { existsSync } from "node:fs";
import { CattailError } from "../../base/lib/index.ts";
import {
  type CertifiedKey,
  issueAuthority,
  issueCertificate,
  type KeyKind,
  type LeafNames,
  type PairFiles,
  pairFiles,
  readPemFile,
  renewCertificate,
  writePair,
} from "../../base/security/index.ts";

export type Pair = "authority" | "server" | "client";

const baseNames: { readonly [pair in Pair]: string } = { authority: "typhaca", server: "typha", client: "calico-node" };

export const usualNames: { readonly [role in "server" | "client"]: LeafNames } = {
  server: {
    commonName: "calico-typha",
    dnsSans: ["calico-typha", "calico-typha.kube-system.svc", "localhost"],
    ipSans: ["127.0.0.1", "::1"],
  },
  client: { commonName: "calico-node" },
};

const usualAuthority = "Calico Typha CA";

export type MakeOptions = {
  readonly folder: string;
  readonly nowMs: number;
  readonly force?: boolean;
  readonly days?: number;
  readonly keyKind?: KeyKind;
};

export function filesOf(pair: Pair, folder: string): PairFiles {
  return pairFiles(folder, baseNames[pair]);
}

export async function makeAuthority(options: MakeOptions & { commonName?: string }): Promise<PairFiles> {
  return write("authority", issueAuthority({ ...options, commonName: options.commonName ?? usualAuthority }), options);
}

export async function makePair(
  role: "server" | "client",
  options: MakeOptions & { names?: LeafNames },
): Promise<PairFiles> {
  const authority = readPair("authority", options.folder);
  return write(
    role,
    issueCertificate({ names: usualNames[role], ...options, authority, role, isForBothRoles: true }),
    options,
  );
}

/** The same names and uses for another period; with a new key, of the old one's kind unless told, or with `keepKey` the old. */
export async function renewPair(
  role: "server" | "client",
  options: MakeOptions & { keepKey: boolean },
): Promise<PairFiles> {
  const authority = readPair("authority", options.folder);
  const { certPem, keyPem } = readPair(role, options.folder);
  const renewed = renewCertificate({ ...options, authority, certPem, ...(options.keepKey ? { keyPem } : {}) });
  return write(role, renewed, { ...options, force: true });
}

export function hasPair(pair: Pair, folder: string): boolean {
  return Object.values(filesOf(pair, folder)).every((file) => existsSync(file));
}

export function readPair(pair: Pair, folder: string): CertifiedKey {
  const { certFile, keyFile } = filesOf(pair, folder);
  if (!hasPair(pair, folder)) {
    throw new CattailError("CERTS_FILE_MISSING", {
      problem: `${certFile} or ${keyFile} does not exist`,
      next: `Make them with "cattail certs ${pair === "authority" ? "init" : pair} --dir ${folder}", or give the folder that has them with --dir`,
    });
  }
  return { certPem: readPemFile(certFile), keyPem: readPemFile(keyFile) };
}

/** The CA's certificate alone: who hands certificates out needs no more of the CA, and its key is kept elsewhere. */
export function readAuthorityCertificate(folder: string): string {
  const { certFile } = filesOf("authority", folder);
  if (existsSync(certFile)) return readPemFile(certFile);
  throw new CattailError("CERTS_FILE_MISSING", {
    problem: `${certFile}, the CA's certificate, does not exist`,
    next: `Copy the certificate of the CA that signed the pairs in ${folder} to this name. The CA's key is not needed. Do not make a new CA: nodes and servers that trust the old one would refuse each other`,
  });
}

async function write(pair: Pair, made: CertifiedKey, { folder, force }: MakeOptions): Promise<PairFiles> {
  const files = filesOf(pair, folder);
  await writePair(made, files, { force: force === true });
  return files;
}
