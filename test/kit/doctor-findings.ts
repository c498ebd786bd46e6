// What `cattail doctor` finds, without its words: the exit code, and the codes of what is a warning or broken.
import { ok } from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { cattail } from "./cattail-process.ts";
import { eventually } from "./eventually.ts";
import type { TyphaEnvironment } from "./typha-settings.ts";

export type Findings = { code: number | null; problems: readonly (string | undefined)[] };
export const allWell: Findings = { code: 0, problems: [] };

export async function doctor(parameters: readonly string[], env: TyphaEnvironment = {}): Promise<Findings> {
  const { code, stdout, stderr } = await cattail(["doctor", "-o", "json", ...parameters], { env });
  ok(stdout !== "", stderr);
  const { findings } = JSON.parse(stdout) as { findings: { level: string; code?: string }[] }; // of docs/reference/doctor.md
  const isProblem = ({ level }: { level: string }) => level === "warning" || level === "broken";
  return { code, problems: findings.filter(isProblem).map((finding) => finding.code) };
}

/** In a cluster that changes, servers may be a moment apart; the doctor's own advice is to ask again. */
export async function findsOnly(wanted: Findings, parameters: readonly string[]): Promise<void> {
  let found: Findings | undefined;
  const isFound = async () => {
    found = await doctor(parameters);
    return isDeepStrictEqual(found, wanted);
  };
  await eventually(isFound, () => `the doctor finds ${JSON.stringify(wanted)}, not ${JSON.stringify(found)}`);
}

/** For running servers, as a node would see them. */
export function doctorFlags(
  servers: readonly { readonly host: string; readonly port: number }[],
  tls: readonly string[],
): string[] {
  return [...servers.flatMap(({ host, port }) => ["--server", `${host}:${port}`]), ...tls];
}
