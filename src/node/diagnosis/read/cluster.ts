// The cluster's facts, read from the datastore once. What may not be read is told as that, and the rest is looked at nevertheless.
import { type Family, isRecord, type JsonRecord, messageOf, parseJson } from "../../../base/lib/index.ts";
import type { Account, Datastore } from "../../../calico/datastore/index.ts";
import { type ApiKind, openIpamObjects, openResources, type V3Object } from "../../../calico/resources/index.ts";
import type { AffinityFact, BlockFact, Encapsulation, PoolFact } from "../facts.ts";
import { type ByFamily, familyOf, type WholeCluster, type WholeNode, type WholePod } from "../families.ts";
import { bare, canonical } from "../networks.ts";
import { missingRights } from "./rights.ts";

const poolsAnnotations = { 4: "cni.projectcalico.org/ipv4pools", 6: "cni.projectcalico.org/ipv6pools" } as const;

export type ClusterOptions = {
  readonly signal: AbortSignal;
  /** Whose rights are looked at, where it is not whoever runs this. */
  readonly account?: Account | undefined;
};

export async function readCluster(datastore: Datastore, { signal, account }: ClusterOptions): Promise<WholeCluster> {
  const resources = openResources(datastore);
  const ipam = openIpamObjects(datastore);
  const unreadable: { what: string; why: string; rule?: string }[] = [];
  const attempt = async <T>(what: string, read: () => Promise<readonly T[]>): Promise<readonly T[]> => {
    try {
      return await read();
    } catch (error) {
      signal.throwIfAborted();
      const rule = missingRule(error);
      unreadable.push({ what, why: messageOf(error), ...(rule === undefined ? {} : { rule }) });
      return [];
    }
  };
  const list = (kind: ApiKind) => attempt(kind, async () => (await resources.list(kind, { signal })).items);
  const [nodes, pools, information, bgp] = await Promise.all(
    (["Node", "IPPool", "ClusterInformation", "BGPConfiguration"] as const).map(list),
  );
  const [blocks, affinities, pods, services] = await Promise.all([
    attempt("IPAMBlock", async () => (await ipam.list("IPAMBlock", { signal })).items),
    attempt("BlockAffinity", async () => (await ipam.list("BlockAffinity", { signal })).items),
    hasPods(datastore)
      ? attempt("Pod", () => readPods(datastore, signal))
      : attempt("WorkloadEndpoint", async () =>
          (await resources.list("WorkloadEndpoint", { signal })).items.flatMap(endpointPod),
        ),
    // Nobody needs it but this check: an account that may not read it lacks nothing.
    hasPods(datastore) ? serviceRanges(datastore, signal).catch(() => []) : [],
  ]);
  unreadable.push(...(await missingRights(datastore, "node", { signal, account })));
  const [ready] = (information ?? []).map(({ spec }) => recordOf(spec).datastoreReady);
  const mesh = recordOf(bgp?.find(({ metadata }) => metadata.name === "default")?.spec).nodeToNodeMeshEnabled;
  return {
    datastoreReady: typeof ready === "boolean" ? ready : undefined,
    nodes: (nodes ?? []).map(nodeFact),
    pools: (pools ?? []).map(poolFact),
    blocks: blocks.map(({ spec }) => blockFact(spec)),
    affinities: affinities.map(({ spec }) => affinityFact(spec)),
    pods,
    isMeshOn: mesh !== false,
    serviceRanges: services,
    unreadable,
  };
}

/** etcd has Calico's own objects only: what the plugin wrote of a pod is all that is known of it. */
function hasPods({ flavour }: Datastore): boolean {
  return flavour === "kubernetes";
}

function missingRule(error: unknown): string | undefined {
  for (let each = error; each instanceof Error; each = each.cause)
    if ("missingRule" in each && typeof each.missingRule === "string") return each.missingRule;
  return undefined;
}

function nodeFact({ metadata, spec }: V3Object): WholeNode {
  const { bgp, addresses, ipv4VXLANTunnelAddr, ipv6VXLANTunnelAddr } = recordOf(spec);
  const internalAddresses = (Array.isArray(addresses) ? addresses : []).flatMap((each) => {
    const { type, address: text } = recordOf(each);
    return type === "InternalIP" && typeof text === "string" ? [canonical(text)] : [];
  });
  return {
    name: metadata.name ?? "",
    internalAddresses,
    addresses: byFamily(recordOf(bgp).ipv4Address, recordOf(bgp).ipv6Address),
    tunnelAddresses: byFamily(ipv4VXLANTunnelAddr, ipv6VXLANTunnelAddr),
  };
}

/** What stands in the place of a family counts where it is of that family. */
function byFamily(four: unknown, six: unknown): ByFamily<string> {
  const of = (value: unknown, family: Family) => {
    const text = typeof value === "string" ? canonical(value) : "";
    return familyOf(text) === family ? { [family]: text } : {};
  };
  return { ...of(four, 4), ...of(six, 6) };
}

function poolFact({ metadata, spec }: V3Object): PoolFact {
  const { cidr, vxlanMode, ipipMode, disabled, disableBGPExport } = recordOf(spec);
  return {
    name: metadata.name ?? "",
    cidr: String(cidr),
    vxlan: modeOf(vxlanMode),
    ipip: modeOf(ipipMode),
    isDisabled: disabled === true,
    ...(disableBGPExport === true ? { isUnannounced: true } : {}),
  };
}

function modeOf(value: unknown): Encapsulation {
  return value === "Always" || value === "CrossSubnet" ? value : "Never";
}

function blockFact(spec: JsonRecord): BlockFact {
  const { cidr, affinity, allocations, deleted } = spec;
  const node = typeof affinity === "string" && deleted !== true ? /^host:(.+)$/.exec(affinity)?.[1] : undefined;
  const inUse = Array.isArray(allocations)
    ? allocations.filter((each) => each !== null && each !== undefined).length
    : 0;
  return { cidr: String(cidr), inUse, ...(node === undefined ? {} : { node }) };
}

function affinityFact({ cidr, node, state }: JsonRecord): AffinityFact {
  return { cidr: String(cidr), node: String(node), state: String(state) };
}

async function readPods(datastore: Datastore, signal: AbortSignal): Promise<WholePod[]> {
  const pods: WholePod[] = [];
  for await (const { items } of datastore.list("Pod", { signal }))
    for (const { id, value } of items) {
      const { metadata, spec, status } = recordOf(value);
      const { nodeName, hostNetwork } = recordOf(spec);
      const { podIP, podIPs, phase } = recordOf(status);
      if (typeof nodeName !== "string" || nodeName === "" || hostNetwork === true) continue;
      if (phase === "Succeeded" || phase === "Failed") continue;
      const annotations = recordOf(recordOf(metadata).annotations);
      const all = [podIP, ...(Array.isArray(podIPs) ? podIPs.map((each) => recordOf(each).ip) : [])];
      pods.push({
        ...id,
        node: nodeName,
        phase: String(phase ?? "Pending"),
        asksForPools: {
          4: poolsAsked(annotations[poolsAnnotations[4]]),
          6: poolsAsked(annotations[poolsAnnotations[6]]),
        },
        addresses: byFamily(firstOf(all, 4), firstOf(all, 6)),
      });
    }
  return pods;
}

function endpointPod({ metadata, spec }: V3Object): WholePod[] {
  const { node, pod, workload, containerID, interfaceName, ipNetworks } = recordOf(spec);
  const [name] = [pod, workload, containerID].filter((each) => typeof each === "string" && each !== "");
  if (typeof node !== "string" || typeof name !== "string") return [];
  const all = (Array.isArray(ipNetworks) ? ipNetworks : []).map((each) => bare(String(each)));
  return [
    {
      namespace: metadata.namespace ?? "",
      name,
      node,
      phase: "Running",
      asksForPools: {},
      addresses: byFamily(firstOf(all, 4), firstOf(all, 6)),
      ...(typeof interfaceName === "string" ? { link: interfaceName } : {}),
    },
  ];
}

function firstOf(addresses: readonly unknown[], family: Family): unknown {
  return addresses.find((each) => typeof each === "string" && familyOf(each) === family);
}

function poolsAsked(value: unknown): string[] {
  try {
    const read = typeof value === "string" ? parseJson(value) : undefined;
    return Array.isArray(read) ? read.map(String) : [];
  } catch {
    return []; // the plugin refuses the pod in its own words
  }
}

/** The range itself may be the API server's secret: the addresses that services have got of it are no less in a pool's way. */
async function serviceRanges(datastore: Datastore, signal: AbortSignal): Promise<string[]> {
  const found = new Set<string>();
  for await (const { items } of datastore.list("Service", { signal }))
    for (const { value } of items) {
      const { clusterIP, clusterIPs } = recordOf(recordOf(value).spec);
      for (const address of [clusterIP, ...(Array.isArray(clusterIPs) ? clusterIPs : [])]) {
        const family = typeof address === "string" ? familyOf(address) : undefined;
        if (family !== undefined) found.add(`${address}/${family === 4 ? 32 : 128}`);
      }
    }
  return [...found];
}

function recordOf(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}
