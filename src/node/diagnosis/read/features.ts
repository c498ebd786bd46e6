// What a node needs of its kernel and machine: nftables for policies; VXLAN where a pool has it.
import { messageOf } from "../../../base/lib/index.ts";
import { runProgram } from "../../../base/linux/index.ts";
import type { HostFacts } from "../facts.ts";
import type { WholeCluster } from "../families.ts";

export async function readFeatures(
  { pools }: WholeCluster,
  links: readonly { readonly kind: string | undefined }[],
): Promise<HostFacts["features"]> {
  const nftables = await runs("nft", ["list", "tables"], "nftables", "install nftables, and modprobe nf_tables");
  const isTunnelled = pools.some(({ vxlan, isDisabled }) => vxlan !== "Never" && !isDisabled);
  // A device that is there is proof; where there is none, the module can be asked for without making one.
  if (!isTunnelled || links.some(({ kind }) => kind === "vxlan")) return [nftables];
  const vxlan = await runs("modprobe", ["--dry-run", "--first-time", "vxlan"], "VXLAN", "modprobe vxlan");
  // Built in, or no modules at all: then only a device could tell.
  return /not found/i.test(vxlan.says) ? [nftables, vxlan] : [nftables];
}

async function runs(
  program: string,
  args: readonly string[],
  name: string,
  next: string,
): Promise<HostFacts["features"][number]> {
  try {
    await runProgram(program, args);
    return { name, isThere: true, says: "" };
  } catch (error) {
    return { name, isThere: false, says: `${messageOf(error)}; ${next}` };
  }
}
