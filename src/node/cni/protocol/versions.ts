// The versions of the CNI protocol, and which of its commands each has.
import { CniError, cniErrorCodes } from "./cni-error.ts";

export const supportedVersions = ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"] as const;
export type CniVersion = (typeof supportedVersions)[number];

/** What VERSION says that we speak, which is what the protocol's own library says. */
export const versionAnswer = { cniVersion: "1.1.0", supportedVersions };

/** One who names no version speaks the first. */
const firstVersion = "0.1.0";

/** Throws where it is none of ours. */
export function checkedVersion(configured: string | undefined): CniVersion {
  const wanted = configured || firstVersion;
  const found = supportedVersions.find((each) => each === wanted);
  if (found !== undefined) return found;
  const ours = supportedVersions.map((each) => JSON.stringify(each)).join(" ");
  throw new CniError(cniErrorCodes.incompatibleVersion, "incompatible CNI versions", {
    details: `config is ${JSON.stringify(wanted)}, plugin supports [${ours}]`,
  });
}

/** Throws where the configuration's version does not have the command yet, or is newer than all that we speak. */
export function mustHaveCommand(command: string, configured: string | undefined, since: string): void {
  const refused = (whose: string) =>
    new CniError(cniErrorCodes.incompatibleVersion, `${whose} version does not allow ${command}`);
  if (isBefore(configured || firstVersion, since)) throw refused("config");
  if (supportedVersions.every((version) => isBefore(version, configured || firstVersion))) throw refused("plugin");
}

function isBefore(a: string, b: string): boolean {
  const [left, right] = [numbers(a), numbers(b)];
  for (const [at, number] of left.entries()) {
    const other = right[at] ?? 0;
    if (number !== other) return number < other;
  }
  return false;
}

function numbers(version: string): number[] {
  return version.split(".").map((part) => Number.parseInt(part, 10) || 0);
}
