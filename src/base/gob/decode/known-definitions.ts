// Type definitions that some stream has had, by their bytes. All peers of one release open their streams with the same ones,
// and a server to which a thousand of them come at once would read each a thousand times. What is kept is only what the
// bytes say; whether a stream may have them (its ids, its limits) is looked at each time.
import type { WireType } from "../schema/wire-types.ts";

/** Beyond this the one that was kept first makes room: peers choose what they send. */
const mostKept = 64;
const longestKept = 2048;

type Known = { readonly bytes: Uint8Array; readonly wire: WireType };

export class KnownDefinitions {
  readonly #byLength = new Map<number, Known[]>();
  /** In the order in which they were kept. */
  readonly #kept: Known[] = [];

  /** What the bytes from `start` to `end` of the data define, if they are known. Nobody may change it. */
  find(data: Uint8Array, start: number, end: number): WireType | undefined {
    return this.#byLength.get(end - start)?.find(({ bytes }) => isAt(data, start, bytes))?.wire;
  }

  /** False: it is too long to be kept. */
  keep(bytes: Uint8Array, wire: WireType): boolean {
    if (bytes.length > longestKept) return false;
    const known: Known = { bytes: bytes.slice(), wire };
    const alike = this.#byLength.get(bytes.length);
    if (alike === undefined) this.#byLength.set(bytes.length, [known]);
    else alike.push(known);
    this.#kept.push(known);
    if (this.#kept.length > mostKept) this.#forgetFirst();
    return true;
  }

  get size(): number {
    return this.#kept.length;
  }

  #forgetFirst(): void {
    const first = this.#kept.shift();
    if (first === undefined) return;
    const { length } = first.bytes;
    const left = (this.#byLength.get(length) ?? []).filter((known) => known !== first);
    if (left.length === 0) this.#byLength.delete(length);
    else this.#byLength.set(length, left);
  }
}

function isAt(data: Uint8Array, start: number, bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) if (data[start + i] !== bytes[i]) return false;
  return true;
}
