// Whether another node has this node's address. One line names both nodes and the address, whatever is done about it.
import { type Family, isRecord, type JsonRecord, type Log, parseAddress } from "../../../base/lib/index.ts";

export type OtherNode = { readonly name: string; readonly ipv4: string; readonly ipv6: string };
export type Conflict = { readonly family: Family; readonly address: string; readonly other: string };

/** The addresses of a Node as Kubernetes or etcd has it. */
export function addressesOf(node: {
  readonly metadata: { readonly name?: string | undefined };
  readonly spec: JsonRecord;
}): OtherNode {
  const bgp = isRecord(node.spec.bgp) ? node.spec.bgp : {};
  return { name: node.metadata.name ?? "", ipv4: text(bgp.ipv4Address), ipv6: text(bgp.ipv6Address) };
}

export function conflictsWith(own: OtherNode, others: readonly OtherNode[], log: Log): readonly Conflict[] {
  const found: Conflict[] = [];
  for (const family of [4, 6] as const) {
    const mine = numberOf(own, family);
    if (mine === undefined) continue;
    for (const other of others) {
      const theirs = numberOf(other, family);
      const [address = ""] = (family === 4 ? own.ipv4 : own.ipv6).split("/");
      if (other.name === own.name) {
        // Only what is stored is listed, so this is the address from before.
        if (theirs === undefined || theirs === mine) continue;
        const [original] = (family === 4 ? other.ipv4 : other.ipv6).split("/");
        log.warn(
          `IPv${family} address has changed. This could happen if there are multiple nodes with the same name.`,
          { node: own.name, original, updated: address },
        );
      } else if (theirs === mine) {
        log.warn(
          `Calico node '${other.name}' is already using the IPv${family} address ${address}. Node '${own.name}' has it, too`,
        );
        found.push({ family, address, other: other.name });
      }
    }
  }
  return found;
}

/** An address that cannot be read conflicts with nothing: it is its own node's trouble. */
function numberOf(node: OtherNode, family: Family): bigint | undefined {
  const [address = ""] = (family === 4 ? node.ipv4 : node.ipv6).split("/");
  const parsed = parseAddress(address);
  return parsed?.family === family ? parsed.address : undefined;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
