// The public CNI plugins that others use, from their Go module: peers of ours in tests, and the floor in bench/cni.
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { goPeer } from "./go.ts";

const module = "github.com/containernetworking/plugins/plugins";
const places = {
  ptp: "main/ptp",
  "host-local": "ipam/host-local",
  portmap: "meta/portmap",
  tuning: "meta/tuning",
} as const;

/** Copies them into the folder under their names. Why they cannot be had; undefined: they are there. */
export async function addPublicPlugins(
  folder: string,
  names: readonly (keyof typeof places)[],
): Promise<string | undefined> {
  mkdirSync(folder, { recursive: true });
  for (const name of names) {
    const { path, missing } = await goPeer("test/peers/cni-plugins", { package: `${module}/${places[name]}` });
    if (path === undefined) return missing;
    copyFileSync(path, join(folder, name));
  }
  return undefined;
}
