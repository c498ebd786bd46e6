// What a node has of its own in the file system: Calico's folders, which several nodes on one machine would otherwise share. They lie in the
// lab's folder, where one can look at them, and are bound over the machine's, seen by the node alone. A folder that the machine does not
// have is made in a layer over its parent, which only the node sees, too.
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { CattailError } from "../../../base/lib/index.ts";
import type { Place } from "./place.ts";

/** Where it is on a node, and what it is called in the node's folder. */
export const nodeFolders = {
  "/var/lib/calico": "var-lib-calico",
  "/var/run/calico": "var-run-calico",
  "/var/log/calico": "var-log-calico",
  "/etc/calico": "etc-calico",
  "/etc/cni/net.d": "etc-cni-net.d",
  "/opt/cni/bin": "opt-cni-bin",
} as const;

export async function bindFolders(node: Place, folder: string): Promise<void> {
  await node.run("mount", ["--make-rprivate", "/"]);
  // Interfaces under /sys are those of whoever mounted it. Nothing of ours needs it, so where it is refused it stays as it is.
  await node.run("mount", ["-t", "sysfs", "sysfs", "/sys"], { alsoGood: [1, 32] });
  const layers = join(folder, "layers");
  mkdirSync(layers, { recursive: true, mode: 0o700 });
  let isLayered = false;
  for (const [target, name] of Object.entries(nodeFolders)) {
    const own = join(folder, name);
    mkdirSync(own, { recursive: true, mode: 0o755 });
    if (!existsSync(target)) {
      if (!isLayered) await node.run("mount", ["-t", "tmpfs", "-o", "mode=0700", "tmpfs", layers]);
      isLayered = true;
      await makeInLayer(node, target, layers);
    }
    await node.run("mount", ["--bind", own, target]);
  }
}

async function makeInLayer(node: Place, target: string, layers: string): Promise<void> {
  let parent = dirname(target);
  while (!existsSync(parent)) parent = dirname(parent);
  const layer = join(layers, parent.replaceAll("/", "_"));
  const { code } = await node.run("test", ["-d", layer], { alsoGood: [1] });
  if (code !== 0) {
    const [upper, work] = [join(layer, "upper"), join(layer, "work")];
    await node.run("mkdir", ["-p", upper, work]);
    const options = `lowerdir=${parent},upperdir=${upper},workdir=${work}`;
    const mounted = await node.run("mount", ["-t", "overlay", "overlay", "-o", options, parent], {
      alsoGood: [1, 32],
    });
    if (mounted.code !== 0) return makeOnMachine(target, mounted.stderr);
  }
  await node.run("mkdir", ["-p", target]);
}

/** An empty folder more on the machine, where there are no layers: a container whose own file system is one. */
function makeOnMachine(target: string, why: string): void {
  try {
    mkdirSync(target, { recursive: true });
  } catch (error) {
    throw new CattailError("LAB_NO_FOLDER", {
      problem: `${target} is not on this machine, and cannot be laid over it for the nodes alone (${why.trim()})`,
      next: `Make it once, as root: mkdir -p ${target}`,
      cause: error,
    });
  }
}
