// The cluster's facts, read from the datastore once. What may not be read is told as that, and the rest is looked at nevertheless.
import { isRecord, type JsonRecord, messageOf, parseJson, parseRange } from "../../../base/lib/index.ts";
import type { Account, Datastore } from "../../../calico/datastore/index.ts";
import { type ApiKind, openIpamObjects, openResources, type V3Object } from "../../../calico/resources/index.ts";
import type { AffinityFact, BlockFact, ClusterFacts, Encapsulation, NodeFact, PodFact, PoolFact } from "../facts.ts";

import { missingRights } from "./rights.ts";

const poolsAnnotation = "cni.projectcalico.org/ipv4pools";

export type ClusterOptions = {
  readonly signal: AbortSignal;
  /** Whose rights are looked at, where it is not whoever runs this. */
  readonly account?: Account | undefined;
};

export async function readCluster(datastore: Datastore, { signal, account }: ClusterOptions): Promise<ClusterFacts> {
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
    hasPods(datastore) ? attempt("Pod", () => readPods(datastore, signal)) : [],
    // Nobody needs it but this check: an account that may not read it lacks nothing.
    hasPods(datastore) ? serviceRanges(datastore, signal).catch(() => []) : [],
  ]);
  unreadable.push(...(await missingRights(datastore, "node", { signal, account })));
  const [ready] = (information ?? []).map(({ spec }) => recordOf(spec).datastoreReady);
  const mesh = recordOf(bgp?.find(({ metadata }) => metadata.name === "default")?.spec).nodeToNodeMeshEnabled;
  return {
    datastoreReady: typeof ready === "boolean" ? ready : undefined,
    nodes: (nodes ?? []).map(nodeFact),
    pools: (pools ?? []).map(poolFact).filter(({ cidr }) => parseRange(cidr)?.family === 4),
    blocks: blocks.map(({ spec }) => blockFact(spec)).filter(({ cidr }) => parseRange(cidr)?.family === 4),
    affinities: affinities.map(({ spec }) => affinityFact(spec)).filter(({ cidr }) => parseRange(cidr)?.family === 4),
    pods,
    isMeshOn: mesh !== false,
    serviceRanges: services,
    unreadable,
  };
}

/** etcd has Calico's own objects only. */
function hasPods({ flavour }: Datastore): boolean {
  return flavour === "kubernetes";
}

function missingRule(error: unknown): string | undefined {
  for (let each = error; each instanceof Error; each = each.cause)
    if ("missingRule" in each && typeof each.missingRule === "string") return each.missingRule;
  return undefined;
}

function nodeFact({ metadata, spec }: V3Object): NodeFact {
  const { bgp, addresses, ipv4VXLANTunnelAddr: tunnelAddress } = recordOf(spec);
  const address = textOf(recordOf(bgp).ipv4Address);
  const internalAddresses = (Array.isArray(addresses) ? addresses : []).flatMap((each) => {
    const { type, address: text } = recordOf(each);
    return type === "InternalIP" && typeof text === "string" && parseRange(text)?.family === 4 ? [text] : [];
  });
  return {
    name: metadata.name ?? "",
    internalAddresses,
    ...(address === undefined ? {} : { address }),
    ...(typeof tunnelAddress === "string" && tunnelAddress !== "" ? { tunnelAddress } : {}),
  };
}

function poolFact({ metadata, spec }: V3Object): PoolFact {
  const { cidr, vxlanMode, ipipMode, disabled } = recordOf(spec);
  return {
    name: metadata.name ?? "",
    cidr: String(cidr),
    vxlan: modeOf(vxlanMode),
    ipip: modeOf(ipipMode),
    isDisabled: disabled === true,
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

async function readPods(datastore: Datastore, signal: AbortSignal): Promise<PodFact[]> {
  const pods: PodFact[] = [];
  for await (const { items } of datastore.list("Pod", { signal }))
    for (const { id, value } of items) {
      const { metadata, spec, status } = recordOf(value);
      const { nodeName, hostNetwork } = recordOf(spec);
      const { podIP, phase } = recordOf(status);
      if (typeof nodeName !== "string" || nodeName === "" || hostNetwork === true) continue;
      if (phase === "Succeeded" || phase === "Failed") continue;
      const address = typeof podIP === "string" && parseRange(podIP)?.family === 4 ? podIP : undefined;
      pods.push({
        ...id,
        node: nodeName,
        phase: String(phase ?? "Pending"),
        asksForPools: poolsAsked(recordOf(recordOf(metadata).annotations)[poolsAnnotation]),
        ...(address === undefined ? {} : { address }),
      });
    }
  return pods;
}

function poolsAsked(value: unknown): string[] {
  try {
    const read = typeof value === "string" ? parseJson(value) : undefined;
    return Array.isArray(read) ? read.map(String) : [];
  } catch {
    return []; // the plugin refuses the pod in its own words
  }
}

/** The range itself is the API server's secret; the first service of every cluster has its first address. */
async function serviceRanges(datastore: Datastore, signal: AbortSignal): Promise<string[]> {
  const object = await datastore.get("Service", { namespace: "default", name: "kubernetes" }, { signal });
  const address = recordOf(recordOf(object?.value).spec).clusterIP;
  return typeof address === "string" && parseRange(address)?.family === 4 ? [`${address}/32`] : [];
}

function recordOf(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
