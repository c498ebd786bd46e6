// `cattail node shutdown --clean`: what the agent has put into the kernel goes, step by step; a step that fails is said, and the others are done nevertheless.
import { existsSync } from "node:fs";
import type { Log } from "../../../base/lib/index.ts";
import { removeOwnTables } from "../../../node/dataplane/index.ts";
import { readRouteSettings, removeOwnRoutes } from "../../../node/routes/index.ts";
import { NodeLiveSettings, readLocalSources } from "../../../node/settings/index.ts";

export type CleanOptions = {
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Log;
};

/** Whether everything is gone. */
export async function removeTraces({ environment, log }: CleanOptions): Promise<boolean> {
  const settings = new NodeLiveSettings(readLocalSources({ environment }), { checks: { exists: existsSync }, log });
  const steps: readonly (readonly [string, () => Promise<void>])[] = [
    [
      "routes and tunnels",
      async () => {
        const { routes, devices, refusals } = await removeOwnRoutes(readRouteSettings(settings, "none"));
        log.info("Removed routes and tunnels", { routes, devices: devices.join(",") });
        if (refusals.length > 0) throw new Error(refusals.join("; "));
      },
    ],
    ["packet rules", () => removeOwnTables()],
  ];
  let isWhole = true;
  for (const [what, remove] of steps) {
    try {
      await remove();
    } catch (error) {
      isWhole = false;
      log.error(`What the agent left of ${what} cannot be removed`, { error });
    }
  }
  return isWhole;
}
