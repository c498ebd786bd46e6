// IPv6 refuses a gateway that, at this moment, another route leads to by another interface, also where it is said to be on the link. That is so
// when a block changes from a plain route to the tunnel: its gateway is in the block itself, and the block still goes by the uplink. A
// route to the gateway alone, for as long as the change takes, shows the kernel the way; no packet is without one meanwhile.
import {
  type KernelChange,
  kernelErrno,
  type Netlink,
  type NewRoute,
  type Outcome,
} from "../../../base/linux/kernel.ts";

export function isMisled(outcome: Outcome, route: NewRoute): boolean {
  if (outcome.is === "done" || kernelErrno(outcome.error) !== "EINVAL") return false;
  return route.gateway?.includes(":") === true && route.onlink === true && route.index !== undefined;
}

export async function writeWithHelp(
  netlink: Netlink,
  write: KernelChange & { readonly route: NewRoute },
): Promise<Outcome> {
  const { gateway, index, protocol } = write.route;
  const sign = {
    destination: `${gateway}/128`,
    ...(index !== undefined && { index }),
    ...(protocol !== undefined && { protocol }),
  };
  const [made, outcome] = await netlink.changeAll([{ do: "create", route: sign }, write]);
  // Where it was there already, it is somebody's.
  if (made?.is === "done") await netlink.changeAll([{ do: "delete", route: sign }]);
  return outcome ?? { is: "done" };
}
