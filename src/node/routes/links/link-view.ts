// The node's interfaces and their addresses, as a list said and as notifications go on telling.
import type { Address, Link } from "../../../base/linux/kernel.ts";

export class LinkView {
  readonly #byIndex = new Map<number, Link>();
  readonly #byName = new Map<string, Link>();
  /** By address: the links that have it, and with which lengths. A link whose mask is changed has both for a moment. */
  readonly #addresses = new Map<string, Map<number, Set<string>>>();
  readonly #firstSeenMs = new Map<number, number>();

  load(links: readonly Link[], addresses: readonly Address[], nowMs: number): void {
    this.#byIndex.clear();
    this.#byName.clear();
    this.#addresses.clear();
    for (const link of links) this.set(link, nowMs);
    for (const index of this.#firstSeenMs.keys()) if (!this.#byIndex.has(index)) this.#firstSeenMs.delete(index);
    for (const address of addresses) this.setAddress(address);
  }

  /** The one before, if it was known. */
  set(link: Link, nowMs: number): Link | undefined {
    const before = this.#byIndex.get(link.index);
    if (before !== undefined && before.name !== link.name && this.#byName.get(before.name)?.index === link.index) {
      this.#byName.delete(before.name);
    }
    this.#byIndex.set(link.index, link);
    this.#byName.set(link.name, link);
    if (!this.#firstSeenMs.has(link.index)) this.#firstSeenMs.set(link.index, nowMs);
    return before;
  }

  delete(link: Link): void {
    this.#byIndex.delete(link.index);
    this.#firstSeenMs.delete(link.index);
    if (this.#byName.get(link.name)?.index === link.index) this.#byName.delete(link.name);
    for (const [address, links] of this.#addresses) {
      links.delete(link.index);
      if (links.size === 0) this.#addresses.delete(address);
    }
  }

  setAddress({ address, index }: Address): void {
    const bare = bareOf(address);
    const links = this.#addresses.get(bare) ?? new Map<number, Set<string>>();
    links.set(index, (links.get(index) ?? new Set()).add(address));
    this.#addresses.set(bare, links);
  }

  deleteAddress({ address, index }: Address): void {
    const bare = bareOf(address);
    const links = this.#addresses.get(bare);
    const lengths = links?.get(index);
    lengths?.delete(address);
    if (lengths?.size === 0) links?.delete(index);
    if (links?.size === 0) this.#addresses.delete(bare);
  }

  all(): Iterable<Link> {
    return this.#byIndex.values();
  }

  named(name: string): Link | undefined {
    return this.#byName.get(name);
  }

  at(index: number): Link | undefined {
    return this.#byIndex.get(index);
  }

  /** The link that is up and has the address. */
  withAddress(address: string): Link | undefined {
    for (const index of this.#addresses.get(address)?.keys() ?? []) {
      const link = this.#byIndex.get(index);
      if (link?.isUp === true) return link;
    }
    return undefined;
  }

  /** The addresses that the link has. */
  addressesOf(index: number): string[] {
    return [...this.#addresses].flatMap(([address, links]) => (links.has(index) ? [address] : []));
  }

  /** How long it has been known. */
  ageMs(index: number, nowMs: number): number {
    return nowMs - (this.#firstSeenMs.get(index) ?? nowMs);
  }
}

function bareOf(address: string): string {
  return address.split("/")[0] ?? address;
}
