// A certificate, its key and its CA as files: read as the server (or a node) reads them, and looked at as its peers will.
import { stat } from "node:fs/promises";
import { CattailError } from "../../../base/lib/index.ts";
import {
  type CertificateFacts,
  checkIdentity,
  loadTlsMaterial,
  type PeerRequirement,
  type TlsFiles,
  type TlsMaterial,
  type TlsRole,
  tlsProblems,
} from "../../../base/security/index.ts";
import { catalogue, type FindingCode } from "../catalogue.ts";
import { type Finding, passed, problem } from "../finding.ts";

const dayMs = 86_400_000;
export const soonMs = 30 * dayMs;

export type TlsFilesQuestion = {
  readonly files: TlsFiles;
  readonly role: TlsRole;
  readonly nowMs: number;
  /** What the server's clients, or the nodes' servers, are known to ask for. */
  readonly expected?: PeerRequirement;
};

export async function checkTlsFiles(question: TlsFilesQuestion): Promise<Finding[]> {
  const { files, nowMs, role } = question;
  let material: TlsMaterial;
  try {
    material = await loadTlsMaterial(files);
  } catch (error) {
    if (!(error instanceof CattailError)) throw error;
    const code = error.code in catalogue ? (error.code as FindingCode) : "TLS_CERTIFICATE_INVALID"; // just looked up
    return [problem(code, error.problem), ...(await checkPermissions(files.keyFile))];
  }
  const found: Finding[] = tlsProblems(material, { nowMs, role }).map(({ code, says }) =>
    problem(code, `${fileOf(code, files)}: ${says}`),
  );
  if (material.unreadableAuthorities > 0)
    found.push(problem("TLS_CA_PARTLY_UNREADABLE", `${files.caFile}: only ${material.authorities.length} can be read`));
  found.push(...soonExpired(material, question), ...unusualName(material, question));
  found.push(...(await checkPermissions(files.keyFile)));
  if (found.length > 0) return found;
  const { commonName, notAfterMs } = material.certificate;
  const chain = files.caFile === "" || role === "metrics" ? "" : `, chain to ${files.caFile}`;
  const purpose = role === "client" ? "client" : "server";
  return [
    passed(`${files.certFile} and its key belong together${chain} and are meant for a ${purpose}`),
    passed(`its name is ${JSON.stringify(commonName)}, and it is valid ${daysText(notAfterMs - nowMs)} more`),
  ];
}

function fileOf(code: string, files: TlsFiles): string {
  return code.startsWith("TLS_CA") ? files.caFile : files.certFile;
}

function soonExpired({ certificate, authorities }: TlsMaterial, { files, nowMs }: TlsFilesQuestion): Finding[] {
  const isSoon = ({ notAfterMs }: CertificateFacts) => notAfterMs > nowMs && notAfterMs - nowMs < soonMs;
  const says = (file: string, facts: CertificateFacts) =>
    `${file}: ${JSON.stringify(facts.subject)} expires in ${daysText(facts.notAfterMs - nowMs)}`;
  return [
    ...(isSoon(certificate) ? [problem("TLS_CERTIFICATE_EXPIRES_SOON", says(files.certFile, certificate))] : []),
    ...authorities.filter(isSoon).map((facts) => problem("TLS_CA_EXPIRES_SOON", says(files.caFile, facts))),
  ];
}

function unusualName({ certificate }: TlsMaterial, { files, expected }: TlsFilesQuestion): Finding[] {
  if (expected === undefined) return [];
  const verdict = checkIdentity(certificate, expected);
  return verdict.accepted ? [] : [problem("TLS_UNUSUAL_NAME", `${files.certFile}: ${verdict.says}`)];
}

async function checkPermissions(keyFile: string): Promise<Finding[]> {
  const mode = await stat(keyFile).then(
    (stats) => stats.mode & 0o777,
    () => undefined, // a file that cannot be looked at was reported as unreadable
  );
  // Its group may read it: a pod that is not root reads its Secret through fsGroup, as in our own Deployment.
  if (mode === undefined || (mode & 0o037) === 0) return [];
  const fix = `chmod 600 ${keyFile}; for a Kubernetes Secret set defaultMode: 0440`;
  return [problem("TLS_KEY_PERMISSIONS", `${keyFile} has mode 0${mode.toString(8)}`, { fix })];
}

export function daysText(ms: number): string {
  const days = Math.floor(ms / dayMs);
  return days === 1 ? "1 day" : `${days} days`;
}
