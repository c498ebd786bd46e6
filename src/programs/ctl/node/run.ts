// ctl node run: the original starts its node in a Docker container. Nobody installs Calico like that any more, and it is not done here.
import type { Run } from "../command.ts";
import { CtlError } from "../console.ts";

export const run: Run = async () => {
  throw new CtlError("node run is not supported: it starts calico/node in a Docker container", {
    cause: {
      next: "install the node as a DaemonSet (cattail manifests), or as a service of the host; see docs/guide",
    },
  });
};
