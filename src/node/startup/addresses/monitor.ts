// Looks again and again whether the node still has its address, as start-up did, and writes the Node when it has another. A change of links or addresses that
// the kernel tells of is looked at as soon as it settles. Nothing that goes wrong here ends anything: it is said, and looked at again.
import type { Environment } from "../../../base/config/index.ts";
import { type Clock, type Log, messageOf } from "../../../base/lib/index.ts";
import { isKernelReachable, openNotifications } from "../../../base/linux/kernel.ts";
import type { Datastore, KubernetesDatastore } from "../../../calico/datastore/index.ts";
import { openResources, type V3Object } from "../../../calico/resources/index.ts";
import type { Part, PartWorld } from "../../part/index.ts";
import { internalAddresses, internalIpsOf } from "../cluster/facts.ts";
import { kubernetesNameOf } from "../node-name.ts";
import { goDurationMs } from "../settings/duration.ts";
import { readNodeSettings } from "../settings/read.ts";
import { asKubernetes, untilAborted } from "../world.ts";
import { configureAddresses } from "./configure.ts";
import { reachFrom } from "./detect.ts";
import { type HostInterface, named, readInterfaces } from "./interfaces.ts";
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
  const { debug, warn, error } = log;
  return { debug, info: debug, warn, error };
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
      const heard = changes === undefined ? undefined : new Heard(changes, world.log);
      const look = new Looks(options, world, signal);
      while (!signal.aborted) {
        await look.now();
        await restUntilChange(
          { intervalMs: positive(intervalMs), heard, isChanged: () => look.isChanged() },
          world,
          signal,
        );
      }
    },
  };
}

/** One look after the other: what each found wrong is said, and none ends the part. */
class Looks {
  readonly #options: MonitorOptions;
  readonly #world: PartWorld;
  readonly #signal: AbortSignal;
  #seen = "";

  constructor(options: MonitorOptions, world: PartWorld, signal: AbortSignal) {
    this.#options = options;
    this.#world = world;
    this.#signal = signal;
  }

  async now(): Promise<void> {
    const { log, health } = this.#world;
    const detail = await this.#look().catch((error: unknown) => {
      if (!this.#signal.aborted) log.error("Unable to look at the node's addresses; trying again", { error });
      return messageOf(error);
    });
    // It counts for nobody's readiness: the address in use stays in use.
    health.report({ ready: true, ...(detail === undefined ? {} : { detail }) });
  }

  /** Whether an interface that could be the node's is another than at the last look: those of pods come and go all the time. */
  async isChanged(): Promise<boolean> {
    try {
      return (await this.#interfaces()).signature !== this.#seen;
    } catch (error) {
      this.#world.log.warn("Unable to list interfaces", { error });
      return true; // which the look says again
    }
  }

  async #look(): Promise<string | undefined> {
    const { environment, kubernetesBeside: beside } = this.#options;
    const { interfaces, signature } = await this.#interfaces();
    this.#seen = signature;
    const datastore = await this.#world.datastore();
    const kubernetesBeside = await beside?.().catch((error: unknown) => {
      // As at start-up: what does not ask Kubernetes finds the address without it.
      this.#world.log.debug("What the environment says of Kubernetes cannot be used", { error });
      return undefined;
    });
    const signal = this.#signal;
    const wrong = await lookAtAddresses({
      ...this.#world,
      environment,
      datastore,
      kubernetesBeside,
      interfaces,
      signal,
    });
    if (wrong !== undefined) this.#world.log.warn("The node's address cannot be kept up to date", { reason: wrong });
    return wrong;
  }

  async #interfaces(): Promise<{ interfaces: readonly HostInterface[]; signature: string }> {
    const { namespace } = this.#options;
    const interfaces = await readInterfaces(namespace === undefined ? {} : { namespace });
    return { interfaces, signature: JSON.stringify(named(interfaces, { exclude: ["^cali", "^veth"] })) };
  }
}

function positive(intervalMs: number | undefined): number {
  return intervalMs === undefined || intervalMs <= 0 ? usualMs : intervalMs;
}

type Rest = {
  readonly intervalMs: number;
  readonly heard: Heard | undefined;
  readonly isChanged: () => Promise<boolean>;
};

/** Until the next look is due, or the kernel has told of a change that matters and then been quiet for a moment. */
async function restUntilChange(
  { intervalMs, heard, isChanged }: Rest,
  world: PartWorld,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = world;
  const over = new AbortController();
  const due = clock.sleep(intervalMs, AbortSignal.any([signal, over.signal])).then(
    () => "due" as const,
    () => "due" as const, // aborted: the rest is over
  );
  if (heard === undefined) return void (await due);
  for (;;) {
    const why = await Promise.race([due, heard.next()]);
    if (why === "due" || signal.aborted) break;
    await clock.sleep(settleMs, signal).catch(() => undefined); // ended by the signal
    heard.forget();
    if (signal.aborted || (await isChanged())) break;
  }
  over.abort();
}

/** Whether the kernel has told of anything since one last looked. */
class Heard {
  #told = Promise.withResolvers<"told">();

  constructor(changes: AsyncIterable<unknown>, log: Log) {
    void this.#listen(changes).catch((error: unknown) =>
      log.warn("The kernel tells of no more changes; addresses are looked at by the clock alone", { error }),
    );
  }

  next(): Promise<"told"> {
    return this.#told.promise;
  }

  forget(): void {
    this.#told = Promise.withResolvers<"told">();
  }

  async #listen(changes: AsyncIterable<unknown>): Promise<void> {
    for await (const _ of changes) this.#told.resolve("told");
  }
}
