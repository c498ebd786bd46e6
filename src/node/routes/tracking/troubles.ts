// Destinations whose route is not the one that it should be, and why: what health says, and what is tried again.

export type Trouble = {
  /** `failed`: the kernel refused, and will be asked again. `lacking`: something is missing. `told`: another node's lack: said, no more. */
  readonly is: "failed" | "lacking" | "told";
  readonly why: string;
};

export class Troubles {
  readonly #troubles = new Map<string, Trouble>();
  readonly #said = new Map<string, string>();

  /** Returns whether that is news. */
  note(destination: string, trouble: Trouble): boolean {
    this.#troubles.set(destination, trouble);
    if (this.#said.get(destination) === trouble.why) return false;
    this.#said.set(destination, trouble.why);
    return true;
  }

  clear(destination: string): void {
    this.#troubles.delete(destination);
  }

  clearAll(): void {
    this.#troubles.clear();
    this.#said.clear();
  }

  /** It is right: the next time is news again. */
  right(destination: string): void {
    this.#said.delete(destination);
  }

  of(destination: string): Trouble | undefined {
    return this.#troubles.get(destination);
  }

  get hasFailed(): boolean {
    for (const { is } of this.#troubles.values()) if (is === "failed") return true;
    return false;
  }

  failed(): string[] {
    return [...this.#troubles].filter(([, { is }]) => is === "failed").map(([destination]) => destination);
  }

  /** In words; undefined: every route is as it should be. */
  worst(): { readonly isReady: boolean; readonly detail: string } | undefined {
    const all = [...this.#troubles];
    const bad = all.filter(([, { is }]) => is !== "told");
    const [first] = bad.length > 0 ? bad : all;
    if (first === undefined) return undefined;
    const more = (bad.length > 0 ? bad.length : all.length) - 1;
    const detail = `${first[0]}: ${first[1].why}${more > 0 ? `, and ${more} more` : ""}`;
    return { isReady: bad.length === 0, detail };
  }
}
