// Where a pod's network namespace is: that of some process which has the pod's address. No runtime has to be asked.
import { readdirSync, readlinkSync } from "node:fs";
import { openNetlink } from "../../../base/linux/kernel.ts";
import { bare } from "../networks.ts";

const mostNamespaces = 1_000;

/** Paths of network namespaces of this machine, by the addresses in them; without the one we are in. */
export async function namespacesByAddress(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const seen = new Set([readlinkSync("/proc/self/ns/net")]);
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name) || seen.size > mostNamespaces) continue;
    const path = `/proc/${name}/ns/net`;
    try {
      const identity = readlinkSync(path);
      if (seen.has(identity)) continue;
      seen.add(identity);
      await using netlink = openNetlink({ namespace: path });
      for (const { address } of await netlink.addresses()) found.set(bare(address), path);
    } catch {
      // It has ended, or may not be looked into.
    }
  }
  return found;
}
