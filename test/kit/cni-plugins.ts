// A folder as /opt/cni/bin is: calico and calico-ipam, links to this checkout.
import { mkdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";

export function linkedPlugins(folder: string): string {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  for (const name of ["calico", "calico-ipam"]) symlinkSync(resolve("bin/cattail"), join(bin, name));
  return bin;
}
