// What becomes of the Node's addresses, at start-up and each time the monitor looks: decided, compared with what all other nodes have, and made into
// a change of the Node. Who calls writes it.
import { isRecord, type JsonRecord, type Log } from "../../../base/lib/index.ts";
import type { V3Object } from "../../../calico/resources/index.ts";
import type { NodeSettings } from "../settings/table.ts";
import { addressesOf, type Conflict, conflictsWith, type OtherNode } from "./conflicts.ts";
import { decideAddresses, NotDetected } from "./decide.ts";
import type { DetectWorld } from "./detect.ts";

export type AddressWorld = DetectWorld & {
  readonly settings: NodeSettings;
  /** Undefined: we may not list nodes. */
  readonly otherNodes: () => Promise<readonly OtherNode[] | undefined>;
  /** Also where nothing has changed: at start-up, not each minute of thousands of nodes. */
  readonly checksAlways: boolean;
};

export type Configured =
  | { readonly is: "unchanged" }
  | { readonly is: "changed"; readonly change: ChangeNode; readonly isUnchecked: boolean }
  /** `clear`: what is taken off the Node before start-up ends. */
  | { readonly is: "failed"; readonly why: string; readonly clear: ChangeNode | undefined };

export type ChangeNode = (node: V3Object) => V3Object;

export async function configureAddresses(node: V3Object, world: AddressWorld): Promise<Configured> {
  const { settings, log } = world;
  if (settings.backend === "none") return { is: "unchanged" };
  if (bgpOf(node.spec) === undefined) log.info("Initialize BGP data");
  const old = addressesOf(node);
  let decided: Awaited<ReturnType<typeof decideAddresses>>;
  try {
    decided = await decideAddresses(
      {
        ipv4: { given: settings.ip, method: settings.method4 },
        ipv6: { given: settings.ip6, method: settings.method6 },
      },
      old,
      world,
    );
  } catch (error) {
    if (!(error instanceof NotDetected)) throw error;
    const why = `failed to configure IP addresses and subnets: ${error.message}`;
    const clear = clearing(old, settings, { ipv4: true, ipv6: true }, log);
    const { ipv4: decided } = error;
    if (decided === undefined || settings.ip === "autodetect") return { is: "failed", why, clear };
    const write: ChangeNode = (current) => withAddresses(current, { ipv4: decided });
    return { is: "failed", why, clear: clear === undefined ? write : (current) => clear(write(current)) };
  }
  const { ipv4, ipv6, interfaces } = decided;
  if (ipv4 === "" && ipv6 === "") {
    const why = "no IPv4 or IPv6 addresses configured or detected, required for Calico networking";
    return { is: "failed", why, clear: undefined };
  }
  const isChanged = said(old, decided, node.spec.interfaces, log);
  const own: OtherNode = { name: old.name, ipv4, ipv6 };
  const isChecked = !settings.disableConflictCheck && (isChanged || world.checksAlways);
  const conflicts = isChecked ? await conflictsOf(own, world) : [];
  const write: ChangeNode = (current) => withAddresses(current, { ipv4, ipv6, interfaces });
  if (conflicts !== undefined && conflicts.length > 0 && isChanged) {
    const family = conflicts.at(-1)?.family ?? 4;
    const why = `conflicting node detected: IPv${family} address conflict`;
    const inConflict = { ipv4: has(conflicts, 4), ipv6: has(conflicts, 6) };
    const clear = clearing(own, settings, inConflict, log);
    return { is: "failed", why, clear: clear === undefined ? undefined : (current) => clear(write(current)) };
  }
  return isChanged ? { is: "changed", change: write, isUnchecked: conflicts === undefined } : { is: "unchanged" };
}

/** Two nodes that have started with one address go on; it is said each time. */
async function conflictsOf(
  own: OtherNode,
  { otherNodes, log }: AddressWorld,
): Promise<readonly Conflict[] | undefined> {
  const others = await otherNodes();
  return others === undefined ? undefined : conflictsWith(own, others, log);
}

function has(conflicts: readonly Conflict[], wanted: 4 | 6): boolean {
  return conflicts.some(({ family }) => family === wanted);
}

function said(
  old: OtherNode,
  { ipv4, ipv6, interfaces }: Awaited<ReturnType<typeof decideAddresses>>,
  oldInterfaces: unknown,
  log: Log,
): boolean {
  if (ipv4 !== old.ipv4) {
    log.info("Node IPv4 changed, will check for conflicts");
    return true;
  }
  if (ipv6 !== old.ipv6) {
    log.info("Node IPv6 changed, will check for conflicts");
    return true;
  }
  if (JSON.stringify(interfaces) === JSON.stringify(inOneForm(oldInterfaces))) return false;
  log.info("Node interfaces changed");
  return true;
}

function inOneForm(interfaces: unknown): readonly unknown[] {
  if (!Array.isArray(interfaces)) return [];
  return interfaces
    .filter(isRecord)
    .map(({ name, addresses }) => (addresses === undefined ? { name } : { name, addresses }));
}

/** Of the families that are detected; undefined: of none, or there is nothing to take off. */
function clearing(
  { ipv4, ipv6 }: OtherNode,
  settings: NodeSettings,
  which: { readonly ipv4: boolean; readonly ipv6: boolean },
  log: Log,
): ChangeNode | undefined {
  const clear4 = settings.ip === "autodetect" && which.ipv4;
  const clear6 = settings.ip6 === "autodetect" && which.ipv6;
  if (clear4) log.info("Clearing out-of-date IPv4 address from this node", { IP: ipv4 });
  if (clear6) log.info("Clearing out-of-date IPv6 address from this node", { IP: ipv6 });
  if ((!clear4 || ipv4 === "") && (!clear6 || ipv6 === "")) return undefined;
  return (node) => withAddresses(node, { ...(clear4 ? { ipv4: "" } : {}), ...(clear6 ? { ipv6: "" } : {}) });
}

type NewAddresses = {
  readonly ipv4?: string;
  readonly ipv6?: string;
  readonly interfaces?: readonly { name: string; addresses?: string[] }[];
};

function withAddresses(node: V3Object, { ipv4, ipv6, interfaces }: NewAddresses): V3Object {
  const { interfaces: before, ...spec } = node.spec;
  const kept = interfaces ?? before;
  const rest = Array.isArray(kept) && kept.length === 0 ? {} : { interfaces: kept };
  const changed = {
    ...(ipv4 === undefined ? {} : { ipv4Address: ipv4 }),
    ...(ipv6 === undefined ? {} : { ipv6Address: ipv6 }),
  };
  return withBgp({ ...node, spec: { ...spec, ...rest } }, changed);
}

/** "" takes a field away; a BGP section without fields is none. */
export function withBgp(node: V3Object, changed: JsonRecord): V3Object {
  const { bgp: _, ...spec } = node.spec;
  const fields = Object.entries({ ...bgpOf(node.spec), ...changed }).filter(
    ([, value]) => value !== "" && value !== undefined,
  );
  return { ...node, spec: fields.length === 0 ? spec : { ...spec, bgp: Object.fromEntries(fields) } };
}

export function bgpOf(spec: JsonRecord): JsonRecord | undefined {
  return isRecord(spec.bgp) ? spec.bgp : undefined;
}
