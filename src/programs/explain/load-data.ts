// Where the answer comes from: a datastore, read once, or a Typha, followed until it is in sync.
import { CattailError, isRecord, type JsonRecord, silentLog, systemClock } from "../../base/lib/index.ts";
import {
  type Datastore,
  type DatastoreOptions,
  type FollowReport,
  openDatastore,
  readFolder,
} from "../../calico/datastore/index.ts";
import { addPod, noSources, originIn, type Sources } from "../../calico/explain/index.ts";
import { builtInTiers, type Kind } from "../../calico/kinds/index.ts";
import { ModernPolicies, type PolicyKind, syncStatus } from "../../calico/model/index.ts";
import { describeVoids, PolicyData, protocolNumber } from "../../calico/policy/index.ts";
import { readRuleOrigins, runSyncers, type Syncers } from "../../calico/syncer/index.ts";
import { type FollowOptions, followBatches } from "../../typha/client/index.ts";

export type Loaded = {
  readonly data: PolicyData;
  /** What the reader should know about the data before he trusts an answer. */
  readonly notes: readonly string[];
  readonly sources: Sources;
};

export async function loadFromTypha(options: Omit<FollowOptions, "type">): Promise<Loaded> {
  const data = new PolicyData();
  const policies = new ModernPolicies();
  for await (const batch of followBatches({ ...options, type: "felix" })) {
    for (const update of batch) {
      if (update.is === "status" && update.status === syncStatus.inSync)
        return { data, notes: voidNotes(data), sources: noSources };
      if (update.is === "status") continue;
      const said = policies.read(update.path, update.is === "set" ? update.value : undefined);
      if (said !== undefined) data.set(said.path, said.value);
    }
  }
  throw notInSync("the server ended the connection before it had said everything");
}

export function notInSync(problem: string, cause?: unknown): CattailError {
  const next = "Run cattail doctor --server ADDRESS: it looks at the server";
  return new CattailError("EXPLAIN_NOT_IN_SYNC", { problem, next, cause });
}

export async function loadFromDatastore(options: DatastoreOptions, signal: AbortSignal): Promise<Loaded> {
  const datastore = await openDatastore(options, { clock: systemClock, log: silentLog });
  try {
    const { data, notes, originOf } = await readFelixData(datastore, signal);
    return { data, notes, sources: { ...noSources, originOf } };
  } finally {
    await datastore[Symbol.asyncDispose]();
  }
}

/** Leaves nothing behind in the folder. */
export async function loadFromFolder(path: string, signal: AbortSignal): Promise<Loaded> {
  const folder = await readFolder(path);
  const { data, notes: invalid, originOf } = await readFelixData(folder.datastore, signal);
  const broken = folder.problems.map(({ file, line, says }) => `${file}:${line}: ${says}; it is not looked at`);
  const notes = await addWhatFoldersLack(folder.datastore, data, signal);
  const fileOf: Sources["fileOf"] = ({ kind, namespace, name }) =>
    folder.fileOf(storedKinds[kind], { namespace, name });
  return { data, notes: [...broken, ...invalid, ...notes], sources: { fileOf, originOf } };
}

/** As often as an outage of a moment may be met: a server waits for its datastore, a person who asks does not. */
const mostFailures = 3;

type Read = Pick<Loaded, "data" | "notes"> & Pick<Sources, "originOf">;

async function readFelixData(datastore: Datastore, signal: AbortSignal): Promise<Read> {
  const data = new PolicyData();
  const policies = new Map<string, string>();
  const givingUp = new AbortController();
  const either = AbortSignal.any([signal, givingUp.signal]);
  const syncers = runSyncers({ datastore, clock: systemClock, log: silentLog, random: Math.random, signal: either });
  const behind = () => syncers.reports().filter(({ status }) => status !== syncStatus.inSync);
  const looking = setInterval(() => {
    const hopeless = behind().filter(
      ({ state, errors, listsCompleted }) => state === "forbidden" || (errors >= mostFailures && listsCompleted === 0),
    );
    if (hopeless.length > 0) givingUp.abort(notRead(hopeless));
  }, 100);
  try {
    for await (const { syncer, updates, status } of syncers) {
      if (syncer !== "felix") continue;
      for (const { path, value } of updates) {
        data.set(path, value);
        if (value !== undefined && data.policies.has(path)) policies.set(path, value);
      }
      if (status !== syncStatus.inSync) continue;
      const notes = [...notesOf(syncers.stats().listProblems(mostNotes + 1)), ...voidNotes(data)];
      return { data, notes, originOf: originIn(await readRuleOrigins(datastore, policies, signal)) };
    }
  } finally {
    clearInterval(looking);
  }
  throw givingUp.signal.aborted ? givingUp.signal.reason : notRead(behind());
}

const mostNotes = 20;

type ObjectProblem = ReturnType<ReturnType<Syncers["stats"]>["listProblems"]>[number];

/** An answer without a policy that is void on every node is right, and surprising. */
function notesOf(problems: readonly ObjectProblem[]): readonly string[] {
  const notes = problems
    .slice(0, mostNotes)
    .map(({ object, field, rule, effect }) =>
      [`${object}:`, ...(field === "" ? [] : [field]), `${rule}; ${effectWords[effect]}`].join(" "),
    );
  return problems.length > mostNotes ? [...notes, "more objects break rules"] : notes;
}

/** What only nodes look at: a server sends it on as it stands. */
function voidNotes({ voids }: PolicyData): readonly string[] {
  const notes = describeVoids(voids).map(({ object, why }) => `${object}: ${why}; ${effectWords.deleted}`);
  return notes.length > mostNotes ? [...notes.slice(0, mostNotes), "more objects cannot be understood"] : notes;
}

const effectWords: { readonly [Effect in ObjectProblem["effect"]]: string } = {
  deleted: "nodes take it as not there, and so does this answer",
  dropped: "nodes take that part as not there, and so does this answer",
  "sent-as-original": "this answer goes by what Calico makes of it",
};

function notRead(behind: readonly FollowReport[]): CattailError {
  const first = behind.find(({ lastError }) => lastError !== undefined);
  const why = first?.lastError?.message ?? "not everything was sent in time";
  const rule = first?.missingRule?.trimEnd();
  if (rule === undefined)
    return new CattailError("EXPLAIN_UNREADABLE", {
      problem: `the datastore cannot be read: ${why}`,
      next: "Check that its server runs, can be reached from here, and knows these credentials",
    });
  const kinds = behind.map(({ kind }) => kind).sort();
  return new CattailError("EXPLAIN_UNREADABLE", {
    problem: `${kinds.join(", ")} cannot be read: ${why}`,
    next: `Add this rule to a role of this account:\n${rule}`,
  });
}

/**
 * Manifests that people keep say nothing of addresses, and often nothing of namespaces and tiers. Each pod without an address
 * gets one, each namespace that only its objects name is taken as one without labels of its own, and the tiers that a server
 * makes are there.
 */
async function addWhatFoldersLack(
  datastore: Datastore,
  data: PolicyData,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const pods: { namespace: string; name: string; value: JsonRecord }[] = [];
  for await (const { items } of datastore.list("Pod", { signal }))
    for (const { id, value } of items) if (isRecord(value)) pods.push({ ...id, value });
  for (const { name, ...tier } of builtInTiers)
    if (!data.tiers.has(name)) data.set(`/calico/v1/policy/tier/${name}/metadata`, JSON.stringify(tier));
  const policies = [...data.policies.values()];
  const missing = new Set<string>();
  if (!data.profiles.has("kns.default")) addNamespace("default", data);
  for (const { namespace } of [...pods, ...policies])
    if (namespace !== "" && !data.profiles.has(`kns.${namespace}`)) {
      missing.add(namespace);
      addNamespace(namespace, data);
    }
  const known = new Set([...data.workloads.values()].map(({ workload }) => workload));
  const added = pods
    .filter(({ namespace, name }) => !known.has(`${namespace}/${name}`))
    .filter(({ value }) => !isFinished(value));
  for (const { namespace, name, value } of added) addPod({ namespace, name, ...podFacts(value) }, data);
  return [
    ...(missing.size === 0
      ? []
      : [`no file has the Namespace ${[...missing].sort().join(", ")}: taken as having no labels but its name`]),
    ...(added.length === 0
      ? []
      : [
          `${added.length} pods have no address yet, and are given one for the answer: rules about networks may say otherwise`,
        ]),
  ];
}

function addNamespace(namespace: string, data: PolicyData): void {
  const everything = JSON.stringify({ inbound_rules: [{ action: "allow" }], outbound_rules: [{ action: "allow" }] });
  data.set(`/calico/v1/policy/profile/kns.${namespace}/rules`, everything);
  const labels = { "pcns.projectcalico.org/name": namespace, "pcns.kubernetes.io/metadata.name": namespace };
  data.set(`/calico/v1/policy/profile/kns.${namespace}/labels`, JSON.stringify(labels));
}

function isFinished(pod: JsonRecord): boolean {
  const phase = isRecord(pod.status) ? pod.status.phase : undefined;
  return phase === "Succeeded" || phase === "Failed";
}

function podFacts(pod: JsonRecord) {
  const metadata = isRecord(pod.metadata) ? pod.metadata : {};
  const spec = isRecord(pod.spec) ? pod.spec : {};
  const labels = isRecord(metadata.labels) ? metadata.labels : {};
  const account = typeof spec.serviceAccountName === "string" ? spec.serviceAccountName : "default";
  const containers = Array.isArray(spec.containers) ? spec.containers : [];
  const ports = containers.flatMap((container) =>
    isRecord(container) && Array.isArray(container.ports) ? container.ports : [],
  );
  return {
    labels: Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)])),
    account,
    ports: ports.flatMap((port: unknown) => {
      if (!isRecord(port) || typeof port.name !== "string" || typeof port.containerPort !== "number") return [];
      const protocol = protocolNumber(port.protocol ?? "tcp");
      return protocol === undefined ? [] : [{ name: port.name, protocol, port: port.containerPort }];
    }),
  };
}

const storedKinds: { readonly [K in PolicyKind]: Kind } = {
  NetworkPolicy: "NetworkPolicy",
  GlobalNetworkPolicy: "GlobalNetworkPolicy",
  StagedNetworkPolicy: "StagedNetworkPolicy",
  StagedGlobalNetworkPolicy: "StagedGlobalNetworkPolicy",
  StagedKubernetesNetworkPolicy: "StagedKubernetesNetworkPolicy",
  KubernetesNetworkPolicy: "KubernetesNetworkPolicy",
  KubernetesClusterNetworkPolicy: "ClusterNetworkPolicy",
};
