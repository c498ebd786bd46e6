// The client certificate, its key and the CA, read again when they may have changed. Kubernetes swaps a Secret's files
// under a running program; a pair caught halfway keeps the last good one.
import { createHash, createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext, type SecureContext } from "node:tls";
import { CattailError, type Clock, LastGood, type Log } from "../../../base/lib/index.ts";

export type EtcdTlsFiles = {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  /** PEM itself, in the place of the files. */
  readonly inline?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
};

export type LoadedCredentials = { readonly fingerprint: string; readonly secureContext: SecureContext };

async function loadCredentials(files: EtcdTlsFiles): Promise<LoadedCredentials> {
  const { inline = {} } = files;
  const hasCert = (inline.cert ?? files.certFile) !== undefined;
  if (hasCert !== ((inline.key ?? files.keyFile) !== undefined)) {
    throw new CattailError("ETCD_TLS_PAIR", {
      problem: `etcd's client ${hasCert ? "certificate" : "key"} is set, but not the ${hasCert ? "key" : "certificate"} that belongs to it`,
      next: "Set both the certificate file and the key file, or neither",
    });
  }
  const [ca, cert, key] = await Promise.all([
    read(files.caFile, inline.ca),
    read(files.certFile, inline.cert),
    read(files.keyFile, inline.key),
  ]);
  if (cert !== undefined && key !== undefined) checkPair(files, cert, key);
  const hash = createHash("sha256");
  for (const part of [ca, cert, key]) hash.update(part ?? "none").update("\u0000");
  try {
    const secureContext = createSecureContext({ ca, cert, key }); // throws for files that are not PEM
    return { secureContext, fingerprint: hash.digest("hex") };
  } catch (cause) {
    throw new CattailError("ETCD_TLS_FILE", {
      problem: `etcd's TLS files cannot be used: ${String(cause)}`,
      next: `check that ${[files.caFile, files.certFile, files.keyFile].filter(Boolean).join(", ") || "they"} are PEM`,
      cause,
    });
  }
}

/** Read again when they are asked for and older than `maxAgeMs`; the same object for as long as the files hold the same. */
export function watchedCredentials(
  files: EtcdTlsFiles,
  options: { clock: Clock; log: Log; maxAgeMs: number },
): LastGood<LoadedCredentials> {
  const { clock, log, maxAgeMs } = options;
  let last: LoadedCredentials | undefined;
  return new LastGood({
    clock,
    maxAgeMs,
    async read() {
      const loaded = await loadCredentials(files);
      if (loaded.fingerprint === last?.fingerprint) return last;
      if (last !== undefined) log.info("etcd TLS files reloaded");
      last = loaded;
      return loaded;
    },
    onKept: (error) => log.warn("etcd TLS files cannot be used; keeping the last good ones", { error: String(error) }),
  });
}

async function read(file: string | undefined, inline: string | undefined): Promise<Buffer | undefined> {
  if (inline !== undefined) return Buffer.from(inline);
  if (file === undefined) return undefined;
  try {
    return await readFile(file);
  } catch (cause) {
    throw new CattailError("ETCD_TLS_FILE", {
      problem: `etcd's TLS file ${file} cannot be read: ${String(cause)}`,
      next: "Check the path, and that this user may read it",
      cause,
    });
  }
}

function checkPair(files: EtcdTlsFiles, cert: Buffer, key: Buffer): void {
  let isPair: boolean;
  try {
    isPair = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch (cause) {
    throw new CattailError("ETCD_TLS_FILE", {
      problem: `${files.certFile ?? "the certificate"} and ${files.keyFile ?? "the key"} cannot be read as a certificate and a key: ${String(cause)}`,
      next: "Check that both are PEM files and that the key has no passphrase",
      cause,
    });
  }
  if (!isPair) {
    throw new CattailError("ETCD_TLS_PAIR", {
      problem: `the certificate in ${files.certFile ?? "the settings"} does not belong to the key in ${files.keyFile ?? "the settings"}`,
      next: "Use the certificate and the key of one pair",
    });
  }
}
