// The namespace of a pod, which a runtime names by a path.
import { statfsSync } from "node:fs";
import { messageOf } from "../../../base/lib/index.ts";
import { openNamespace } from "../../../base/linux/kernel.ts";
import { EndpointError } from "../endpoint-error.ts";

/** Of namespaces that are mounted at a path, and of those of processes on an old kernel. */
const namespaceFilesystems = [0x6e736673, 0x9fa0];

/** Throws EndpointError for a path that leads to none. */
export function openPodNamespace(path: string): ReturnType<typeof openNamespace> {
  const type = typeOf(path);
  if (!namespaceFilesystems.includes(type)) {
    throw new EndpointError(`unknown FS magic on ${JSON.stringify(path)}: ${type.toString(16)}`, {
      next: "CNI_NETNS has to be the path of a network namespace",
    });
  }
  try {
    return openNamespace(path);
  } catch (error) {
    throw new EndpointError(messageOf(error), { cause: error });
  }
}

function typeOf(path: string): number {
  try {
    return statfsSync(path).type;
  } catch (error) {
    throw new EndpointError(`failed to Statfs ${JSON.stringify(path)}: no such file or directory`, { cause: error });
  }
}
