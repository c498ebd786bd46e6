// Which node this is: NODENAME, the name file, HOSTNAME, the machine's own name, in this order. The file is taken as it is; only the last two are
// put into small letters.
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import type { Log } from "../../base/lib/index.ts";
import { errnoOf } from "../../base/linux/files.ts";
import type { NodeSettings } from "./settings/table.ts";
import { startupError } from "./startup-error.ts";

export async function determineNodeName(
  { nodeName, nodeNameFile, hostName }: Pick<NodeSettings, "nodeName" | "nodeNameFile" | "hostName">,
  log: Log,
): Promise<string> {
  const found = await firstName();
  log.info(`Determined node name: ${found}`);
  return found;

  async function firstName(): Promise<string> {
    const given = nodeName.trim();
    if (given !== "") {
      log.info(`Using NODENAME environment for node name ${given}`);
      return given;
    }
    const stored = await contentOf(nodeNameFile);
    if (stored !== "") {
      log.info(`Using stored node name ${stored} from ${nodeNameFile}`);
      return stored;
    }
    const fromHost = hostName.trim().toLowerCase();
    if (fromHost !== "") {
      log.info(`Using HOSTNAME environment (lowercase) for node name ${fromHost}`);
      return fromHost;
    }
    log.warn(
      "Using auto-detected node name. It is recommended that an explicit value is supplied using the NODENAME environment variable.",
    );
    return hostname().trim().toLowerCase();
  }
}

/** The Kubernetes Node: the node's own name unless CALICO_K8S_NODE_REF says otherwise. */
export function kubernetesNameOf(node: string, { kubernetesNodeName }: NodeSettings): string {
  return kubernetesNodeName === "" ? node : kubernetesNodeName;
}

async function contentOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return "";
    throw startupError(`Failed to read ${file}`, {
      cause: error,
      next: "Check the file's rights, or set NODENAME",
    });
  }
}
