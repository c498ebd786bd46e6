// One node of three with the keeper of its routes, in a namespace: what it is told, and what the kernel then has.
import { type Clock, silentLog, systemClock } from "../../../src/base/lib/index.ts";
import {
  type KernelChange,
  type Link,
  type Netlink,
  openConntrack,
  openNetlink,
} from "../../../src/base/linux/kernel.ts";
import { Keeper } from "../../../src/node/routes/keeper.ts";
import { type Bgp, readRouteSettings } from "../../../src/node/routes/settings.ts";
import type { AskBird } from "../../../src/node/routes/tracking/bgp-hops.ts";
import { freshNamespace } from "../namespace.ts";
import { blockPath, blockValue, nodePath, nodeValue, type PoolMode, poolPath, poolValue } from "./cluster.ts";
import { kernelRoutes, TestSettings } from "./running.ts";

const pool = "10.99.0.0/16";

/** The kernel as it would be with IP in IP: a bridge of that name is one. */
function withStandIn(netlink: Netlink): Netlink {
  const asIpip = (link: Link | undefined) => (link?.name === "tunl0" ? { ...link, kind: "ipip" } : link);
  const asDummy = (change: KernelChange): KernelChange =>
    change.do === "create" && "link" in change && change.link.kind === "ipip"
      ? { do: "create", link: { name: change.link.name, kind: "bridge", up: true, mtu: change.link.mtu ?? 1480 } }
      : change;
  return new Proxy(netlink, {
    get(target, name) {
      if (name === "link") return async (ref: number | string) => asIpip(await target.link(ref));
      if (name === "links") return async () => (await target.links()).map(asIpip);
      if (name === "changeAll") return (changes: readonly KernelChange[]) => target.changeAll(changes.map(asDummy));
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

type Given = {
  /** Without the stand-in for IP in IP. */
  readonly isReal?: boolean;
  readonly settings?: { readonly [name: string]: string };
  readonly clock?: Clock;
  readonly lingerMs?: number;
  readonly bgp?: Bgp;
  readonly askBird?: AskBird;
};

/** Node `one` of three; `two` is in its network, `three` is not. */
export async function nodeOne(given: Given = {}) {
  const { isReal = false, settings = {}, clock = systemClock, lingerMs = 0, bgp = "bird", askBird } = given;
  const { path: namespace } = freshNamespace();
  const real = openNetlink({ namespace });
  await real.change({ do: "create", link: { name: "eth0", kind: "bridge", up: true } });
  const index = (await real.link("eth0"))?.index ?? 0;
  await real.change({ do: "create", address: { index, address: "172.30.0.1/24" } });
  const netlink = isReal ? real : withStandIn(real);
  const keeper = new Keeper(
    {
      ...{ node: "one", netlink, conntrack: openConntrack({ namespace }), namespace },
      ...{ clock, log: silentLog, mtuFile: undefined, graceMs: 0, lingerMs, hear: () => undefined },
      ...{ askBird, hasNoBird: bgp === "none" },
    },
    readRouteSettings(new TestSettings(settings), bgp),
  );
  const set = (path: string, value: unknown) => keeper.calculation.set(path, JSON.stringify(value));
  for (const [i, name] of ["one", "two", "three"].entries()) {
    const address = name === "three" ? "172.30.1.3/24" : `172.30.0.${i + 1}/24`;
    set(nodePath(name), nodeValue({ name, address, ipipTunnel: `10.99.${i}.0`, tunnel: `10.99.${i}.1` }));
    set(blockPath(`10.99.${i}.0/26`), blockValue(`10.99.${i}.0/26`, name));
  }
  const setMode = (mode: PoolMode) => set(poolPath(pool), poolValue(pool, mode));
  const keep = async () => {
    await keeper.load();
    await keeper.keep();
    return (await kernelRoutes(namespace)).filter((line) => !line.includes("local"));
  };
  const addresses = async () => {
    const link = await real.link("tunl0");
    return link === undefined
      ? []
      : (await real.addresses({ index: link.index })).flatMap(({ family, address }) =>
          family === "inet" ? [address] : [],
        );
  };
  return { namespace, real, netlink, keeper, set, setMode, keep, addresses };
}
