// ctl ipam release: gives back an address, or what reports of `ipam check` found leaked.
import { readFile } from "node:fs/promises";
import { addressText, messageOf } from "../../../base/lib/index.ts";
import { isIpamError } from "../../../calico/ipam-client/index.ts";
import { handleName, isResourceError, type Resources } from "../../../calico/resources/index.ts";
import type { Run } from "../command.ts";
import type { Connection } from "../connection.ts";
import { type Console, CtlError } from "../console.ts";
import { addressGiven } from "./address-given.ts";
import { inAllReports, type LeakedHandle, ownVersion, type Report, readReport } from "./check/report.ts";
import { ipamOf } from "./open-ipam.ts";

export const run: Run = async (invocation, console) => {
  const connection = await invocation.connect();
  const files = invocation.values("from-report");
  const ip = invocation.value("ip") ?? "";
  if (files.length > 0) {
    return await releaseReported(connection, { files, isForced: invocation.isSet("force") }, console);
  }
  if (ip !== "") await releaseAddress(connection, ip, console);
  return 0;
};

async function releaseAddress(connection: Connection, text: string, { out, signal }: Console): Promise<void> {
  const address = addressGiven(text);
  const shown = addressText(address.family, address.first);
  const { released, conflicts } = await toldAsError(ipamOf(connection).releaseIPs([{ address }], { signal }));
  const [conflict] = conflicts;
  if (conflict !== undefined) throw new CtlError(`error: ${conflict.says}`);
  if (released.length === 0) throw new CtlError(`IP address ${shown} is not assigned`);
  out(`Successfully released IP address ${shown}\n`);
}

async function toldAsError<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (isIpamError(error) || isResourceError(error)) throw new CtlError(`error: ${error.message}`, { cause: error });
    throw error;
  }
}

type Given = { readonly files: readonly string[]; readonly isForced: boolean };

/** 1 where something could not be given back: then the report is old, or somebody else is at work. */
async function releaseReported(connection: Connection, given: Given, console: Console): Promise<number> {
  const { resources } = connection;
  const { out, signal } = console;
  const cluster = await resources.get("ClusterInformation", { namespace: "", name: "default" }, { signal });
  const reports: Report[] = [];
  for (const file of given.files) {
    const report = readReport(file, await textOf(file));
    refuseForeign(report, file, { guid: String(cluster.spec.clusterGUID ?? ""), isForced: given.isForced, out });
    reports.push(report);
  }
  const { resourceVersion } = cluster.metadata;
  if (!reports.some(({ clusterInformationRevision }) => clusterInformationRevision === resourceVersion)) {
    throw new CtlError(
      "the provided reports are all stale - at least one should be up-to-date. " +
        "Please generate a new report while the data store is locked and try again",
    );
  }
  if (cluster.spec.datastoreReady !== false) {
    if (!given.isForced) {
      throw new CtlError("data store is not locked. Either lock the data store, or re-run with --force");
    }
    out("WARNING: Data store is not locked. Ignoring due to --force option\n");
  }
  const { addresses, handles } = inAllReports(reports);
  const areReleased = await releaseAddresses(connection, addresses, console);
  const areDeleted = await deleteHandles(resources, handles, console);
  out("You may now unlock the data store.\n");
  return areReleased && areDeleted ? 0 : 1;
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    throw new CtlError(isMissing ? `open ${file}: no such file or directory` : messageOf(error), { cause: error });
  }
}

function refuseForeign(
  { clusterGUID, version }: Report,
  file: string,
  { guid, isForced, out }: { guid: string; isForced: boolean; out: Console["out"] },
): void {
  // Not even --force: this report is about addresses that have nothing to do with this cluster's.
  if (clusterGUID !== guid) {
    const text = `cluster does not match the provided report (${file}): mismatched cluster GUID. Refusing to release`;
    throw new CtlError(text);
  }
  if (version === ownVersion()) return;
  if (!isForced) {
    const text = `the provided report (${file}) was produced using a different version (${version}) of calicoctl`;
    throw new CtlError(`${text}. Refusing to release`);
  }
  out("WARNING: Report was produced using a different version of calicoctl. Ignoring due to --force option\n");
}

async function releaseAddresses(
  connection: Connection,
  addresses: ReturnType<typeof inAllReports>["addresses"],
  { out, signal }: Console,
): Promise<boolean> {
  if (addresses.length === 0) {
    out("Report didn't contain any leaked IPs to clean up.\n");
    return true;
  }
  out(`Releasing ${addresses.length} old IPs...\n`);
  try {
    const done = await ipamOf(connection).releaseIPs(addresses, { signal });
    const [conflict] = done.conflicts;
    if (conflict === undefined) out(`Released ${done.released.length} IPs successfully\n`);
    else out(outOfDate(done.conflicts.map(({ says }) => says).join("; ")));
    const { length: free } = done.notAllocated;
    if (free > 0) out(`${free} addresses marked as leaked in the report had already been cleaned up.\n`);
    return conflict === undefined;
  } catch (error) {
    signal.throwIfAborted();
    out(outOfDate(messageOf(error)));
    return false;
  }
}

function outOfDate(why: string): string {
  return (
    `An error occurred while releasing some IPs: ${why}.  Problems are often caused by an out-of-date IPAM report.  ` +
    "Try regenerating the IPAM report and retry.\n"
  );
}

/** A few at a time: each is a read and a write. */
const atOnce = 8;

async function deleteHandles(
  resources: Resources,
  handles: readonly LeakedHandle[],
  { out, signal }: Console,
): Promise<boolean> {
  if (handles.length === 0) {
    out("Report didn't contain any handles to clean up.\n");
    return true;
  }
  out(`Deleting ${handles.length} handles...\nKey: '.' = Deleted OK; 'x' = skip, handle missing/changed.\n`);
  const counts = { deleted: 0, skipped: 0, failed: 0 };
  const waiting = handles.values();
  const worker = async () => {
    for (const handle of waiting) {
      const outcome = await deleteHandle(resources, handle, signal);
      if (outcome === "deleted" || outcome === "skipped") {
        counts[outcome] += 1;
        out(outcome === "deleted" ? "." : "x");
      } else {
        counts.failed += 1;
        out(`\nDeleting handle ${handle.id} failed: ${outcome.says}.\n`);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, handles.length) }, worker));
  out(`\nReleased ${counts.deleted} handles; ${counts.skipped} skipped; ${counts.failed} errors.\n`);
  return counts.failed === 0;
}

/** Only the very handle that the report saw. */
async function deleteHandle(
  resources: Resources,
  { id, uid, revision }: LeakedHandle,
  signal: AbortSignal,
): Promise<"deleted" | "skipped" | { says: string }> {
  const key = { namespace: "", name: handleName(id) };
  try {
    const { metadata } = await resources.get("IPAMHandle", key, { signal });
    if (metadata.resourceVersion !== revision || (metadata.uid || undefined) !== uid) return "skipped";
    await resources.delete("IPAMHandle", key, { signal, resourceVersion: revision });
    return "deleted";
  } catch (error) {
    if (isResourceError(error, "not-found", "conflict")) return "skipped";
    signal.throwIfAborted();
    return { says: messageOf(error) };
  }
}
