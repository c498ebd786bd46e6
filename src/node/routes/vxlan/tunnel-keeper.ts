// One tunnel: its device, the address on it, and where the far ends are. Made before routes need it, cleared away after none does.
//
//   make():  device ─▶ address ─▶ entries and neighbours that are missing          (then the routes change)
//   clear(): entries and neighbours in excess ─▶ the device, a while after nothing needs it
//
// A device that is not needed any more stays for a while: other nodes may hear of it later than we do, and still send through it.
import { type Clock, type Family, type Log, messageOf } from "../../../base/lib/index.ts";
import { kernelErrno, type Netlink } from "../../../base/linux/kernel.ts";
import type { TunnelWanted } from "../calculation/tunnel.ts";
import type { LinkView } from "../links/link-view.ts";
import { deviceNames, deviceOf, planAddresses, planDevice } from "./device.ts";
import { type FarEndPlan, planFarEnds } from "./far-ends.ts";

export type TunnelSettings = { readonly id: number; readonly port: number; readonly mtu: number };

type Options = {
  readonly family: Family;
  readonly netlink: Netlink;
  readonly links: LinkView;
  readonly clock: Clock;
  readonly log: Log;
  readonly lingerMs: number;
  /** Whether the kernel has a route by that device to that tunnel address. */
  readonly isInUse: (index: number, tunnel: string) => boolean;
  /** Whether somebody has that address: a pod here, or another node for one of its own. */
  readonly isClaimed: (address: string) => boolean;
  /** What some kernels need of a device that has just been made. */
  readonly onCreated: (deviceName: string) => Promise<void>;
};

export class TunnelKeeper {
  readonly #options: Options;
  readonly name: string;
  #index: number | undefined;
  #mtu = 0;
  /** What was wanted last, where more than that is there. */
  #excess: { readonly index: number; readonly wanted: TunnelWanted } | undefined;
  #unneededSinceMs: number | undefined;
  #isNeeded = false;
  /** Why it is not as it should be. */
  problem: string | undefined;
  isDirty = true;

  constructor(options: Options) {
    this.#options = options;
    this.name = deviceNames[options.family];
  }

  /** For routes; undefined: not there. */
  get link(): { readonly index: number; readonly mtu: number } | undefined {
    return this.#index === undefined ? undefined : { index: this.#index, mtu: this.#mtu };
  }

  /** When clear() has something to do that it has not now. */
  get dueMs(): number {
    return this.#unneededSinceMs === undefined
      ? Number.POSITIVE_INFINITY
      : this.#unneededSinceMs + this.#options.lingerMs;
  }

  /** Returns whether the device is another one than before: then all routes through it are gone. */
  async make(wanted: TunnelWanted | "unneeded" | "unknown", settings: TunnelSettings): Promise<boolean> {
    const { links, clock } = this.#options;
    if (wanted === "unknown") {
      this.isDirty = false;
      this.#unneededSinceMs = undefined;
      return false;
    }
    if (wanted === "unneeded") {
      const isThere = links.named(this.name) !== undefined;
      this.#isNeeded = false;
      this.problem = undefined;
      this.#unneededSinceMs = isThere ? (this.#unneededSinceMs ?? clock.monotonicMs()) : undefined;
      this.isDirty = false;
      return false;
    }
    this.#isNeeded = true;
    this.#unneededSinceMs = undefined;
    this.isDirty = false;
    try {
      return await this.#make(wanted, settings);
    } catch (error) {
      this.#say(`${this.name}: ${messageOf(error)}`);
      return false;
    }
  }

  /** After the routes: what nobody uses any more. */
  async clear(): Promise<void> {
    const { netlink, links, clock, log, lingerMs } = this.#options;
    if (this.#excess !== undefined) {
      const { index, wanted } = this.#excess;
      const { deletes, kept } = await this.#planEnds(index, wanted);
      if (deletes.length > 0) await netlink.changeAll(deletes);
      // A route that stays for now leads there: what is known of that end goes when the route has gone.
      if (kept.length === 0) this.#excess = undefined;
    }
    if (this.#isNeeded || this.#unneededSinceMs === undefined) return;
    await this.#giveUpAddresses();
    if (clock.monotonicMs() < this.#unneededSinceMs + lingerMs) return;
    const link = links.named(this.name);
    if (link !== undefined) {
      const [outcome] = await netlink.changeAll([{ do: "delete", link: link.index }]);
      if (outcome?.is === "done") log.info("No pool needs the VXLAN device any more: removed", { device: this.name });
    }
    this.#index = undefined;
    this.#unneededSinceMs = undefined;
  }

  /** While the device waits for its end, its address may be given to somebody else: on two interfaces it would be the node's. */
  async #giveUpAddresses(): Promise<void> {
    const { netlink, links, isClaimed } = this.#options;
    const index = links.named(this.name)?.index;
    if (index === undefined) return;
    const claimed = links.addressesOf(index).filter(isClaimed);
    const changes = claimed.map((bare) => {
      const address = `${bare}/${bare.includes(":") ? 128 : 32}`;
      return { do: "delete", address: { index, address } } as const;
    });
    if (changes.length > 0) await netlink.changeAll(changes);
  }

  async #make(wanted: TunnelWanted, { id, port, mtu }: TunnelSettings): Promise<boolean> {
    const { netlink, links, log, clock, onCreated } = this.#options;
    const parent = links.withAddress(wanted.local);
    if (parent === undefined) {
      this.#say(`no interface that is up has this node's address ${wanted.local}`);
      return false;
    }
    const seen = await netlink.link(this.name);
    const plan = planDevice(deviceOf(wanted, { id, port, parent: parent.index, mtu }), seen);
    if (plan.because !== undefined)
      log.warn("The VXLAN device is made anew", { device: this.name, because: plan.because });
    for (const change of plan.changes) await netlink.change(change);
    const link = plan.changes.length === 0 ? seen : await netlink.link(this.name);
    if (link === undefined) throw new Error("the device has gone again");
    links.set(link, clock.monotonicMs());
    const isNew = link.index !== this.#index;
    this.#index = link.index;
    this.#mtu = link.mtu;
    if (seen?.index !== link.index) await onCreated(this.name);
    await this.#makeAddress(link.index, wanted.address);
    const ends = await this.#planEnds(link.index, wanted);
    this.#excess = ends.deletes.length + ends.kept.length > 0 ? { index: link.index, wanted } : undefined;
    const outcomes = await netlink.changeAll(ends.writes);
    const refusal = outcomes.find((one) => one.is === "refused");
    if (refusal?.is === "refused") throw refusal.error;
    this.problem = undefined;
    return isNew;
  }

  async #makeAddress(index: number, address: string | undefined): Promise<void> {
    const { netlink } = this.#options;
    const actual = await netlink.addresses({ index });
    for (const outcome of await netlink.changeAll(planAddresses(index, address, actual))) {
      // One that went by itself meanwhile (the kernel takes secondary addresses along) is what was asked for.
      if (outcome.is === "refused" && kernelErrno(outcome.error) !== "EADDRNOTAVAIL") throw outcome.error;
    }
  }

  async #planEnds(index: number, wanted: TunnelWanted): Promise<FarEndPlan> {
    const { netlink, family } = this.#options;
    const inet = family === 4 ? "inet" : "inet6";
    const entries = await netlink.neighbours({ family: "bridge", index });
    const neighbours = await netlink.neighbours({ family: inet, index });
    const isInUse = (tunnel: string) => this.#options.isInUse(index, tunnel);
    return planFarEnds({ index, family: inet, wanted: wanted.farEnds, entries, neighbours, isInUse });
  }

  #say(problem: string): void {
    if (problem !== this.problem) this.#options.log.warn("The VXLAN tunnel is not as it should be", { problem });
    this.problem = problem;
  }
}
