// What a node that leaves the cluster takes along: its routes of protocol 80, those on workloads' interfaces and on the tunnels, and the
// tunnels themselves. Pods that are still there lose their network.

import { kernelErrno, mainTable, openNetlink } from "../../base/linux/kernel.ts";
import { bridgeProtocol } from "../../calico/routing/index.ts";
import { ipipDevice } from "./ipip/ipip-keeper.ts";
import type { RouteSettings } from "./settings.ts";
import { isOurs, type LinkRole } from "./tracking/ownership.ts";
import { deletionOf } from "./tracking/plan-destination.ts";
import { deviceNames } from "./vxlan/device.ts";

export type Removed = {
  readonly routes: number;
  readonly devices: readonly string[];
  readonly refusals: readonly string[];
};

export async function removeOwnRoutes(
  settings: RouteSettings,
  options: { readonly namespace?: string | undefined } = {},
): Promise<Removed> {
  await using netlink = openNetlink(options);
  const links = await netlink.links();
  const names = new Map(links.map(({ index, name }) => [index, name]));
  const tunnels: readonly string[] = Object.values(deviceNames);
  const roleOf = (index: number | undefined): LinkRole => {
    const name = index === undefined ? undefined : names.get(index);
    if (name === undefined) return "other";
    if (tunnels.includes(name)) return "tunnel";
    if (name === ipipDevice) return "ipip";
    return settings.workloadInterfacePrefixes.some((prefix) => name.startsWith(prefix)) ? "workload" : "other";
  };
  const ours = (await netlink.routes({ table: mainTable })).filter(
    (route) => route.protocol === bridgeProtocol || isOurs(route, roleOf(route.index), settings),
  );
  const devices = links.filter(({ name, kind }) => kind === "vxlan" && tunnels.includes(name));
  // The module's own device of that name stays when it is deleted. Others use it, too: ours is one that our routes lead to.
  const ipip = links.find(({ index, name, kind }) => {
    return name === ipipDevice && kind === "ipip" && ours.some((route) => route.index === index);
  });
  if (ipip !== undefined) devices.push(ipip);
  const addresses = ipip === undefined ? [] : await netlink.addresses({ index: ipip.index });
  const outcomes = await netlink.changeAll([
    ...ours.map(deletionOf),
    ...addresses.map(({ index, address }) => ({ do: "delete", address: { index, address } }) as const),
    ...devices.map(({ index }) => ({ do: "delete", link: index }) as const),
  ]);
  const refusals = outcomes.flatMap((one) =>
    one.is === "refused" && kernelErrno(one.error) !== "ESRCH" ? [one.error.message] : [],
  );
  return { routes: ours.length, devices: devices.map(({ name }) => name), refusals };
}
