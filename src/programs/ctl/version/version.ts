// `ctl version`: of this program, and of the cluster by its ClusterInformation. Nothing is compared.
import { isRecord, systemClock } from "../../../base/lib/index.ts";
import { build } from "../../shared/build.ts";
import type { Invocation, Run } from "../command.ts";
import { ConfigProblem } from "../connect/settings.ts";
import { clientVersion } from "../connect/versions.ts";
import type { Connection } from "../connection.ts";
import { type Console, CtlError } from "../console.ts";

export const run: Run = async (invocation, console) => {
  const pollMs = await pollIntervalMs(invocation.value("poll") ?? "");
  const { version, commit } = build();
  console.out(`Client Version:    ${clientVersion(version)}\nGit commit:        ${commit}\n`);
  if (invocation.isSet("client")) return 0;
  const connection = await connected(invocation, console);
  if (connection === undefined) return 0;
  if (pollMs === 0) {
    for (const line of await clusterLines(connection, console.signal)) console.out(line);
    return 0;
  }
  for (let last: readonly string[] = []; ; await systemClock.sleep(pollMs, console.signal)) {
    try {
      const lines = await clusterLines(connection, console.signal);
      for (const line of lines) if (!last.includes(line)) console.out(line);
      last = lines;
    } catch (error) {
      if (!(error instanceof CtlError)) throw error;
      console.err(`${error.message}\n`);
      last = []; // when the cluster is back, it is said again
    }
  }
};

/** Undefined: nobody has said which cluster. That is no failure: `version` also tells what is installed here. */
async function connected({ connect }: Invocation, console: Console): Promise<Connection | undefined> {
  try {
    return await connect();
  } catch (error) {
    if (!(error instanceof CtlError && error.cause instanceof ConfigProblem && error.cause.isOfKubernetes)) throw error;
    console.out("Unable to detect installed Calico version\n");
    if (console.isTerminal) console.err(`${error.message}\n`);
    return undefined;
  }
}

/** 0: ask once. */
async function pollIntervalMs(text: string): Promise<number> {
  if (text === "") return 0;
  const { parseDuration } = await import("../../../calico/model/index.ts");
  const nanoseconds = parseDuration(text);
  if (nanoseconds === undefined) throw new CtlError(`invalid poll duration specified: ${text}`);
  return Math.min(Math.max(0, Number(nanoseconds / 1_000_000n)), 2 ** 31 - 1);
}

async function clusterLines({ resources }: Connection, signal: AbortSignal): Promise<string[]> {
  try {
    const { spec } = await resources.get("ClusterInformation", { namespace: "", name: "default" }, { signal });
    const text = (field: string) => {
      const value = isRecord(spec) ? spec[field] : undefined;
      return typeof value === "string" && value !== "" ? value : "unknown";
    };
    return [`Cluster Version:   ${text("calicoVersion")}\n`, `Cluster Type:      ${text("clusterType")}\n`];
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Error)) throw error;
    throw new CtlError(`unable to retrieve Cluster Version or Type: ${error.message}`, { cause: error });
  }
}
