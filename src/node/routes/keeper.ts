// The kernel half of the room: interfaces, tunnels, settings and routes of this node, kept as the calculation says. It is told what changed (by the
// feed, by the kernel, by a setting) and then asked to keep(); between two calls nothing happens.
//
//   keep():  MTU ─▶ tunnels made ─▶ workload interfaces' settings ─▶ routes written ─▶ routes removed ─▶ connections forgotten ─▶ tunnels cleared
import { type Clock, type Family, type Log, rangeText } from "../../base/lib/index.ts";
import type { Conntrack, Link, Netlink, Notification } from "../../base/linux/kernel.ts";
import { RouteCalculation } from "./calculation/calculation.ts";
import type { Encapsulation } from "./calculation/mtu.ts";
import { IpipKeeper, ipipDevice } from "./ipip/ipip-keeper.ts";
import { LinkView } from "./links/link-view.ts";
import { MtuKeeper } from "./links/mtu-keeper.ts";
import { nodeSysctls, SysctlKeeper, workloadSysctls } from "./links/sysctls.ts";
import type { RouteSettings } from "./settings.ts";
import type { AskBird } from "./tracking/bgp-hops.ts";
import { BirdsLeftovers } from "./tracking/birds-leftovers.ts";
import type { LinkRole } from "./tracking/ownership.ts";
import { RouteKeeper } from "./tracking/route-keeper.ts";
import { switchChecksumsOff } from "./vxlan/checksums.ts";
import { deviceNames } from "./vxlan/device.ts";
import { TunnelKeeper } from "./vxlan/tunnel-keeper.ts";

export type KeeperOptions = {
  readonly node: string;
  readonly netlink: Netlink;
  readonly conntrack: Conntrack;
  readonly namespace: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly mtuFile: string | undefined;
  readonly graceMs: number;
  readonly lingerMs: number;
  /** Which routes BIRD has, where it can be asked. */
  readonly askBird?: AskBird | undefined;
  /** No BIRD is configured: what one has left goes, if none answers. */
  readonly hasNoBird?: boolean;
  /** Takes in what the kernel has told by now. */
  readonly hear: () => void;
};

const families = [4, 6] as const;

export class Keeper {
  readonly #options: KeeperOptions;
  #settings: RouteSettings;
  readonly calculation: RouteCalculation;
  readonly links = new LinkView();
  readonly routes: RouteKeeper;
  readonly #tunnels: { readonly [family in Family]: TunnelKeeper };
  readonly #ipip: IpipKeeper;
  readonly #sysctls: SysctlKeeper;
  readonly #mtu: MtuKeeper;
  readonly #leftovers: BirdsLeftovers;
  readonly #rpFilter: string;
  readonly #untunedInterfaces = new Set<string>();
  #areNodeSysctlsDirty = true;
  /** all: and look at each of them. */
  #mustListRoutes: boolean | "all" = false;

  constructor(options: KeeperOptions, settings: RouteSettings) {
    const { node, netlink, conntrack, namespace, clock, log, mtuFile, graceMs, lingerMs } = options;
    this.#options = options;
    this.#settings = settings;
    this.calculation = new RouteCalculation(node, settings.ways);
    this.#sysctls = new SysctlKeeper({ namespace, log });
    this.#rpFilter = this.#sysctls.read(["net", "ipv4", "conf", "default", "rp_filter"]) ?? "0";
    this.#mtu = new MtuKeeper({ file: mtuFile, log });
    const onCreated = (device: string) => switchChecksumsOff(device, { namespace, log });
    const isInUse = (index: number, gateway: string) => this.routes.picture.leadsTo(index, gateway);
    const isClaimed = (address: string) =>
      this.calculation.resolved.has(`${address}/${address.includes(":") ? 128 : 32}`);
    const tunnel = (family: Family) =>
      new TunnelKeeper({ family, netlink, links: this.links, clock, log, lingerMs, onCreated, isInUse, isClaimed });
    this.#tunnels = { 4: tunnel(4), 6: tunnel(6) };
    const isInPool = (address: string) => this.calculation.isInPool(address);
    this.#ipip = new IpipKeeper({ netlink, links: this.links, clock, log, lingerMs, isClaimed, isInPool });
    const routeLinks = {
      uplink: (family: Family) => this.#uplink(family)?.index,
      tunnel: (family: Family) => this.#tunnels[family].link,
      ipip: () => this.#ipip.link,
      workload: (name: string) => {
        const link = this.#isWorkloadName(name) ? this.links.named(name) : undefined;
        return link?.isUp === true ? link.index : undefined;
      },
    };
    const ageMsOf = (index: number) => this.links.ageMs(index, clock.monotonicMs());
    const roleOf = (index: number | undefined) => this.#roleOf(index);
    this.routes = new RouteKeeper(
      { netlink, conntrack, clock, log, links: routeLinks, roleOf, ageMsOf, graceMs, askBird: options.askBird },
      settings,
    );
    const ask = options.hasNoBird === true ? options.askBird : undefined;
    const isLookedAfter = (destination: string) => this.#isLookedAfter(destination);
    this.#leftovers = new BirdsLeftovers({ netlink, clock, log, ask, isLookedAfter });
  }

  /** When keep() should be called though nothing was told. */
  get dueMs(): number {
    return Math.min(this.routes.dueMs, this.#tunnels[4].dueMs, this.#tunnels[6].dueMs, this.#ipip.dueMs);
  }

  /** Where a route of BIRD leads elsewhere than to its node, BIRD is asked whether that is right. */
  get hopsDueMs(): number {
    return Math.min(this.routes.hops.dueMs, this.#leftovers.dueMs);
  }

  /** Apart from keep(), which waits for nobody's answer. */
  async checkHops(signal: AbortSignal): Promise<void> {
    const { hops } = this.routes;
    const areHopsDue = this.#options.clock.monotonicMs() >= hops.dueMs;
    // Both begin at once: what waits for its turn would be due all the time.
    const [changed] = await Promise.all([areHopsDue ? hops.check(signal) : [], this.#leftovers.check(signal)]);
    this.routes.touch(changed);
  }

  get problem(): string | undefined {
    return this.#tunnels[4].problem ?? this.#tunnels[6].problem ?? this.#ipip.problem ?? this.#mtu.problem;
  }

  configure(settings: RouteSettings): void {
    this.#settings = settings;
    this.calculation.configure(settings.ways);
    this.routes.configure(settings);
    this.#areNodeSysctlsDirty = true;
    this.#touchAll();
  }

  /** Look at everything again, as at the start. */
  async load(): Promise<void> {
    const { netlink, clock } = this.#options;
    const links = await netlink.links();
    this.links.load(links, await netlink.addresses(), clock.monotonicMs());
    for (const { name, isUp } of links) if (isUp && this.#isWorkloadName(name)) this.#untunedInterfaces.add(name);
    this.#dirtyTunnels();
    this.#areNodeSysctlsDirty = true;
    this.#mustListRoutes = "all";
  }

  /** Returns whether keep() has something to do for it. */
  heard(notification: Exclude<Notification, { is: "lost" }>): boolean {
    if ("link" in notification) return this.#heardLink(notification.link, notification.is === "deleted");
    if ("route" in notification) {
      const { route, is, replaces } = notification;
      const matters = is === "set" ? this.routes.picture.set(route, replaces) : this.routes.picture.deleted(route);
      if (matters) this.routes.touch([route.destination]);
      return matters;
    }
    if ("address" in notification) {
      const { address, is } = notification;
      if (is === "set") this.links.setAddress(address);
      else {
        this.links.deleteAddress(address);
        // Routes that went with it are not told of.
        this.#mustListRoutes ||= true;
      }
      return this.#heardAddress(address.address, address.index) || is === "deleted";
    }
    if ("neighbour" in notification) return this.#dirtyTunnelAt(notification.neighbour.index);
    if ("sysctls" in notification) return this.#heardSysctl(notification.sysctls.link);
    return false;
  }

  /** The clock has come round: what tells nobody when it changes is looked at. */
  tick(): void {
    this.#areNodeSysctlsDirty = true;
    for (const tunnel of this.#allTunnels()) if (tunnel.problem !== undefined) tunnel.isDirty = true;
  }

  async keep(): Promise<void> {
    const { clock } = this.#options;
    const changes = this.calculation.take();
    this.routes.wake(clock.monotonicMs());
    for (const [destination, before] of changes.destinations) {
      if (before?.is === "route" && before.way.is === "workload") this.routes.forget(destination);
    }
    this.routes.touch(changes.destinations.keys());
    await this.#mtu.keep({
      links: this.links.all(),
      uplinkPattern: this.#settings.uplinkPattern,
      settings: this.#settings.mtu,
      inUse: this.#encapsulations(),
      isFileRequired: this.#settings.requiresMtuFile,
    });
    for (const family of families) await this.#makeTunnel(family, changes.areTunnelsDirty);
    await this.#makeIpip(changes.areTunnelsDirty);
    this.#keepSysctls(changes.areWorkloadsDirty);
    this.#options.hear();
    if (this.#mustListRoutes !== false) {
      const isAll = this.#mustListRoutes === "all";
      this.#mustListRoutes = false;
      await this.routes.load(this.calculation.resolved);
      if (isAll) this.#touchAll();
      this.#options.hear();
    }
    if (this.#settings.leavesRoutesAlone) this.routes.standAside();
    else await this.routes.apply(this.calculation.resolved);
    this.#options.hear();
    for (const tunnel of this.#allTunnels()) await tunnel.clear();
  }

  async #makeTunnel(family: Family, isDirty: boolean): Promise<void> {
    const tunnel = this.#tunnels[family];
    const mtu = this.#mtu.of("vxlan", family);
    const before = tunnel.link;
    if (!isDirty && !tunnel.isDirty && (before === undefined || before.mtu === mtu)) return;
    const isNew = await tunnel.make(this.calculation.tunnel(family), { ...this.#settings.vxlan, mtu });
    if (isNew || tunnel.link?.mtu !== before?.mtu) {
      if (before !== undefined && isNew) this.routes.picture.forgetLink(before.index);
      this.#touchAll();
    }
  }

  async #makeIpip(isDirty: boolean): Promise<void> {
    const mtu = this.#mtu.of("ipip", 4);
    const before = this.#ipip.link;
    if (!isDirty && !this.#ipip.isDirty && (before === undefined || before.mtu === mtu)) return;
    await this.#ipip.make(this.calculation.ipip(), mtu);
    const { link } = this.#ipip;
    if (link?.index === before?.index && link?.mtu === before?.mtu) return;
    if (before !== undefined && link?.index !== before.index) this.routes.picture.forgetLink(before.index);
    this.#touchAll();
  }

  #allTunnels(): readonly (TunnelKeeper | IpipKeeper)[] {
    return [this.#tunnels[4], this.#tunnels[6], this.#ipip];
  }

  #dirtyTunnels(): void {
    for (const tunnel of this.#allTunnels()) tunnel.isDirty = true;
  }

  #keepSysctls(areWorkloadsDirty: boolean): void {
    const hasIpv6 = this.#settings.ways.families.includes(6);
    if (this.#areNodeSysctlsDirty) {
      this.#areNodeSysctlsDirty = false;
      const { setsForwarding } = this.#settings;
      const mended = this.#sysctls.apply(nodeSysctls({ setsForwarding, hasIpv6 }));
      for (const { name, value } of mended) {
        this.#options.log.info("A kernel setting was set", { setting: name.join("."), value });
      }
    }
    const workloads = this.calculation.workloads();
    const names = areWorkloadsDirty ? workloads.keys() : this.#untunedInterfaces;
    for (const name of names) {
      const workload = workloads.get(name);
      if (workload === undefined || !this.#isWorkloadName(name) || this.links.named(name)?.isUp !== true) continue;
      this.#sysctls.apply(workloadSysctls(name, { rpFilter: this.#rpFilter, maySpoof: workload.maySpoof, hasIpv6 }));
    }
    this.#untunedInterfaces.clear();
  }

  #encapsulations(): { what: Encapsulation; family: Family }[] {
    const { ways } = this.#settings;
    const isOn = (what: Encapsulation, family: Family): boolean =>
      what === "ipip" ? family === 4 && this.calculation.ipip() !== "unneeded" : this.#isVxlanOn(family);
    return families
      .filter((family) => ways.families.includes(family))
      .flatMap((family) =>
        (["vxlan", "ipip"] as const).filter((what) => isOn(what, family)).map((what) => ({ what, family })),
      );
  }

  #isVxlanOn(family: Family): boolean {
    return this.#settings.ways.vxlan ?? this.calculation.hasPools("vxlan", family);
  }

  #heardLink(link: Link, isDeleted: boolean): boolean {
    const before = this.links.at(link.index);
    if (isDeleted) this.links.delete(link);
    else this.links.set(link, this.#options.clock.monotonicMs());
    const isUsable = !isDeleted && link.isUp;
    if (!isUsable) this.routes.touch(this.routes.picture.forgetLink(link.index));
    const isSame =
      before !== undefined && before.isUp === isUsable && before.name === link.name && before.mtu === link.mtu;
    const isTunnel = this.#dirtyTunnelNamed(link.name);
    if (isSame && !isDeleted) return isTunnel;
    if (this.#isWorkloadName(link.name)) {
      if (isUsable) this.#untunedInterfaces.add(link.name);
      const workload = this.calculation.workloads().get(link.name);
      this.routes.touch((workload?.ranges ?? []).map(rangeText));
      return true;
    }
    // An uplink, perhaps: routes by it, the tunnel's parent, the host's MTU.
    this.#dirtyTunnels();
    this.#touchAll();
    return true;
  }

  #heardAddress(address: string, index: number): boolean {
    const bare = address.split("/")[0];
    const own = this.calculation.ownNode;
    if (bare === own?.[4]?.address || bare === own?.[6]?.address) {
      this.#dirtyTunnels();
      this.#touchAll();
      return true;
    }
    return this.#dirtyTunnelAt(index);
  }

  #heardSysctl(link: number | "all" | "default"): boolean {
    if (link === "default") return false;
    this.#areNodeSysctlsDirty = true;
    const name = link === "all" ? undefined : this.links.at(link)?.name;
    if (name !== undefined && this.#isWorkloadName(name)) this.#untunedInterfaces.add(name);
    return true;
  }

  #dirtyTunnelAt(index: number): boolean {
    const tunnel = this.#allTunnels().find((one) => one.link?.index === index);
    if (tunnel !== undefined) tunnel.isDirty = true;
    return tunnel !== undefined;
  }

  #dirtyTunnelNamed(name: string): boolean {
    const tunnel =
      name === ipipDevice
        ? this.#ipip
        : families.map((family) => this.#tunnels[family]).find((one) => one.name === name);
    if (tunnel !== undefined) tunnel.isDirty = true;
    return tunnel !== undefined;
  }

  /** Routes to there are ours to write, and what should be there is. */
  #isLookedAfter(destination: string): boolean {
    const { leavesRoutesAlone } = this.#settings;
    return (
      !leavesRoutesAlone &&
      this.calculation.writesTo(destination) &&
      (!this.calculation.resolved.has(destination) || this.routes.troubles.of(destination) === undefined)
    );
  }

  #touchAll(): void {
    this.routes.touch(this.calculation.resolved.keys());
    this.routes.touch(this.routes.picture.destinations());
  }

  #uplink(family: Family): Link | undefined {
    const address = this.calculation.ownNode?.[family]?.address;
    return address === undefined ? undefined : this.links.withAddress(address);
  }

  #isWorkloadName(name: string): boolean {
    return this.#settings.workloadInterfacePrefixes.some((prefix) => name.startsWith(prefix));
  }

  #roleOf(index: number | undefined): LinkRole {
    const name = index === undefined ? undefined : this.links.at(index)?.name;
    if (name === undefined) return "other";
    if (name === deviceNames[4] || name === deviceNames[6]) return "tunnel";
    if (name === ipipDevice) return "ipip";
    return this.#isWorkloadName(name) ? "workload" : "other";
  }
}
