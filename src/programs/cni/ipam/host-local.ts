// What `calico-ipam -upgrade` is asked before a node's agent starts, by an init container of Calico's manifests: does host-local still
// hold addresses of pods here? Nearly always it does not, and then there is nothing to do. Moving them is not built.
import { readdirSync } from "node:fs";
import { errnoOf } from "../../../base/linux/index.ts";

/** Where host-local keeps a file for each address, for the network of Calico's manifests. */
const addressFolder = "/var/lib/cni/networks/k8s-pod-network";

export type Answer = { readonly text: string; readonly exitCode: 0 | 1 };

export function upgradeFromHostLocal(folder = addressFolder): Answer {
  const held = addressesIn(folder);
  if (held.length === 0)
    return { text: `host-local holds no addresses in ${folder}: there is nothing to move`, exitCode: 0 };
  const shown = held.slice(0, 3).join(", ");
  return {
    text:
      `host-local holds addresses in ${folder} (${held.length}: ${shown}${held.length > 3 ? ", ..." : ""}), and cattail does not move them into ` +
      "Calico's IPAM. Run calico-ipam -upgrade of calico/cni once on this node, and use this program after that.",
    exitCode: 1,
  };
}

/** Beside the addresses lie a lock and the last address that each range gave. */
function addressesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name !== "lock" && !name.startsWith("last_reserved_ip"))
      .sort();
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}
