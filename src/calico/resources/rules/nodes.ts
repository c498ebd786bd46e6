// A node that goes takes along what is about it alone: its endpoints, its claims on blocks, its peers and settings. Only
// where nodes are objects of their own; Kubernetes' nodes are not ours to delete.
import { canonicalIp } from "../../../base/lib/index.ts";
import { isResourceError } from "../resource-error.ts";
import type { V3Object } from "../v3-object.ts";
import { releaseAffinities } from "./release-affinities.ts";
import type { DeleteContext, Rules } from "./rule.ts";

export const storedNodeRules: Rules = {
  beforeDelete: async (id, context) => {
    const { neighbours, ipam, revision, signal } = context;
    const isOnNode = ({ spec }: V3Object) => spec.node === id.name;
    const endpoints = (await neighbours.list("WorkloadEndpoint")).filter(isOnNode);
    const node = await neighbours.get("Node", id).catch((error: unknown) => {
      if (isResourceError(error, "not-found")) return undefined; // what it left behind goes nevertheless
      throw error;
    });
    const addresses = [...endpoints.flatMap(({ spec }) => listOf(spec.ipNetworks)), ...tunnelAddresses(node)];
    await ipam.releaseAddresses?.(addresses.flatMap(addressOf), { signal });
    for (const { metadata } of endpoints) {
      const endpoint = { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
      await deleted(context, "WorkloadEndpoint", endpoint);
    }
    if (ipam.releaseNode !== undefined) await ipam.releaseNode(id.name, { signal });
    else await releaseAffinities(neighbours, isOnNode);
    for (const kind of ["BGPPeer", "HostEndpoint"] as const) {
      for (const { metadata } of (await neighbours.list(kind)).filter(isOnNode)) {
        await deleted(context, kind, { namespace: "", name: metadata.name ?? "" });
      }
    }
    for (const kind of ["FelixConfiguration", "BGPConfiguration"] as const) {
      await deleted(context, kind, { namespace: "", name: `node.${id.name}` });
    }
    return revision;
  },
};

/** What is gone already is as good as deleted. */
async function deleted(
  { neighbours }: DeleteContext,
  kind: "WorkloadEndpoint" | "BGPPeer" | "HostEndpoint" | "FelixConfiguration" | "BGPConfiguration",
  id: { namespace: string; name: string },
): Promise<void> {
  try {
    await neighbours.delete(kind, id);
  } catch (error) {
    if (!isResourceError(error, "not-found", "unsupported")) throw error;
  }
}

function tunnelAddresses(node: V3Object | undefined): readonly unknown[] {
  const { bgp, ipv4VXLANTunnelAddr, wireguard } = (node?.spec ?? {}) as {
    bgp?: { ipv4IPIPTunnelAddr?: unknown };
    ipv4VXLANTunnelAddr?: unknown;
    wireguard?: { interfaceIPv4Address?: unknown };
  }; // canonical: read by its schema
  return [bgp?.ipv4IPIPTunnelAddr, ipv4VXLANTunnelAddr, wireguard?.interfaceIPv4Address];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function addressOf(text: unknown): string[] {
  const address = typeof text === "string" ? canonicalIp(text.replace(/\/\d+$/, "")) : undefined;
  return address === undefined ? [] : [address];
}
