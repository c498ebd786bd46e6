// Certificates and keys on disk: never half written, never over something that was there unless told to, keys readable
// by their owner alone.
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CattailError } from "../../lib/index.ts";
import { makeFolders, replaceFile } from "../../linux/files.ts";
import type { CertifiedKey } from "./issue.ts";

export type PairFiles = { readonly certFile: string; readonly keyFile: string };

/** The files `NAME.crt` and `NAME.key` in a folder. */
export function pairFiles(folder: string, name: string): PairFiles {
  return { certFile: join(folder, `${name}.crt`), keyFile: join(folder, `${name}.key`) };
}

export async function writePair(
  pair: CertifiedKey,
  files: PairFiles,
  options: { force?: boolean } = {},
): Promise<void> {
  if (options.force !== true) {
    for (const file of [files.certFile, files.keyFile]) {
      if (await exists(file)) {
        throw new CattailError("CERTS_FILE_EXISTS", {
          problem: `${file} already exists`,
          next: `"cattail certs renew" makes new certificates with the same names and the same CA. --force replaces the file; if you replace a CA, all its certificates become invalid`,
        });
      }
    }
  }
  // The key first: a server that looks in between sees a pair that does not match, and waits for the certificate.
  await writeWhole(files.keyFile, pair.keyPem, 0o600);
  await writeWhole(files.certFile, pair.certPem, 0o644);
}

/** A reader sees the old content or the new, never a part. */
async function writeWhole(file: string, text: string, mode: number): Promise<void> {
  try {
    await makeFolders(dirname(file));
    await replaceFile(file, text, { mode });
  } catch (error) {
    throw cannotWrite(file, error instanceof CattailError ? error.cause : error);
  }
}

function cannotWrite(file: string, error: unknown): CattailError {
  return new CattailError("CERTS_WRITE", {
    problem: `${file} cannot be written (${(error as NodeJS.ErrnoException).code ?? String(error)})`,
    next: "Check that its folder exists, that this user may write to it, and that the disk is not full",
    cause: error,
  });
}

async function exists(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw cannotWrite(file, error);
  }
}
