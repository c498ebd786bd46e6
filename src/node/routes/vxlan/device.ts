// The VXLAN device as it should be, and what is to be done to make it so: nothing, an edit in place, or a new one. Pure.
import { type Family, holds, parseRange } from "../../../base/lib/index.ts";
import type { Address, KernelChange, Link, NewLink } from "../../../base/linux/kernel.ts";
import type { TunnelWanted } from "../calculation/tunnel.ts";

export const deviceNames: { readonly [family in Family]: string } = { 4: "vxlan.calico", 6: "vxlan-v6.calico" };

export type DeviceWanted = {
  readonly name: string;
  readonly id: number;
  readonly port: number;
  readonly local: string;
  readonly parent: number;
  readonly mac: string;
  readonly mtu: number;
};

export function deviceOf(
  tunnel: TunnelWanted,
  options: { readonly id: number; readonly port: number; readonly parent: number; readonly mtu: number },
): DeviceWanted {
  return { name: deviceNames[tunnel.family], local: tunnel.local, mac: tunnel.mac, ...options };
}

export type DevicePlan = {
  /** Why the one that is there must go: what it is cannot be changed. */
  readonly because: string | undefined;
  readonly changes: readonly KernelChange[];
};

export function planDevice(wanted: DeviceWanted, actual: Link | undefined): DevicePlan {
  if (actual === undefined) return { because: undefined, changes: [{ do: "create", link: newDevice(wanted) }] };
  const because = incompatibility(wanted, actual);
  if (because !== undefined) {
    const changes: KernelChange[] = [
      { do: "delete", link: actual.index },
      { do: "create", link: newDevice(wanted) },
    ];
    return { because, changes };
  }
  const { id, local, parent } = wanted;
  const hasMoved = actual.vxlan?.local !== local || actual.vxlan?.parent !== parent;
  const edit = {
    ...(actual.mtu === wanted.mtu ? {} : { mtu: wanted.mtu }),
    ...(actual.mac === wanted.mac ? {} : { mac: wanted.mac }),
    ...(actual.isUp ? {} : { up: true }),
    // In place: with the device all routes through it would go.
    ...(hasMoved ? { vxlan: { id, local, parent } } : {}),
  };
  return {
    because: undefined,
    changes: Object.keys(edit).length === 0 ? [] : [{ do: "edit", link: { link: actual.index, ...edit } }],
  };
}

function newDevice({ name, mac, mtu, id, port, local, parent }: DeviceWanted): NewLink {
  return { name, kind: "vxlan", mac, mtu, up: true, vxlan: { id, port, local, parent, learning: false } };
}

function incompatibility(wanted: DeviceWanted, actual: Link): string | undefined {
  if (actual.kind !== "vxlan" || actual.vxlan === undefined) return `it is a ${actual.kind ?? "device"}`;
  const { id, port } = actual.vxlan;
  if (id !== wanted.id) return `its id is ${id}, not ${wanted.id}`;
  if (port !== wanted.port) return `its port is ${port}, not ${wanted.port}`;
  return undefined;
}

/**
 * The tunnel address is on it, and nothing else but what the kernel puts there. The new one first, and as long as none is known the old one
 * stays: with the last address of a device the kernel takes all its routes.
 */
export function planAddresses(index: number, wanted: string | undefined, actual: readonly Address[]): KernelChange[] {
  if (wanted === undefined) return [];
  const text = `${wanted}/${wanted.includes(":") ? 128 : 32}`;
  const changes: KernelChange[] = [];
  if (!actual.some((one) => one.address === text)) {
    changes.push({ do: "replace", address: { index, address: text, ...(text.includes(":") && { flags: ["nodad"] }) } });
  }
  for (const { address } of actual) {
    if (address !== text && !isLinkLocal(address)) changes.push({ do: "delete", address: { index, address } });
  }
  return changes;
}

const linkLocal = parseRange("fe80::/10");

function isLinkLocal(address: string): boolean {
  const range = parseRange(address);
  return range !== undefined && linkLocal !== undefined && holds(linkLocal, range);
}
