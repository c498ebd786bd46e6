// Where a pod's network namespace is: that of some process which has the pod's address, and to which an interface of this host leads. No runtime has to
// be asked. The address alone would not do: beside the pods of this host there may be those of another cluster, in containers or a lab.
import { readdirSync, readlinkSync } from "node:fs";
import { type Netlink, openNamespace, openNetlink } from "../../../base/linux/kernel.ts";
import { bare } from "../networks.ts";

const mostNamespaces = 1_000;

/** Paths of network namespaces of this machine, by the addresses in them; without the one that `host` is in. */
export async function namespacesByAddress(host: Netlink): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const seen = new Set([readlinkSync("/proc/self/ns/net")]);
  const peers = new Set((await host.links()).map(({ peerNamespaceId }) => peerNamespaceId));
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name) || seen.size > mostNamespaces) continue;
    const path = `/proc/${name}/ns/net`;
    try {
      const identity = readlinkSync(path);
      if (seen.has(identity)) continue;
      seen.add(identity);
      using open = openNamespace(path);
      const id = await host.namespaceId(open);
      if (id === undefined || !peers.has(id)) continue;
      await using netlink = openNetlink({ namespace: path });
      for (const { address } of await netlink.addresses()) found.set(bare(address), path);
    } catch {
      // It has ended, or may not be looked into.
    }
  }
  return found;
}
