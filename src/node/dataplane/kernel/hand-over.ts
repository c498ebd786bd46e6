// Back to the original: its agent has started beside our rules, and ours go. Not before its own are there: in between nothing would be enforced.
import { CattailError } from "../../../base/lib/index.ts";
import { runProgram } from "../../../base/linux/index.ts";
import { tableName } from "../nft/names.ts";
import { Nft, type NftOptions } from "./nft.ts";
import { originalTables, removeOwnTables } from "./original.ts";

/** What enforces policy now, in words. Throws NODE_NOBODY_TAKES_OVER where nothing does. */
export async function handOver(options: NftOptions = {}): Promise<string> {
  using nft = new Nft(options);
  const tables = originalTables(nft);
  const chains = tables.length > 0 ? undefined : await backendWithChains(options.namespace);
  if (tables.length === 0 && chains === undefined)
    throw new CattailError("NODE_NOBODY_TAKES_OVER", {
      problem: `no rules of another agent are on this node (no table ip calico, no chains cali-*), so without table inet ${tableName} nothing would be enforced`,
      next: "Start calico/node first and wait until it is ready; or, for a node that leaves the cluster, cattail node shutdown --clean",
    });
  await removeOwnTables(options);
  return chains ?? tables.map(({ family, name }) => `table ${family} ${name}`).join(", ");
}

async function backendWithChains(namespace: string | undefined): Promise<string | undefined> {
  for (const program of ["iptables-nft-save", "iptables-legacy-save"]) {
    const saved = await runProgram(program, [], { namespace, maxOutputBytes: 64 << 20 }).catch(() => undefined); // not installed: none of it
    if (saved !== undefined && /^-A cali-/m.test(saved.stdout))
      return `chains cali-* of ${program.replace("-save", "")}`;
  }
  return undefined;
}
