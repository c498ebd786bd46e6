// This host, and the facts that were collected on others: read, diagnosed, and put into the sections of a report.
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import {
  CattailError,
  type Family,
  isRecord,
  messageOf,
  parseJson,
  plainLine,
  silentLog,
} from "../../../base/lib/index.ts";
import type { Account, Datastore } from "../../../calico/datastore/index.ts";
import {
  familiesOf,
  forwardingOf,
  type HostFacts,
  type NodeFinding,
  pluginRights,
  readCluster,
  readHost,
  type TyphaFact,
  type WholeCluster,
  type WholeFacts,
  type WholeHost,
} from "../../../node/diagnosis/index.ts";
import { followBatches, optionsFromEnvironment } from "../../../typha/client/index.ts";
import { type Finding, passed, type Section } from "../finding.ts";

export type NodeExamination = { readonly facts: WholeFacts; readonly findings: readonly NodeFinding[] };

export type NodeOptions = {
  readonly environment: { readonly [name: string]: string | undefined };
  /** What was given as --node. */
  readonly name: string | undefined;
  /** Files of facts from other hosts. */
  readonly facts: readonly string[];
  /** Whose rights as a node are looked at, where it is not whoever runs this. */
  readonly account: Account | undefined;
  readonly datastore: Datastore;
  readonly nowMs: number;
  readonly signal: AbortSignal;
  /** Pods and addresses that are asked about. */
  readonly asked?: readonly string[];
};

export async function readFacts(options: NodeOptions): Promise<WholeFacts> {
  const { datastore, signal, nowMs, account, asked = [] } = options;
  const read = await readCluster(datastore, { signal, account });
  const [host, typha] = await Promise.all([
    readHost({
      ...nameOfHost(options),
      cluster: read,
      datastore,
      signal,
      asked,
      health: healthOf(options.environment),
    }),
    readTypha(options.environment),
  ]);
  const credentials = host.cni.credentials;
  const isGood = credentials?.broken === undefined && (credentials?.expiresMs ?? Number.POSITIVE_INFINITY) > nowMs;
  const plugin = credentials === undefined || !isGood ? { missing: [] } : await pluginRights(credentials.file, signal);
  const cni = {
    ...host.cni,
    ...(credentials === undefined || plugin.refused === undefined
      ? {}
      : { credentials: { ...credentials, broken: plugin.refused } }),
    ...(plugin.missing.length === 0 ? {} : { missingRights: plugin.missing }),
  };
  const own = { ...host, cni, ...(typha === undefined ? {} : { typha }) };
  return { cluster: read, hosts: [own, ...options.facts.map(readFactsFile)], nowMs };
}

const typhaLimitMs = 10_000;

/** Whether the agent's Typha answers with its certificate: up to the first thing that it says. Undefined: none is set. */
async function readTypha(environment: NodeOptions["environment"]): Promise<TyphaFact | undefined> {
  const address = environment.FELIX_TYPHAADDR || environment.FELIX_TYPHAK8SSERVICENAME || "";
  if (address === "") return undefined;
  try {
    const { servers, ...options } = optionsFromEnvironment(environment);
    if (servers === undefined) return undefined;
    const signal = AbortSignal.timeout(typhaLimitMs);
    const following = {
      ...options,
      servers,
      signal,
      type: "felix",
      info: "cattail doctor",
      maxFailures: 1,
      log: silentLog,
    } as const;
    for await (const _ of followBatches(following)) return { address };
    return { address, problem: `it said nothing within ${typhaLimitMs / 1000} s` };
  } catch (error) {
    return { address, problem: messageOf(error) };
  }
}

/** Where the agent answers probes, as far as its environment tells. */
function healthOf({ FELIX_HEALTHENABLED, FELIX_HEALTHHOST, FELIX_HEALTHPORT }: NodeOptions["environment"]): {
  host: string;
  port: number;
  isSaid: boolean;
} {
  const port = Number(FELIX_HEALTHPORT);
  return {
    host: FELIX_HEALTHHOST || "localhost",
    port: Number.isInteger(port) && port > 0 && port < 65_536 ? port : 9099,
    isSaid: /^(1|t|true|y|yes)$/i.test(FELIX_HEALTHENABLED ?? ""),
  };
}

/** As the agent finds it. */
function nameOfHost({ name, environment }: NodeOptions): { node: string; nameFrom: string } {
  if (name !== undefined) return { node: name, nameFrom: "--node" };
  const { NODENAME = "" } = environment;
  if (NODENAME.trim() !== "") return { node: NODENAME.trim(), nameFrom: "NODENAME" };
  const file = environment.CALICO_NODENAME_FILE || "/var/lib/calico/nodename";
  try {
    const text = readFileSync(file, "utf8").trim();
    if (text !== "") return { node: text, nameFrom: file };
  } catch {
    // Then the host's own name, as the agent would take it.
  }
  return { node: hostname().toLowerCase(), nameFrom: "the host's name" };
}

function readFactsFile(file: string): WholeHost {
  try {
    const read = parseJson(readFileSync(file, "utf8"));
    if (isRecord(read) && typeof read.node === "string" && Array.isArray(read.probes)) return read as WholeHost; // written by -o facts
  } catch (error) {
    throw badFacts(file, error);
  }
  throw badFacts(file, undefined);
}

function badFacts(file: string, cause: unknown): CattailError {
  return new CattailError("DOCTOR_FACTS", {
    problem: `${file} has no facts of a host`,
    next: "Make it on that host: cattail doctor node -o facts > FILE",
    cause,
  });
}

/** The cluster first, then each host, with what is well in one line each. */
export function sectionsOf({ facts, findings }: NodeExamination): Section[] {
  const { cluster, hosts } = facts;
  const names = hosts.map(({ node }) => node);
  const ofCluster = findings.filter(({ node }) => !names.includes(node)).map(shown);
  return [
    { name: "cluster", findings: [...(ofCluster.length === 0 ? clusterIsWell(cluster) : []), ...ofCluster] },
    ...hosts.map((host) => {
      const own = findings.filter(({ node }) => node === host.node).map(shown);
      const well = hostIsWell(host, familiesOf(cluster));
      return { name: `node ${plainLine(host.node)}`, findings: [...well, ...own, ...notLooked(host)] };
    }),
  ];
}

function shown({ level, code, what, evidence, why, fix }: NodeFinding): Finding {
  return { level, code, what, evidence, why, fix };
}

function clusterIsWell({ nodes, pools, blocks, pods }: WholeCluster): Finding[] {
  return [
    passed(
      `${nodes.length} nodes with addresses of their own, ${pools.length} pools, ${blocks.length} blocks, ${pods.length} pods`,
    ),
  ];
}

function hostIsWell({ probes, lookups, bird, bird6, sysctls, cni }: WholeHost, families: readonly Family[]): Finding[] {
  const answered = (kinds: readonly string[]) => {
    const some = probes.filter(({ kind }) => kinds.includes(kind));
    return `${some.filter(({ ok }) => ok).length} of ${some.length}`;
  };
  const sessions = [...(bird?.sessions ?? []), ...(bird6?.sessions ?? [])];
  const forwarded = families.filter((family) => sysctls[forwardingOf[family]] === "1");
  return [
    ...(forwarded.length === 0
      ? []
      : [passed(`forwards ${forwarded.map((family) => `IPv${family}`).join(" and ")} packets`)]),
    passed(`${lookups.length} addresses of nodes, pods and blocks looked up in the kernel's routes`),
    ...(bird === undefined
      ? []
      : [
          passed(
            `BGP: ${sessions.filter(({ state }) => state === "Established").length} of ${sessions.length} sessions established`,
          ),
        ]),
    ...(cni.file === undefined ? [] : [passed(`${cni.file} configures the plugin`)]),
    passed(
      `answered: ${answered(["node", "large"])} pings to nodes, ${answered(["pod", "arrival"])} to pods, ${answered(["pod to pod"])} between pods`,
    ),
  ];
}

function notLooked({ notLookedAt }: HostFacts): Finding[] {
  return notLookedAt.map(({ what, why, command }) =>
    passed(`not looked at: ${what} (${why})${command === undefined ? "" : `; run ${command}`}`),
  );
}
