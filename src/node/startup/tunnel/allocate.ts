// Gives the node the tunnel addresses that its pools ask for, and takes back those that none asks for any more; the Node is written once, at the end.
// Where that fails, what was assigned for it is released: an address that nobody knows of would be lost.
import { addressText, type Clock, type Log, parseRange } from "../../../base/lib/index.ts";
import type { Datastore } from "../../../calico/datastore/index.ts";
import { type Ipam, isIpamError, openIpam, openIpamAccess } from "../../../calico/ipam-client/index.ts";
import { isResourceError, openResources, type Resources, type V3Object } from "../../../calico/resources/index.ts";
import { isStartupError, startupError } from "../startup-error.ts";
import { decideTunnel, type Held, rangesFor, rangeTexts } from "./decide.ts";
import { type TunnelKind, tunnelKinds } from "./kinds.ts";

export type TunnelWorld = {
  readonly node: string;
  readonly datastore: Datastore;
  readonly wireguardHostEncryption: boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Called before others learn of new addresses, with their types. */
  readonly beforeTelling?: (types: readonly string[]) => Promise<void>;
};

type Work = TunnelWorld & { readonly ipam: Ipam; readonly resources: Resources };

/** Once. Throws StartupError. */
export async function allocateTunnelAddresses(world: TunnelWorld): Promise<void> {
  const { datastore, clock, node, signal } = world;
  const edge = { clock, random: Math.random };
  const resources = openResources(datastore, edge);
  const work: Work = { ...world, resources, ipam: openIpam(openIpamAccess(datastore, edge), edge) };
  const id = { namespace: "", name: node };
  const current = await said(`failed to fetch node resource '${node}'`, () => resources.get("Node", id, { signal }));
  const pools = await said("unable to query IP pool configuration", () => resources.list("IPPool", { signal }));
  const assigned: string[] = [];
  const changes: ((node: V3Object) => V3Object)[] = [];
  const given: string[] = [];
  try {
    for (const kind of tunnelKinds) {
      const ranges = kind.isWanted(current, world) ? rangesFor(kind, pools.items, current.metadata.labels ?? {}) : [];
      const address =
        ranges.length === 0
          ? await remove(kind, current, work)
          : await ensure(kind, { current, ranges, onAssigned: (handle) => assigned.push(handle) }, work);
      if (address === kind.addressOf(current)) continue;
      changes.push((before) => kind.withAddress(before, address));
      if (address !== "") given.push(kind.type);
    }
    if (changes.length === 0) return;
    if (given.length > 0) await world.beforeTelling?.(given);
    const change = (before: V3Object | undefined) =>
      before === undefined ? "nothing" : changes.reduce((node, apply) => apply(node), before);
    await resources.edit("Node", id, change, { signal });
  } catch (error) {
    for (const handle of assigned) await giveBack(handle, work);
    throw failed("failed to reconcile tunnel address", error);
  }
}

/** The address that the Node shall have. */
async function ensure(
  kind: TunnelKind,
  of: { current: V3Object; ranges: ReturnType<typeof rangesFor>; onAssigned: (handle: string) => void },
  work: Work,
): Promise<string> {
  const { ipam, node, log, signal } = work;
  const { type } = kind;
  const address = kind.addressOf(of.current);
  const held = await heldBy(address, work);
  const step = decideTunnel(kind, { node, address, held, ranges: of.ranges });
  if (step.do === "keep") {
    log.info("Current address is still valid, do nothing", { currentAddr: address, type });
    return address;
  }
  if (step.do === "adopt" && (await adopt(kind, address, work))) return address;
  const handle = `${kind.handlePrefix}${node}`;
  if (step.do === "assign") {
    log.info(step.why, address === "" ? { type } : { currentAddr: address, type });
    if (step.releasesFirst) {
      log.info("Release any old tunnel addresses", { IP: address, type });
      await ipam.releaseByHandle(handle, { signal });
    }
  }
  const wanted = { count: 1, pools: rangeTexts(of.ranges) };
  const { ipv4, ipv6 } = await ipam.autoAssign(
    {
      node,
      use: "Tunnel",
      handle,
      attributes: { node, type },
      ...(kind.family === 4 ? { ipv4: wanted } : { ipv6: wanted }),
    },
    { signal },
  );
  const [first] = [...ipv4.addresses, ...ipv6.addresses];
  if (first === undefined) throw new Error(`no address was assigned for ${type}`);
  of.onAssigned(handle);
  const given = addressText(first.address.family, first.address.first);
  log.info("Assigned tunnel address to node", { IP: given, type });
  return given;
}

async function heldBy(address: string, { ipam, signal }: Work): Promise<Held> {
  if (address === "") return { is: "not assigned" };
  if (parseRange(address) === undefined) throw new Error(`failed to parse the CIDR '${address}'`);
  const found = await ipam.getAssignmentAttributes(address, { signal });
  if (found.is !== "assigned") return { is: "not assigned" };
  const { handle_id: handle, secondary } = found.attribute;
  return { is: "assigned", handle: handle ?? undefined, attributes: secondary ?? {} };
}

/** Another may be faster; then a new one is assigned. */
async function adopt({ type, handlePrefix }: TunnelKind, address: string, work: Work): Promise<boolean> {
  const { ipam, node, log, signal } = work;
  const range = parseRange(address);
  if (range === undefined) return false;
  await ipam.releaseIPs([{ address: range }], { signal });
  try {
    const handle = `${handlePrefix}${node}`;
    await ipam.assignIP({ node, use: "Tunnel", handle, attributes: { node, type }, address }, { signal });
    log.info("Updated tunnel address with allocation attributes", { type });
    return true;
  } catch (error) {
    if (!isIpamError(error)) throw error;
    log.warn("Failed to correct missing attributes, will assign a new address", { type, error });
    return false;
  }
}

/** "" always: the Node shall have none. */
async function remove(kind: TunnelKind, current: V3Object, work: Work): Promise<""> {
  const { ipam, node, log, signal } = work;
  const handle = `${kind.handlePrefix}${node}`;
  const address = kind.addressOf(current);
  const released = await ipam.releaseByHandle(handle, { signal });
  const range = parseRange(address);
  if (released.length > 0 || range === undefined) return "";
  const held = await heldBy(address, work);
  if (held.is !== "assigned") return "";
  log.info("No IPs with handle, release exact IP", { handle, type: kind.type });
  if (held.handle === handle) await ipam.releaseIPs([{ address: range, handle }], { signal });
  else if (held.handle === undefined && Object.keys(held.attributes).length === 0)
    await ipam.releaseIPs([{ address: range }], { signal });
  else log.warn("IP address has been reused by something else", { IP: address, attributes: held.attributes });
  return "";
}

/** Our own time may be up. */
async function giveBack(handle: string, { ipam, log }: Work): Promise<void> {
  try {
    await ipam.releaseByHandle(handle, { signal: AbortSignal.timeout(10_000) });
  } catch (error) {
    log.error("Error releasing IP address on failure", { handle, error });
  }
}

async function said<T>(says: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw failed(says, error);
  }
}

function failed(says: string, cause: unknown): unknown {
  if (isStartupError(cause)) return cause;
  const isMissing = isResourceError(cause, "not-found");
  return startupError(says, {
    about: "tunnel",
    cause,
    next: isMissing
      ? "Run node startup first, with the same NODENAME"
      : "See that pools have free addresses, that this account may write blockaffinities, ipamblocks and ipamhandles, and that the datastore answers",
  });
}
