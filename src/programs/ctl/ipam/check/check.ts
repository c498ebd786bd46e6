// ctl ipam check: compares what is allocated with what is in use, writes a report for `ipam release`, and says, or does, what mends it.
import { writeFile } from "node:fs/promises";
import { messageOf, silentLog, systemClock } from "../../../../base/lib/index.ts";
import { type Datastore, openKubernetes } from "../../../../calico/datastore/index.ts";
import type { Resources } from "../../../../calico/resources/index.ts";
import type { Invocation, Run } from "../../command.ts";
import type { Connection } from "../../connection.ts";
import { type Console, CtlError } from "../../console.ts";
import { checkLines } from "./check-lines.ts";
import { findingLines } from "./findings.ts";
import { type Looked, look } from "./look.ts";
import { type LeakedHandle, ownVersion, reportText } from "./report.ts";

export const run: Run = async (invocation, console) => {
  const patienceMs = patienceGiven(invocation.value("patience") ?? "");
  const connection = await invocation.connect();
  const services = await servicesOf(connection, invocation, console);
  const { signal } = console;
  try {
    const looked = await look(connection, services, signal);
    console.out(checkLines({ ...looked, show: shownBy(invocation) }));
    const file = invocation.value("output") ?? "";
    if (file !== "") await writeReport(connection.resources, file, { ...looked, signal });
    const isFixing = invocation.isSet("fix");
    // Scripts read the original's lines and no others, so the rest is for people, or for who asks for it.
    if (isFixing || invocation.isSet("findings") || console.isTerminal)
      console.out(findingLines(looked.report.findings));
    if (!isFixing || looked.report.findings.length === 0) return 0;
    const { fix } = await import("./fix.ts");
    return await fix(looked, { connection, patienceMs, lookAgain: () => look(connection, services, signal) }, console);
  } finally {
    if (services !== connection.datastore) await services[Symbol.asyncDispose]();
  }
};

function patienceGiven(text: string): number {
  const [, number = "", unit = "s"] = /^(\d+)(s|m)?$/.exec(text) ?? [];
  if (number !== "") return Number(number) * (unit === "m" ? 60_000 : 1000);
  throw new CtlError(`invalid argument "${text}" for "--patience" flag: must be a time such as 150s or 5m`);
}

function shownBy(invocation: Invocation): "all" | "problems" | "counts" {
  if (invocation.isSet("show-all-ips")) return "all";
  return invocation.isSet("show-problem-ips") ? "problems" : "counts";
}

/** Services are Kubernetes', wherever Calico's data is. */
async function servicesOf(
  { type, datastore }: Connection,
  invocation: Invocation,
  { env }: Console,
): Promise<Datastore> {
  if (type !== "etcdv3") return datastore;
  const kubeconfig = invocation.value("kubeconfig") || env.KUBECONFIG || "";
  if (kubeconfig === "") throw new CtlError("KUBECONFIG environment variable or --kubeconfig parameter not set");
  const edge = { clock: systemClock, log: silentLog };
  return await openKubernetes({ kubeconfig, streamLists: false }, edge);
}

async function writeReport(
  resources: Resources,
  file: string,
  { audited, report, signal }: Looked & { readonly signal: AbortSignal },
): Promise<void> {
  const { metadata, spec } = await resources.get("ClusterInformation", { namespace: "", name: "default" }, { signal });
  const cluster = {
    version: ownVersion(),
    clusterGUID: String(spec.clusterGUID ?? ""),
    datastoreLocked: spec.datastoreReady === false,
    clusterInformationRevision: metadata.resourceVersion ?? "",
    clusterType: String(spec.clusterType ?? ""),
  };
  const idle = report.handles.idle.map(({ value }) => value.id);
  const handles = idle.length === 0 ? [] : await leakedHandles(resources, new Set(idle), signal);
  try {
    await writeFile(file, reportText(cluster, { audited, report }, handles));
  } catch (error) {
    throw new CtlError(`cannot write the report: ${messageOf(error)}`, { cause: error });
  }
}

/** With the uid as v3 objects have it, as the original writes it. */
async function leakedHandles(
  resources: Resources,
  idle: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<LeakedHandle[]> {
  const { items } = await resources.list("IPAMHandle", { signal });
  return items.flatMap(({ metadata: { uid, resourceVersion = "" }, spec }) => {
    const id = String(spec.handleID ?? "");
    return idle.has(id) ? [{ id, uid: uid || undefined, revision: resourceVersion }] : [];
  });
}
