// Kernels up to 5.7 spoil the checksums of translated packets in a tunnel when the card is to compute them: there it is switched off.
import { release } from "node:os";
import { type Log, messageOf } from "../../../base/lib/index.ts";
import { runProgram } from "../../../base/linux/index.ts";

export function spoilsChecksums(kernelRelease: string): boolean {
  const [, major, minor, patch = "0"] = /^(\d+)\.(\d+)(?:\.(\d+))?/.exec(kernelRelease) ?? [];
  if (major === undefined) return false;
  const version = Number(major) * 1_000_000 + Number(minor) * 1_000 + Number(patch);
  return version <= 5_007_000;
}

export async function switchChecksumsOff(
  device: string,
  options: { namespace: string | undefined; log: Log },
): Promise<void> {
  if (!spoilsChecksums(release())) return;
  try {
    await runProgram("ethtool", ["-K", device, "tx", "off"], { namespace: options.namespace });
  } catch (error) {
    options.log.warn(
      "Checksums of the tunnel are left to the card, which this kernel does wrong for translated packets",
      {
        device,
        reason: messageOf(error),
        next: `run ethtool -K ${device} tx off`,
      },
    );
  }
}
