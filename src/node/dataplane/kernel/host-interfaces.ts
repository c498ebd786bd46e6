// The interfaces of the host and the addresses that they carry, as the kernel tells of them: listed once, then kept by its notices.
import { parseRange } from "../../../base/lib/index.ts";
import { type Notifications, openNetlink, openNotifications } from "../../../base/linux/kernel.ts";
import type { HostInterface } from "../nft/dispatch.ts";

export class HostInterfaces implements AsyncDisposable {
  readonly #namespace: string | undefined;
  readonly #notices: Notifications;
  readonly #links = new Map<number, { name: string; isUp: boolean; addresses: Set<string> }>();
  readonly #byName = new Map<string, { isUp: boolean }>();

  constructor(options: { readonly namespace?: string | undefined; readonly signal: AbortSignal }) {
    this.#namespace = options.namespace;
    this.#notices = openNotifications(["link", "address"], options);
  }

  async list(): Promise<void> {
    await using netlink = openNetlink({ namespace: this.#namespace });
    const [links, addresses] = [await netlink.links(), await netlink.addresses()];
    this.#links.clear();
    this.#byName.clear();
    for (const { index, name, isUp } of links) this.#setLink(index, name, isUp);
    for (const { index, address } of addresses) this.#links.get(index)?.addresses.add(address);
  }

  /** Once for each change: "links" when an interface came, went, or went up or down; "addresses" otherwise. Ends with the signal. */
  async *changes(): AsyncGenerator<"links" | "addresses", void, undefined> {
    for await (const notice of this.#notices) {
      if (notice.is === "lost") {
        await this.list();
        yield "links";
      } else if ("link" in notice) {
        if (this.#hearLink(notice.is, notice.link)) yield "links";
      } else if ("address" in notice) {
        const { index, address } = notice.address;
        this.#links.get(index)?.addresses[notice.is === "set" ? "add" : "delete"](address);
        yield "addresses";
      }
    }
  }

  isUp(name: string): boolean {
    return this.#byName.get(name)?.isUp === true;
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  /** Those that carry an address: others govern nothing. */
  get withAddresses(): readonly HostInterface[] {
    return [...this.#links.values()].flatMap(({ name, addresses }) => {
      const known = [...addresses].flatMap((address) => parseRange(address.split("/")[0] ?? "") ?? []);
      return known.length === 0 ? [] : [{ name, addresses: known }];
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#notices[Symbol.asyncDispose]();
  }

  #hearLink(is: "set" | "deleted", link: { index: number; name: string; isUp: boolean }): boolean {
    const before = this.#links.get(link.index);
    if (is === "set") {
      if (before?.name === link.name && before.isUp === link.isUp) return false;
      this.#setLink(link.index, link.name, link.isUp);
      return true;
    }
    this.#links.delete(link.index);
    if (before !== undefined) this.#byName.delete(before.name);
    return before !== undefined;
  }

  #setLink(index: number, name: string, isUp: boolean): void {
    const before = this.#links.get(index);
    if (before !== undefined && before.name !== name) this.#byName.delete(before.name);
    const link = { name, isUp, addresses: before?.addresses ?? new Set<string>() };
    this.#links.set(index, link);
    this.#byName.set(name, link);
  }
}
