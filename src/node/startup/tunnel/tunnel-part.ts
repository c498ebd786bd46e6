// The allocator as a part of the agent: looks again whenever a pool, or what of its own Node matters to tunnels, has changed. What fails is tried again
// after a pause; the addresses that the node has stay in use meanwhile.
import type { Environment } from "../../../base/config/index.ts";
import { Backoff, isRecord, messageOf, parseJson } from "../../../base/lib/index.ts";
import { openNetlink } from "../../../base/linux/kernel.ts";
import type { Part, PartWorld } from "../../part/index.ts";
import { readNodeSettings } from "../settings/read.ts";
import { untilAborted } from "../world.ts";
import { allocateTunnelAddresses } from "./allocate.ts";

const pauses = { capMs: 60_000, retryAfterCapMs: 60_000 };
const firstPauseMs = 500;

export function tunnelAddressPart(options: {
  readonly environment: Environment;
  readonly random?: () => number;
}): Part {
  return {
    name: "tunnel-addresses",
    async run(world, signal) {
      const { environment, random = Math.random } = options;
      if (usesPodCidr(environment)) {
        world.health.report({ ready: true, detail: "tunnels use the first address of the pod CIDR" });
        return await untilAborted(signal);
      }
      const { wireguardHostEncryption } = readNodeSettings(environment).values;
      const bell = new Bell();
      using _following = world.feed.follow("felix", watcher(world.node, bell));
      const backoff = new Backoff(random, pauses);
      const stop = () => bell.ring();
      signal.addEventListener("abort", stop, { once: true });
      for (let retryMs: number | undefined; ; ) {
        await bell.heard(retryMs, world, signal);
        if (signal.aborted) return;
        retryMs = await allocate(world, wireguardHostEncryption, signal).then(
          () => {
            backoff.reset();
            world.health.report({ ready: true });
            return undefined;
          },
          (error: unknown) => {
            signal.throwIfAborted();
            world.log.error("Tunnel addresses are as they were; trying again", { error });
            world.health.report({ ready: false, detail: messageOf(error) });
            return backoff.nextDelayMs(firstPauseMs);
          },
        );
      }
    },
  };
}

async function allocate(world: PartWorld, wireguardHostEncryption: boolean, signal: AbortSignal): Promise<void> {
  const { node, clock, log } = world;
  await allocateTunnelAddresses({
    node,
    datastore: await world.datastore(),
    wireguardHostEncryption,
    clock,
    log,
    signal,
    beforeTelling: (types) => untilDevicesAreThere(types, world, signal),
  });
}

const devices: ReadonlyMap<string, string> = new Map([
  ["vxlanTunnelAddress", "vxlan.calico"],
  ["vxlanV6TunnelAddress", "vxlan-v6.calico"],
]);
const deviceWait = { limitMs: 2_000, pauseMs: 20 };

/**
 * Who hears of our address sends to it at once, so the device is to be there first. The part that makes it hears of the pool when we do; where
 * another program makes it, and waits for the address, the wait ends.
 */
async function untilDevicesAreThere(
  types: readonly string[],
  { clock, log }: PartWorld,
  signal: AbortSignal,
): Promise<void> {
  const names = types.flatMap((type) => devices.get(type) ?? []);
  if (names.length === 0) return;
  try {
    await using netlink = openNetlink();
    const endMs = clock.monotonicMs() + deviceWait.limitMs;
    for (const name of names)
      while ((await netlink.link(name)) === undefined && clock.monotonicMs() < endMs)
        await clock.sleep(deviceWait.pauseMs, signal);
  } catch (error) {
    signal.throwIfAborted();
    log.debug("Devices of tunnels cannot be looked at", { reason: messageOf(error) });
  }
}

/** USE_POD_CIDR: addresses are the nodes' podCIDRs, and tunnels take the first of them. */
export function usesPodCidr(environment: Environment): boolean {
  return /^(?:1|t|true)$/i.test(environment.CALICO_USE_POD_CIDR || environment.USE_POD_CIDR || "");
}

/** Rings after the first whole state, and after each change that can matter. */
function watcher(node: string, bell: Bell): Parameters<PartWorld["feed"]["follow"]>[1] {
  const known = new Map<string, string>();
  const own = `/calico/resources/v3/projectcalico.org/nodes/${node}`;
  const isPool = (path: string) => path.startsWith("/calico/v1/ipam/") && path.includes("/pool/");
  let isChanged = true;
  return {
    set(path, value) {
      const counts = isPool(path) ? value : path === own ? ofNode(value) : undefined;
      if (counts === undefined || known.get(path) === counts) return;
      known.set(path, counts);
      isChanged = true;
    },
    delete(path) {
      if (known.delete(path)) isChanged = true;
    },
    settled({ inSync }) {
      if (!inSync || !isChanged) return;
      isChanged = false;
      bell.ring();
    },
  };
}

/** Of the whole Node, which its kubelet writes every few seconds. */
function ofNode(value: string): string {
  try {
    const parsed = parseJson(value);
    if (!isRecord(parsed)) return "";
    const { spec, status, metadata } = parsed;
    const { bgp, ipv4VXLANTunnelAddr, ipv6VXLANTunnelAddr, wireguard } = isRecord(spec) ? spec : {};
    const { wireguardPublicKey, wireguardPublicKeyV6 } = isRecord(status) ? status : {};
    const ipip = isRecord(bgp) ? bgp.ipv4IPIPTunnelAddr : undefined;
    const labels = isRecord(metadata) ? metadata.labels : undefined;
    const keys = [wireguardPublicKey, wireguardPublicKeyV6];
    return JSON.stringify([ipip, ipv4VXLANTunnelAddr, ipv6VXLANTunnelAddr, wireguard, keys, labels]);
  } catch (error) {
    return messageOf(error); // no JSON: the datastore is asked, and says it
  }
}

/** Rings that nobody heard are one. */
class Bell {
  #rang = Promise.withResolvers<void>();

  ring(): void {
    this.#rang.resolve();
  }

  /** Also after so long without a ring. */
  async heard(limitMs: number | undefined, { clock }: PartWorld, signal: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    const timer =
      limitMs === undefined
        ? []
        : [clock.sleep(limitMs, AbortSignal.any([signal, waiting.signal])).catch(() => undefined)]; // rung, or ended
    await Promise.race([this.#rang.promise, ...timer]);
    waiting.abort();
    this.#rang = Promise.withResolvers<void>();
    if (signal.aborted) this.ring();
  }
}
