// What export printed, ours or the original's, read and checked as a whole before anything is changed.
import { readFile } from "node:fs/promises";
import { isRecord, type JsonRecord, messageOf, parseJson } from "../../../base/lib/index.ts";
import { FieldError } from "../../../calico/model/index.ts";
import { fromIpamRecord, type V3Object } from "../../../calico/resources/index.ts";
import { type Console, CtlError } from "../console.ts";
import { goWords } from "../file-error.ts";
import { parseIpamRecords } from "./ipam-records.ts";

export type MigrationFile = {
  /** Lists of each kind, as YAML. */
  readonly resources: string;
  readonly information: { readonly clusterGUID?: string; readonly calicoVersion?: string };
  /** As v3 objects: blocks, affinities, handles and the configuration. */
  readonly ipam: readonly V3Object[];
};

export async function readMigrationFile(filename: string, console: Console): Promise<MigrationFile> {
  const name = filename === "-" ? "/dev/stdin" : filename;
  const text = filename === "-" ? await console.readStdin() : await textOf(filename);
  const parts = text.split("===\n");
  const [resources, information, ipam] = parts;
  if (parts.length !== 3 || resources === undefined || information === undefined || ipam === undefined) {
    const advice = "Try recreating with 'calicoctl export'";
    throw new CtlError(`error while reading migration file: imported file: ${name} is improperly formatted. ${advice}`);
  }
  return { resources, information: readInformation(information), ipam: readIpam(ipam) };
}

async function textOf(filename: string): Promise<string> {
  try {
    return await readFile(filename, "utf8");
  } catch (error) {
    throw new CtlError(`error while reading migration file: open ${filename}: ${goWords(error)}`, { cause: error });
  }
}

function readInformation(text: string): MigrationFile["information"] {
  const value = parsed(text, "error reading exported cluster info for migration");
  const spec = isRecord(value) && isRecord(value.spec) ? value.spec : {};
  const { clusterGUID, calicoVersion } = spec;
  return {
    ...(typeof clusterGUID === "string" ? { clusterGUID } : {}),
    ...(typeof calicoVersion === "string" ? { calicoVersion } : {}),
  };
}

function readIpam(text: string): V3Object[] {
  const value = parsed(text, "failed to read IPAM resources");
  try {
    return parseIpamRecords(value).map(({ kind, name, value: record }) =>
      fromIpamRecord(kind, { id: { namespace: "", name }, value: record, revision: "" }),
    );
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    throw new CtlError(`failed to read IPAM resources: ${error.message}`, { cause: error });
  }
}

function parsed(text: string, what: string): JsonRecord | unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new CtlError(`${what}: ${messageOf(error)}`, { cause: error });
  }
}
