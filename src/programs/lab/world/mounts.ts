// What a node has of its own in the file system: Calico's folders, which several nodes on one machine would otherwise share. They lie in the
// lab's folder, where one can look at them, and are bound over the machine's, seen by the node alone. A folder that the machine does not
// have is made in a layer over its parent, which only the node sees, too.
//
// A layer shows what was below it at the beginning: the kernel promises nothing of what changes there later. The lab's folder changes all the time,
// and may lie there (/run/cattail-lab, on a machine that has no /run/calico yet), so it is bound into the layer, and so is what is mounted there.
import { existsSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, relative } from "node:path";
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

/** `folder` is the node's own, `world` the folder of all of them. */
export async function bindFolders(node: Place, { folder, world }: { folder: string; world: string }): Promise<void> {
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
      await makeInLayer(node, target, { layers, world });
    }
    await node.run("mount", ["--bind", own, target]);
  }
}

async function makeInLayer(
  node: Place,
  target: string,
  { layers, world }: { layers: string; world: string },
): Promise<void> {
  let parent = dirname(target);
  while (!existsSync(parent)) parent = dirname(parent);
  parent = realpathSync(parent); // mounts are known by their real paths, and /var/run is most often a link
  const layer = join(layers, parent.replaceAll("/", "_"));
  const { code } = await node.run("test", ["-d", layer], { alsoGood: [1] });
  if (code !== 0) {
    const [upper, work, merged] = [join(layer, "upper"), join(layer, "work"), join(layer, "merged")];
    const live = [...mountsBelow(parent, node), ...[realpathSync(world)].filter((path) => isBelow(path, parent))];
    await node.run("mkdir", ["-p", upper, work, merged]);
    const options = `lowerdir=${parent},upperdir=${upper},workdir=${work}`;
    const mounted = await node.run("mount", ["-t", "overlay", "overlay", "-o", options, merged], {
      alsoGood: [1, 32],
    });
    if (mounted.code !== 0) return makeOnMachine(target, mounted.stderr);
    for (const path of live) await node.run("mount", ["--rbind", path, join(merged, relative(parent, path))]);
    await node.run("mount", ["--rbind", merged, parent]);
  }
  await node.run("mkdir", ["-p", target]);
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}

/** The topmost ones: what is mounted below them comes along. What another mount covers is not there for anybody. */
function mountsBelow(folder: string, { pid }: Place): string[] {
  const all = readFileSync(`/proc/${pid}/mountinfo`, "utf8")
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "")
    .map((path) => path.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))))
    .filter((path) => isBelow(path, folder) && existsSync(path));
  return [...new Set(all)].filter((path) => !all.some((other) => isBelow(path, other)));
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
