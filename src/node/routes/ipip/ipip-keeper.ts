// The IP in IP device of this node: `tunl0`, which the kernel's module may bring along, its MTU and this node's address on it. It has no far ends:
// each route through it names the node that it leads to.
//
//   make():  device ─▶ MTU, up ─▶ address            (then the routes change)
//   clear(): a while after nothing needs it, the addresses that were Calico's; the module's own device cannot be removed
import { type Clock, type Log, messageOf } from "../../../base/lib/index.ts";
import { kernelErrno, type Link, type Netlink } from "../../../base/linux/kernel.ts";
import type { IpipWanted } from "../calculation/tunnel.ts";
import type { LinkView } from "../links/link-view.ts";
import { planAddresses } from "../vxlan/device.ts";

export const ipipDevice = "tunl0";

type Options = {
  readonly netlink: Netlink;
  readonly links: LinkView;
  readonly clock: Clock;
  readonly log: Log;
  readonly lingerMs: number;
  /** Whether somebody has that address: a pod here, or another node for one of its own. */
  readonly isClaimed: (address: string) => boolean;
  /** Whether a pool has that address: what others have put on the device is theirs. */
  readonly isInPool: (address: string) => boolean;
};

export class IpipKeeper {
  readonly #options: Options;
  #device: { readonly index: number; readonly mtu: number } | undefined;
  #unneededSinceMs: number | undefined;
  #isNeeded = false;
  /** Why it is not as it should be. */
  problem: string | undefined;
  isDirty = true;

  constructor(options: Options) {
    this.#options = options;
  }

  /** For routes; undefined: not there. */
  get link(): { readonly index: number; readonly mtu: number } | undefined {
    return this.#device;
  }

  /** When clear() has something to do that it has not now. */
  get dueMs(): number {
    return this.#unneededSinceMs === undefined
      ? Number.POSITIVE_INFINITY
      : this.#unneededSinceMs + this.#options.lingerMs;
  }

  async make(wanted: IpipWanted | "unneeded", mtu: number): Promise<void> {
    const { links, clock } = this.#options;
    this.isDirty = false;
    this.#isNeeded = wanted !== "unneeded";
    if (wanted === "unneeded") {
      this.problem = undefined;
      const isThere = links.named(ipipDevice) !== undefined;
      this.#unneededSinceMs = isThere ? (this.#unneededSinceMs ?? clock.monotonicMs()) : undefined;
      return;
    }
    this.#unneededSinceMs = undefined;
    try {
      const link = await this.#makeDevice(mtu);
      links.set(link, clock.monotonicMs());
      this.#device = { index: link.index, mtu: link.mtu };
      await this.#makeAddress(link.index, wanted.address);
      this.problem = undefined;
    } catch (error) {
      this.#device = undefined;
      const problem = `${ipipDevice}: ${messageOf(error)}`;
      if (problem !== this.problem) this.#options.log.warn("The IP in IP device is not as it should be", { problem });
      this.problem = problem;
    }
  }

  /** After the routes: what nobody uses any more. */
  async clear(): Promise<void> {
    const { netlink, links, clock, lingerMs, isClaimed, isInPool } = this.#options;
    if (this.#isNeeded || this.#unneededSinceMs === undefined) return;
    const isOver = clock.monotonicMs() >= this.#unneededSinceMs + lingerMs;
    const link = links.named(ipipDevice);
    if (link?.kind === "ipip") {
      const going = links.addressesOf(link.index).filter((bare) => isClaimed(bare) || (isOver && isInPool(bare)));
      await netlink.changeAll(going.map((bare) => deletion(link.index, bare)));
    }
    if (!isOver) return;
    this.#device = undefined;
    this.#unneededSinceMs = undefined;
  }

  async #makeDevice(mtu: number): Promise<Link> {
    const { netlink } = this.#options;
    const before = await netlink.link(ipipDevice);
    if (before === undefined) {
      const [outcome] = await netlink.changeAll([
        { do: "create", link: { name: ipipDevice, kind: "ipip", mtu, up: true } },
      ]);
      const errno = outcome?.is === "refused" ? kernelErrno(outcome.error) : undefined;
      if (errno === "EOPNOTSUPP")
        throw new Error("this kernel has no IP in IP: modprobe ipip, or give the pools vxlanMode instead of ipipMode");
      // The module brings its own of that name when it is loaded, for whoever asks first.
      if (outcome?.is === "refused" && errno !== "EEXIST") throw outcome.error;
    }
    const link = before ?? (await netlink.link(ipipDevice));
    if (link === undefined) throw new Error("the kernel has made none");
    if (link.kind !== "ipip")
      throw new Error(`it is a ${link.kind ?? "device"} and no IP in IP device: remove or rename it`);
    if (link.mtu === mtu && link.isUp) return link;
    await netlink.change({ do: "edit", link: { link: link.index, mtu, up: true } });
    return { ...link, mtu, isUp: true };
  }

  async #makeAddress(index: number, address: string | undefined): Promise<void> {
    const { netlink, links, isClaimed } = this.#options;
    const actual = await netlink.addresses({ index });
    // One that was taken from this node may be a pod's by now.
    const lost = address === undefined ? links.addressesOf(index).filter(isClaimed) : [];
    const changes = [...planAddresses(index, address, actual), ...lost.map((bare) => deletion(index, bare))];
    for (const outcome of await netlink.changeAll(changes)) {
      // One that went by itself meanwhile is what was asked for.
      if (outcome.is === "refused" && kernelErrno(outcome.error) !== "EADDRNOTAVAIL") throw outcome.error;
    }
  }
}

const deletion = (index: number, bare: string) =>
  ({ do: "delete", address: { index, address: `${bare}/${bare.includes(":") ? 128 : 32}` } }) as const;
