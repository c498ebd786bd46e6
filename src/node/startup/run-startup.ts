// Start-up, from nothing known to the name file that the CNI plugin waits for. Reading comes first, so that rights that are missing are all said before
// anything is written; then the steps write in the original's order, and what was written before a step that fails stays.
//
//   name ▸ Node (waits for the datastore) ▸ facts ▸ addresses ▸ rights ▸ affinities, Node ▸ folders ▸ pools ▸ configuration ▸ name file
import { access } from "node:fs/promises";
import type { Environment } from "../../base/config/index.ts";
import { type Clock, type Family, type JsonRecord, type Log, messageOf, parseCidr } from "../../base/lib/index.ts";
import type { Datastore, KubernetesDatastore } from "../../calico/datastore/index.ts";
import { openIpam, openIpamAccess } from "../../calico/ipam-client/index.ts";
import { isResourceError, openResources, type Resources, type V3Object } from "../../calico/resources/index.ts";
import { type ChangeNode, type Configured, configureAddresses, withBgp } from "./addresses/configure.ts";
import { reachFrom } from "./addresses/detect.ts";
import { type HostInterface, readInterfaces } from "./addresses/interfaces.ts";
import { listOtherNodes } from "./addresses/other-nodes.ts";
import { newAsNumber } from "./as-number.ts";
import { configNeeds, ensureDefaultConfig } from "./cluster/default-config.ts";
import { type ClusterFacts, internalAddresses, readFacts } from "./cluster/facts.ts";
import { isForbidden, isUnauthorized, type Patience, patiently } from "./cluster/patience.ts";
import { type DefaultPool, defaultPools, poolText } from "./cluster/pools.ts";
import { missingRights, type Need } from "./cluster/rights.ts";
import { ensureFolders, writeNameFile } from "./folders.ts";
import { determineNodeName, kubernetesNameOf } from "./node-name.ts";
import { type ReadNodeSettings, readNodeSettings } from "./settings/read.ts";
import { StartupError } from "./startup-error.ts";
import { asKubernetes } from "./world.ts";

export type StartupWorld = {
  readonly environment: Environment;
  readonly datastore: Datastore;
  /** The Kubernetes API beside a datastore that is none. */
  readonly kubernetesBeside?: KubernetesDatastore | undefined;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** For texts of several lines that a person is to copy. */
  readonly say: (text: string) => void;
  /** The host's, unless a test has others. */
  readonly interfaces?: () => Promise<readonly HostInterface[]>;
};

const patienceMs = 30_000;
const upgradeMs = 90_000;

type Step = StartupWorld & {
  readonly read: ReadNodeSettings;
  readonly resources: Resources;
  readonly patience: Patience;
  readonly node: string;
  /** The API server that answers questions about rights and Nodes. */
  readonly kubernetes: KubernetesDatastore | undefined;
};

/** The node's name. Throws StartupError, whose line the caller logs. */
export async function runStartup(world: StartupWorld): Promise<string> {
  const { log, clock, signal, datastore } = world;
  const read = readNodeSettings(world.environment);
  const node = await determineNodeName(read.values, log);
  log.info(`Starting node ${node} with version ${world.version}`);
  const limitMs = read.values.waitForDatastore ? Number.POSITIVE_INFINITY : patienceMs;
  const patience = { clock, log, signal, limitMs };
  const kubernetes = asKubernetes(datastore) ?? world.kubernetesBeside;
  const step: Step = { ...world, read, node, patience, kubernetes, resources: openResources(datastore, { clock }) };
  const found = await readNode(step);
  const interfaces = await (world.interfaces ?? readInterfaces)();
  const facts = await readAll(step, found);
  const plan = await planNode(step, { found, facts, interfaces });
  await demandRights(step, facts, plan);
  await Promise.all([upgradeAffinities(step), writeNode(step, found, plan)]);
  await ensureFolders(read.values, log);
  await ensurePools(step, facts, interfaces);
  await ensureConfig(step, facts);
  await writeNameFile(read.values.nodeNameFile, node);
  log.info(`Using node name: ${node}`);
  return node;
}

/** Undefined: there is none, and this datastore lets us make it. */
async function readNode({
  resources,
  node,
  datastore,
  read,
  patience,
  log,
}: Step): Promise<V3Object | "forbidden" | undefined> {
  const isWaiting = read.values.waitForDatastore;
  log.info(isWaiting ? "Checking datastore connection" : "Skipping datastore connection test");
  try {
    const found = await patiently(
      (signal) => resources.get("Node", { namespace: "", name: node }, { signal }),
      patience,
    );
    if (isWaiting) for (const line of ["Datastore connection verified", "Datastore is ready"]) log.info(line);
    return found;
  } catch (error) {
    if (isWaiting && !isUnauthorized(error)) log.info("Datastore connection verified");
    if (isForbidden(error)) return "forbidden"; // said with all other rights
    if (isUnauthorized(error)) {
      throw new StartupError("Connection to the datastore is unauthorized", {
        cause: error,
        next: "Check the token or certificate of the service account: the server does not know it",
      });
    }
    if (!isResourceError(error, "not-found")) {
      throw new StartupError("Unable to access datastore to query node configuration", {
        cause: error,
        next: "Check that the datastore runs and can be reached from this node; WAIT_FOR_DATASTORE=true waits for it",
      });
    }
    log.info("Building new node resource", { Name: node });
    if (datastore.flavour === "etcdv3" || datastore.holdsEveryKind === true) return undefined;
    throw new StartupError("Failed to read Node from datastore", {
      cause: new Error(`nodes "${node}" not found`),
      next: `Set NODENAME to the name of this machine's Node (kubectl get nodes), or let the kubelet register it`,
    });
  }
}

async function readAll(step: Step, found: V3Object | "forbidden" | undefined): Promise<ClusterFacts> {
  const { read, resources, kubernetes, node, patience, datastore } = step;
  const kubernetesNode = kubernetesNameOf(node, read.values);
  const isSame = datastore.flavour === "kubernetes" && kubernetesNode === node;
  try {
    const facts = await readFacts({
      resources,
      kubernetes,
      kubernetesNode: isSame ? undefined : kubernetesNode,
      needsPools: !read.values.noDefaultPools,
      patience,
    });
    if (!isSame || found === undefined || found === "forbidden") return facts;
    return { ...facts, internalIps: internalAddresses(found.spec.addresses) };
  } catch (error) {
    throw new StartupError("Unable to access datastore to query the cluster's configuration", {
      cause: error,
      next: "Check that the datastore runs and can be reached from this node",
    });
  }
}

type NodePlan = { readonly configured: Configured; readonly change: ChangeNode | undefined };

async function planNode(
  step: Step,
  of: { found: V3Object | "forbidden" | undefined; facts: ClusterFacts; interfaces: readonly HostInterface[] },
): Promise<NodePlan> {
  const { read, resources, patience, log, node } = step;
  const current = of.found === undefined || of.found === "forbidden" ? newNode(node) : of.found;
  if (of.found === "forbidden") return { configured: { is: "unchanged" }, change: undefined };
  const configured = await configureAddresses(current, {
    settings: read.values,
    interfaces: of.interfaces,
    internalIps: of.facts.internalIps,
    reach: reachFrom,
    otherNodes: () => listOtherNodes(resources, patience),
    checksAlways: true,
    log,
  });
  if (configured.is === "failed") return { configured, change: configured.clear };
  const asNumber = newAsNumber(current, read.values, log);
  const reference = newReference(current, step);
  if (configured.is === "unchanged" && asNumber === undefined && reference === undefined)
    return { configured, change: undefined };
  const change: ChangeNode = (before) => {
    const addressed = configured.is === "changed" ? configured.change(before) : before;
    const numbered = asNumber === undefined ? addressed : withBgp(addressed, { asNumber });
    return reference === undefined ? numbered : { ...numbered, spec: { ...numbered.spec, orchRefs: reference } };
  };
  return { configured, change };
}

/** Kubernetes has no place for it: there it follows from the Node itself. */
function newReference({ spec }: V3Object, { read, datastore }: Step): readonly JsonRecord[] | undefined {
  const { kubernetesNodeName: nodeName } = read.values;
  if (nodeName === "" || datastore.flavour === "kubernetes") return undefined;
  const wanted = [{ nodeName, orchestrator: "k8s" }];
  return JSON.stringify(spec.orchRefs) === JSON.stringify(wanted) ? undefined : wanted;
}

function newNode(name: string): V3Object {
  return { kind: "Node", apiVersion: "projectcalico.org/v3", metadata: { name }, spec: {} };
}

/** Throws where one is missing without which start-up cannot go on; the others are said, and it goes on. */
async function demandRights(step: Step, facts: ClusterFacts, { configured, change }: NodePlan): Promise<void> {
  const { kubernetes, datastore, patience, log, say } = step;
  if (kubernetes === undefined || datastore !== kubernetes) return;
  const isUnchecked = configured.is === "changed" && configured.isUnchecked;
  const missing = await patiently(
    (signal) =>
      missingRights(
        [
          { kind: "Node", verb: "get" },
          ...(isUnchecked ? [{ kind: "Node", verb: "list" } as const] : []),
          ...(change === undefined ? [] : [{ kind: "Node", verb: "update", subresource: "status" } as const]),
          ...(["list", "get"] as const).map((verb): Need => ({ kind: "BlockAffinity", verb })),
          ...poolNeeds(step, facts),
          ...facts.forbidden,
          ...configNeeds(facts),
        ],
        kubernetes,
        signal,
      ),
    patience,
  );
  if (missing === undefined) return;
  const isFatal = missing.needs.some(({ isDispensable }) => isDispensable !== true);
  const names = missing.needs.map(({ verb, kind }) => `${verb} ${kind}`).join(", ");
  say(`Rights that this account lacks, as rules of a ClusterRole:\n${missing.rules}`);
  if (!isFatal) return log.warn("Rights are missing that start-up can do without; it goes on", { missing: names });
  throw new StartupError(`Rights are missing, nothing was written: ${names}`, {
    code: "NODE_RIGHTS_MISSING",
    next: `Add these rules to the ClusterRole of calico-node:\n${missing.rules}`,
  });
}

function poolNeeds({ read }: Step, facts: ClusterFacts): readonly Need[] {
  const { noDefaultPools, pool4Cidr, pool6Cidr, ipv6Support } = read.values;
  if (noDefaultPools || facts.pools.is === "forbidden") return [];
  const present = familiesOf(facts);
  const isMissing =
    (pool4Cidr !== "none" && !present.has(4)) || (pool6Cidr !== "none" && ipv6Support && !present.has(6));
  return isMissing ? [{ kind: "IPPool", verb: "create" }] : [];
}

function familiesOf({ pools }: ClusterFacts): ReadonlySet<Family> {
  if (pools.is !== "found") return new Set();
  return new Set(pools.value.flatMap(({ spec }) => parseCidr(String(spec.cidr))?.ip.version ?? []));
}

async function upgradeAffinities({ datastore, clock, node, log, patience }: Step): Promise<void> {
  const edge = { clock, random: Math.random };
  const ipam = openIpam(openIpamAccess(datastore, edge), edge);
  log.info("Upgrading any IPAM affinities from older versions....", { node });
  try {
    const ends = AbortSignal.timeout(upgradeMs);
    const count = await patiently(
      (signal) => ipam.upgradeHost(node, { signal: AbortSignal.any([signal, ends]) }),
      patience,
    );
    log.info(count === 0 ? "No affinities needed to be upgraded." : `Upgraded ${count} affinities.`);
  } catch (error) {
    if (isResourceError(error, "no-such-kind")) return; // a cluster with another IPAM
    throw new StartupError("Unable to upgrade host's IPAM resources.", {
      cause: error,
      next: "Grant list, get and update of blockaffinities, and look whether the datastore answers",
    });
  }
}

async function writeNode(step: Step, found: V3Object | "forbidden" | undefined, plan: NodePlan): Promise<void> {
  const { configured, change } = plan;
  if (configured.is === "failed") {
    if (change !== undefined && found !== undefined) {
      await applyToNode(step, change).catch((error: unknown) =>
        step.log.warn("Failed to clear node addresses", { error }),
      );
    }
    throw new StartupError("Failed to configure IP addresses", {
      cause: new Error(configured.why),
      next: "Choose another IP_AUTODETECTION_METHOD, give the address in IP, or give the other node its own address",
    });
  }
  if (found !== undefined && change === undefined) return;
  try {
    if (found !== undefined && change !== undefined) await applyToNode(step, change);
    else await createNode(step, (change ?? ((node) => node))(newNode(step.node)));
  } catch (error) {
    throw new StartupError("Unable to set node resource configuration", {
      cause: error,
      next: "Grant update of nodes/status, and look whether the datastore answers",
    });
  }
}

async function applyToNode({ resources, node, patience }: Step, change: ChangeNode): Promise<void> {
  const apply = (current: V3Object | undefined) => (current === undefined ? "nothing" : change(current));
  await patiently((signal) => resources.edit("Node", { namespace: "", name: node }, apply, { signal }), patience);
}

async function createNode(step: Step, node: V3Object): Promise<void> {
  try {
    await patiently((signal) => step.resources.create("Node", node, { signal }), step.patience);
  } catch (error) {
    if (!isResourceError(error, "exists")) throw error;
    await applyToNode(step, () => node); // an answer that got lost, or another who was faster
  }
}

async function ensurePools(step: Step, facts: ClusterFacts, interfaces: readonly HostInterface[]): Promise<void> {
  const { read, log } = step;
  const hasIpv6 = await access("/proc/sys/net/ipv6").then(
    () => true,
    () => false, // a kernel without IPv6
  );
  const present = familiesOf(facts);
  for (const pool of defaultPools({ read, kubeadm: facts.kubeadm, interfaces, present, hasIpv6, log })) {
    await createPool(step, pool);
  }
}

async function createPool({ resources, patience, log }: Step, pool: DefaultPool): Promise<void> {
  const { family, name, spec } = pool;
  log.info(`Ensure default IPv${family} pool is created. ${poolText(pool)}`);
  try {
    await patiently((signal) => resources.create("IPPool", { metadata: { name }, spec }, { signal }), patience);
    log.info(
      `Created default IPv${family} pool (${spec.cidr}) with NAT outgoing ${spec.natOutgoing}. ${poolText(pool)}`,
    );
  } catch (error) {
    if (isResourceError(error, "exists")) return; // another node was faster
    throw new StartupError(`Failed to create default IPv${family} IP pool: ${spec.cidr}`, {
      cause: error,
      next: `Set CALICO_IPV${family}POOL_CIDR to a range that is free, or to none`,
    });
  }
}

async function ensureConfig(step: Step, facts: ClusterFacts): Promise<void> {
  const { datastore, resources, read, node, patience, clock, log } = step;
  const { clusterType } = read.values;
  try {
    await ensureDefaultConfig({ datastore, resources, facts, clusterType, node, patience, clock, log });
  } catch (error) {
    throw new StartupError("Unable to set global default configuration", {
      cause: error,
      next: `See what the datastore says (${messageOf(error)}), and start again`,
    });
  }
}
