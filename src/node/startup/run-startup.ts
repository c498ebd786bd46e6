// Start-up, from nothing known to the name file that the CNI plugin waits for. Reading comes first, so that rights that are missing are all said before
// anything is written; then the steps write in the original's order, and what was written before a step that fails stays.
//
//   name ▸ Node (waits for the datastore) ▸ facts ▸ addresses ▸ rights ▸ affinities, Node ▸ folders ▸ pools ▸ configuration ▸ name file
import { access } from "node:fs/promises";
import { type Family, messageOf, parseCidr } from "../../base/lib/index.ts";
import { isResourceError, openResources } from "../../calico/resources/index.ts";
import { type HostInterface, readInterfaces } from "./addresses/interfaces.ts";
import { configNeeds, ensureDefaultConfig } from "./cluster/default-config.ts";
import { type ClusterFacts, internalAddresses, readFacts } from "./cluster/facts.ts";
import { patiently } from "./cluster/patience.ts";
import { type DefaultPool, defaultPools, poolText } from "./cluster/pools.ts";
import { missingRights, type Need } from "./cluster/rights.ts";
import { ensureFolders, writeNameFile } from "./folders.ts";
import { determineNodeName, kubernetesNameOf } from "./node-name.ts";
import { type FoundNode, type NodePlan, planNode, readNode, writeNode } from "./own-node.ts";
import { readNodeSettings } from "./settings/read.ts";
import { isStartupError, startupError } from "./startup-error.ts";
import type { StartupWorld, Step } from "./step.ts";
import { asKubernetes } from "./world.ts";

const patienceMs = 30_000;
const upgradeMs = 90_000;

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
  await demandRights(step, { found, facts, plan });
  await upgradeAffinities(step, facts);
  await writeNode(step, found, plan);
  await ensureFolders(read.values, log);
  await ensurePools(step, facts, interfaces);
  await ensureConfig(step, facts);
  await writeNameFile(read.values.nodeNameFile, node);
  log.info(`Using node name: ${node}`);
  return node;
}

async function readAll(step: Step, found: FoundNode): Promise<ClusterFacts> {
  const { read, resources, kubernetes, node, patience, datastore } = step;
  const kubernetesNode = kubernetesNameOf(node, read.values);
  const isSame = datastore.flavour === "kubernetes" && kubernetesNode === node;
  try {
    const facts = await readFacts({
      node,
      datastore,
      resources,
      kubernetes,
      kubernetesNode: isSame ? undefined : kubernetesNode,
      needsPools: !read.values.noDefaultPools,
      patience,
    });
    if (!isSame || found === undefined || found === "forbidden") return facts;
    return { ...facts, internalIps: internalAddresses(found.spec.addresses) };
  } catch (error) {
    if (isStartupError(error)) throw error;
    throw startupError("Unable to access datastore to query the cluster's configuration", {
      cause: error,
      next: "Check that the datastore runs and can be reached from this node",
    });
  }
}

/** Throws where one is missing without which start-up cannot go on; the others are said, and it goes on. */
async function demandRights(step: Step, of: { found: FoundNode; facts: ClusterFacts; plan: NodePlan }): Promise<void> {
  const { found, facts } = of;
  const { configured, change } = of.plan;
  const { kubernetes, datastore, patience, log, say } = step;
  if (kubernetes === undefined || datastore !== kubernetes) return;
  const isUnchecked = configured.is === "changed" && configured.isUnchecked;
  const missing = await patiently(
    (signal) =>
      missingRights(
        [
          ...(found === "forbidden" ? [{ kind: "Node", verb: "get" } as const] : []),
          ...(isUnchecked ? [{ kind: "Node", verb: "list" } as const] : []),
          ...(change === undefined ? [] : [{ kind: "Node", verb: "update", subresource: "status" } as const]),
          ...(hasOldAffinities(facts) ? [{ kind: "BlockAffinity", verb: "update" } as const] : []),
          ...poolNeeds(step, facts),
          ...facts.forbidden,
          ...configNeeds(facts, step.read.values.clusterType),
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
  throw startupError(`Rights are missing, nothing was written: ${names}`, {
    about: "rights",
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

function hasOldAffinities({ oldAffinities }: ClusterFacts): boolean {
  return oldAffinities.is === "found" && oldAffinities.value > 0;
}

async function upgradeAffinities({ datastore, clock, node, log, patience }: Step, facts: ClusterFacts): Promise<void> {
  log.info("Upgrading any IPAM affinities from older versions....", { node });
  if (!hasOldAffinities(facts)) return log.info("No affinities needed to be upgraded.");
  // Loaded here: most nodes have none.
  const { openIpam, openIpamAccess } = await import("../../calico/ipam-client/index.ts");
  const edge = { clock, random: Math.random };
  const ipam = openIpam(openIpamAccess(datastore, edge), edge);
  try {
    const ends = AbortSignal.timeout(upgradeMs);
    const count = await patiently(
      (signal) => ipam.upgradeHost(node, { signal: AbortSignal.any([signal, ends]) }),
      patience,
    );
    log.info(`Upgraded ${count} affinities.`);
  } catch (error) {
    throw startupError("Unable to upgrade host's IPAM resources.", {
      cause: error,
      next: "Grant list, get and update of blockaffinities, and look whether the datastore answers",
    });
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
    throw startupError(`Failed to create default IPv${family} IP pool: ${spec.cidr}`, {
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
    throw startupError("Unable to set global default configuration", {
      cause: error,
      next: `See what the datastore says (${messageOf(error)}), and start again`,
    });
  }
}
