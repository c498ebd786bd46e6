// What is done before the node's daemons end: the time is written down first, because whoever stops us may not wait, and then the Kubernetes Node is
// marked as being without a network, for as long as we are let.
import { removeFile } from "../../base/linux/files.ts";
import type { CompleteWorld } from "./complete-startup.ts";
import { writeShutdownTime } from "./folders.ts";
import { markNetwork } from "./network-available.ts";
import { determineNodeName, kubernetesNameOf } from "./node-name.ts";
import { readNodeSettings } from "./settings/read.ts";

export async function shutDown(world: CompleteWorld): Promise<void> {
  const { environment, clock, log, signal } = world;
  const { values } = readNodeSettings(environment);
  await writeShutdownTime(values.shutdownTimeFile, { clock, log });
  const node = await determineNodeName(values, log);
  log.info(`Shutting down node ${node}`);
  if (values.backend === "none") return;
  const kubernetes = await world.kubernetes();
  if (kubernetes === undefined) return;
  await markNetwork("unavailable", { kubernetes, name: kubernetesNameOf(node, values), clock, log, signal });
}

/** The name file goes, so that no pod is started on a node that is being taken out of service. */
export async function forgetNode(world: Pick<CompleteWorld, "environment">): Promise<void> {
  const { values } = readNodeSettings(world.environment);
  await removeFile(values.nodeNameFile);
}
