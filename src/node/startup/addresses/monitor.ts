// Looks again and again whether the node still has its address, as start-up did, and writes the Node when it has another. A change of links or addresses that
// the kernel tells of is looked at as soon as it settles. Nothing that goes wrong here ends anything: it is said, and looked at again.
import type { Environment } from "../../../base/config/index.ts";
import { type Clock, type Log, messageOf } from "../../../base/lib/index.ts";
import { isKernelReachable, openNotifications } from "../../../base/linux/kernel.ts";
import type { Datastore, KubernetesDatastore } from "../../../calico/datastore/index.ts";
import { openResources, type V3Object } from "../../../calico/resources/index.ts";
import type { Part } from "../../part/index.ts";
import { internalAddresses, internalIpsOf } from "../cluster/facts.ts";
import { kubernetesNameOf } from "../node-name.ts";
import { goDurationMs } from "../settings/duration.ts";
import { readNodeSettings } from "../settings/read.ts";
import { asKubernetes, untilAborted } from "../world.ts";
import { configureAddresses } from "./configure.ts";
import { reachFrom } from "./detect.ts";
import { type HostInterface, readInterfaces } from "./interfaces.ts";
import { listOtherNodes } from "./other-nodes.ts";

export type MonitorOptions = {
  readonly environment: Environment;
  readonly kubernetesBeside?: () => Promise<KubernetesDatastore | undefined>;
  /** The network namespace that is looked at; for tests. */
  readonly namespace?: string;
};

export type Look = {
  readonly node: string;
  readonly environment: Environment;
  readonly datastore: Datastore;
  readonly kubernetesBeside?: KubernetesDatastore | undefined;
  readonly interfaces: readonly HostInterface[];
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
};

const usualMs = 60_000;
const settleMs = 200;
const patienceMs = 10_000;

/** One look; what is wrong with the address, or undefined. */
export async function lookAtAddresses(look: Look): Promise<string | undefined> {
  const { node, datastore, clock, log, signal, kubernetesBeside } = look;
  const { values } = readNodeSettings(look.environment);
  const patience = { clock, log, signal, limitMs: patienceMs };
  const resources = openResources(datastore, { clock });
  const id = { namespace: "", name: node };
  const current = await resources.get("Node", id, { signal });
  const kubernetesNode = kubernetesNameOf(node, values);
  const kubernetes = asKubernetes(datastore) ?? kubernetesBeside;
  const isSame = datastore.flavour === "kubernetes" && kubernetesNode === node;
  const internalIps = isSame
    ? internalAddresses(current.spec.addresses)
    : await internalIpsOf(kubernetesNode, kubernetes, patience);
  const configured = await configureAddresses(current, {
    settings: values,
    interfaces: look.interfaces,
    internalIps,
    reach: reachFrom,
    otherNodes: () => listOtherNodes(resources, patience),
    checksAlways: false,
    log: quietly(log),
  });
  const change =
    configured.is === "changed" ? configured.change : configured.is === "failed" ? configured.clear : undefined;
  if (change !== undefined) {
    const apply = (before: V3Object | undefined) => (before === undefined ? ("nothing" as const) : change(before));
    await resources.edit("Node", id, apply, { signal });
    log.info("Updated node IP addresses");
  }
  return configured.is === "failed" ? configured.why : undefined;
}

/** What start-up says once would be said every minute. */
function quietly(log: Log): Log {
  return { ...log, info: log.debug };
}

export function addressMonitorPart(options: MonitorOptions): Part {
  return {
    name: "address-monitor",
    async run(world, signal) {
      const { environment, namespace } = options;
      const { values } = readNodeSettings(environment);
      if (values.backend === "none") {
        world.health.report({ ready: true, detail: "Calico does not manage networking on this node" });
        return await untilAborted(signal);
      }
      const intervalMs = goDurationMs(values.pollInterval);
      if (intervalMs === undefined)
        world.log.error(`error parsing node IP auto-detect polling interval ${values.pollInterval}`);
      const changes = isKernelReachable()
        ? openNotifications(["link", "address"], { signal, ...(namespace === undefined ? {} : { namespace }) })
        : undefined;
      await using _open = changes;
      const heard = changes === undefined ? undefined : new Heard(changes);
      let last: string | undefined;
      while (!signal.aborted) {
        try {
          const interfaces = await readInterfaces(namespace === undefined ? {} : { namespace });
          const datastore = await world.datastore();
          const kubernetesBeside = await options.kubernetesBeside?.();
          last = await lookAtAddresses({ ...world, environment, datastore, kubernetesBeside, interfaces, signal });
          if (last !== undefined) world.log.warn("The node's address cannot be kept up to date", { reason: last });
        } catch (error) {
          if (signal.aborted) return;
          last = messageOf(error);
          world.log.error("Unable to look at the node's addresses; trying again", { error });
        }
        // It counts for nobody's readiness: the address in use stays in use.
        world.health.report({ ready: true, ...(last === undefined ? {} : { detail: last }) });
        await pause(positive(intervalMs), heard, world.clock, signal);
      }
    },
  };
}

function positive(intervalMs: number | undefined): number {
  return intervalMs === undefined || intervalMs <= 0 ? usualMs : intervalMs;
}

/** Until the next look is due, or the kernel has told of a change and then been quiet for a moment. */
async function pause(intervalMs: number, heard: Heard | undefined, clock: Clock, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const both = AbortSignal.any([signal, over.signal]);
  const due = clock.sleep(intervalMs, both).catch(() => undefined); // aborted: the pause is over
  if (heard === undefined) return await due;
  await Promise.race([due, heard.next()]);
  over.abort();
  if (!signal.aborted) await clock.sleep(settleMs, signal).catch(() => undefined);
  heard.forget();
}

/** Whether the kernel has told of anything since one last looked. */
class Heard {
  #told = Promise.withResolvers<void>();

  constructor(changes: AsyncIterable<unknown>) {
    void this.#listen(changes).catch(() => this.#told.resolve()); // then the interval is left
  }

  next(): Promise<void> {
    return this.#told.promise;
  }

  forget(): void {
    this.#told = Promise.withResolvers<void>();
  }

  async #listen(changes: AsyncIterable<unknown>): Promise<void> {
    for await (const _ of changes) this.#told.resolve();
  }
}
