// The report of `ipam check`, which `ipam release --from-report` reads: the original's fields in its order, so that either program
// takes what the other wrote.

import { isRecord, type JsonRecord, messageOf, parseJson, parseRange, writeJson } from "../../../../base/lib/index.ts";
import {
  type Allocation,
  type Audited,
  type AuditReport,
  type ReleaseRequest,
  userText,
} from "../../../../calico/ipam/index.ts";
import { build } from "../../../shared/build.ts";
import { clientVersion } from "../../connect/versions.ts";
import { CtlError } from "../../console.ts";

/** What of the cluster a report is good for. */
export type ReportedCluster = {
  readonly version: string;
  readonly clusterGUID: string;
  readonly datastoreLocked: boolean;
  readonly clusterInformationRevision: string;
  readonly clusterType: string;
};

/** Reports of another version are refused. */
export function ownVersion(): string {
  return clientVersion(build().version);
}

/** A handle that holds nothing; by its revision and uid it is known again. etcd has no uids. */
export type LeakedHandle = { readonly id: string; readonly uid: string | undefined; readonly revision: string };

export function reportText(
  cluster: ReportedCluster,
  { audited, report }: { readonly audited: Audited; readonly report: AuditReport },
  leakedHandles: readonly LeakedHandle[],
): string {
  const users = Map.groupBy(audited.uses, ({ address }) => address);
  const leaked = new Set(report.addresses.leaked);
  const byAddress = Map.groupBy(report.allocations, ({ address }) => address);
  const allocations = [...byAddress]
    .sort(([a], [b]) => (a < b ? -1 : Number(a > b)))
    .map(([address, held]) => {
      const owners = (users.get(address) ?? []).map(({ user }) => userText(user));
      const ownersOf = (each: Allocation) => (owners.length > 0 || leaked.has(each) ? owners : keptFor(each));
      return [address, held.map((each) => reported(each, ownersOf(each)))] as const;
    });
  const handles = leakedHandles.map(({ id, uid, revision }) => ({ ID: id, UID: uid ?? null, Revision: revision }));
  const { version, clusterGUID, datastoreLocked, clusterInformationRevision, clusterType } = cluster;
  return writeJson(
    {
      version,
      clusterGUID,
      datastoreLocked,
      clusterInformationRevision,
      clusterType,
      allocations: Object.fromEntries(allocations),
      ...(handles.length === 0 ? {} : { leakedHandles: handles }),
    },
    "  ",
  );
}

/**
 * Whoever need not show that he uses it. The original calls such addresses not in use in its reports, and releases them: those that
 * Windows keeps, and that of a pod which is about to start.
 */
function keptFor({ heldFor }: Allocation): string[] {
  switch (heldFor.is) {
    case "waiting":
      return [];
    case "windows":
      return ["Reserved for Windows"];
    case "pod":
      return [`Pod(${heldFor.namespace}/${heldFor.pod})`];
    default:
      return [heldFor.is];
  }
}

/** Empty texts and what is not so are left out, as Go leaves them out. */
function reported(allocation: Allocation, owners: readonly string[]): JsonRecord {
  const { address, handle, sequenceNumber, node, isBorrowed, heldFor, attribute } = allocation;
  const { pod, namespace, type, timestamp } = attribute?.secondary ?? {};
  return {
    ip: address,
    ...(handle ? { handle } : {}),
    sequenceNumber,
    ...(pod ? { pod } : {}),
    ...(namespace ? { namespace } : {}),
    ...(node ? { node } : {}),
    ...(type ? { type } : {}),
    ...(timestamp ? { creationTimestamp: timestamp } : {}),
    inUse: owners.length > 0,
    ...(isBorrowed ? { borrowed: true } : {}),
    ...(heldFor.is === "waiting" ? { coolingDown: true } : {}),
    owners: owners.length === 0 ? null : owners,
  };
}

export type Report = Pick<ReportedCluster, "version" | "clusterGUID" | "clusterInformationRevision"> & {
  readonly leaked: ReadonlyMap<string, ReleaseRequest>;
  readonly leakedHandles: ReadonlyMap<string, LeakedHandle>;
};

/** Throws CtlError for a file that is no report. */
export function readReport(file: string, text: string): Report {
  const bad = (why: string) => new CtlError(`${file} is not a report of ipam check: ${why}`);
  let parsed: unknown;
  try {
    parsed = parseJson(text);
  } catch (error) {
    throw bad(messageOf(error));
  }
  if (!isRecord(parsed)) throw bad("it is not a JSON object");
  const { allocations = {}, leakedHandles = [] } = parsed;
  if (!isRecord(allocations)) throw bad("allocations is not an object");
  const leaked = Object.values(allocations).flatMap((each) => (Array.isArray(each) ? each.flatMap(leakedIn) : []));
  const handles = Array.isArray(leakedHandles) ? leakedHandles.flatMap(handleIn) : [];
  return {
    version: textOf(parsed.version),
    clusterGUID: textOf(parsed.clusterGUID),
    clusterInformationRevision: textOf(parsed.clusterInformationRevision),
    leaked: new Map(leaked),
    leakedHandles: new Map(handles.map((handle) => [handle.id, handle])),
  };
}

/** With handle and sequence number, so that only this very allocation is given back. */
function leakedIn(value: unknown): [string, ReleaseRequest][] {
  if (!isRecord(value) || value.inUse !== false || value.coolingDown === true) return [];
  const ip = textOf(value.ip);
  const address = parseRange(ip);
  const { sequenceNumber } = value;
  if (address === undefined) return [];
  const isNumber = typeof sequenceNumber === "bigint" || Number.isSafeInteger(sequenceNumber);
  const number = isNumber ? { sequenceNumber: BigInt(sequenceNumber as number | bigint) } : {};
  const handle = textOf(value.handle);
  return [[ip, { address, ...(handle === "" ? {} : { handle }), ...number }]];
}

function handleIn(value: unknown): LeakedHandle[] {
  if (!isRecord(value) || textOf(value.ID) === "") return [];
  const uid = textOf(value.UID);
  return [{ id: textOf(value.ID), uid: uid === "" ? undefined : uid, revision: textOf(value.Revision) }];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** What leaked in every report, as the last one has it; a handle only where nobody has written it in between. */
export function inAllReports(reports: readonly Report[]): {
  readonly addresses: readonly ReleaseRequest[];
  readonly handles: readonly LeakedHandle[];
} {
  const last = reports.at(-1);
  const addresses = [...(last?.leaked ?? [])].filter(([ip]) => reports.every(({ leaked }) => leaked.has(ip)));
  const isUnchanged = ({ id, revision }: LeakedHandle) =>
    reports.every(({ leakedHandles }) => leakedHandles.get(id)?.revision === revision);
  return {
    addresses: addresses.map(([, request]) => request),
    handles: [...(last?.leakedHandles.values() ?? [])].filter(isUnchanged),
  };
}
