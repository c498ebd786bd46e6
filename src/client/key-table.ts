// A set of paths, each with a number. A Set would do, but V8 internalizes every string that a Set, a Map or an object is
// asked about: it looks each up in a table of all strings of the program, and on a snapshot that cost more than decoding
// the update the path came with (bench/client: 0.5 µs a path, 0.2 µs here).
//
//   slots   [ 0 | 3 | 0 | 1 | 2 | 0 … ]   where a path's hash points: one more than its entry, 0 where nothing is
//   entries [ path, hash, number ] …       in order of arrival; a deleted path leaves its entry without a path
//
// Slots are twice as many as entries can be, so a search ends soon. When the entries are full, those that are left move
// to a table of the right size.

const minEntries = 512;

export class KeyTable {
  #paths: (string | undefined)[] = [];
  #hashes = new Int32Array(minEntries);
  #numbers = new Uint32Array(minEntries);
  #slots = new Int32Array(minEntries * 2);
  #size = 0;
  // People choose names, and paths are made of them: nobody shall choose names that all meet in one slot.
  readonly #seed: number;
  readonly #even: number;
  readonly #odd: number;

  constructor(random: () => number) {
    const word = () => (random() * 0x1_0000_0000) | 0;
    this.#seed = word();
    this.#even = word() | 1; // an odd factor loses no bit of a hash
    this.#odd = word() | 1;
  }

  get size(): number {
    return this.#size;
  }

  /** Gives a path its number; whether the path was not here before. */
  set(path: string, number: number): boolean {
    const hash = this.#hash(path);
    let slot = this.#slotOf(path, hash);
    const found = this.#slots[slot] as number; // a slot is one of #slots
    if (found > 0) {
      this.#numbers[found - 1] = number;
      return false;
    }
    if (this.#paths.length === this.#hashes.length) {
      this.#moveTo(this.#size * 2);
      slot = this.#slotOf(path, hash);
    }
    const entry = this.#paths.push(path) - 1;
    this.#hashes[entry] = hash;
    this.#numbers[entry] = number;
    this.#slots[slot] = entry + 1;
    this.#size += 1;
    return true;
  }

  /** Whether the path was here. */
  delete(path: string): boolean {
    const found = this.#slots[this.#slotOf(path, this.#hash(path))] as number; // as in set()
    if (found === 0) return false;
    this.#paths[found - 1] = undefined;
    this.#size -= 1;
    if (this.#size * 8 < this.#hashes.length && this.#hashes.length > minEntries) this.#moveTo(this.#size * 2);
    return true;
  }

  /** The paths with another number than this, in order of arrival. */
  pathsBut(number: number): string[] {
    return this.#paths.filter((path, entry) => path !== undefined && this.#numbers[entry] !== number) as string[]; // those left are strings
  }

  // The slot that points to the path, or the free one where it belongs.
  #slotOf(path: string, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const entry = (slots[slot] as number) - 1; // the mask keeps it inside
      if (entry < 0 || (this.#hashes[entry] === hash && this.#paths[entry] === path)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #moveTo(room: number): void {
    let entries = minEntries;
    while (entries < room) entries *= 2;
    const before = { paths: this.#paths, hashes: this.#hashes, numbers: this.#numbers };
    this.#paths = [];
    this.#hashes = new Int32Array(entries);
    this.#numbers = new Uint32Array(entries);
    this.#slots = new Int32Array(entries * 2);
    const mask = entries * 2 - 1;
    for (const [old, path] of before.paths.entries()) {
      if (path === undefined) continue;
      const hash = before.hashes[old] as number; // as long as the paths
      const entry = this.#paths.push(path) - 1;
      this.#hashes[entry] = hash;
      this.#numbers[entry] = before.numbers[old] as number; // as above
      let slot = hash & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = entry + 1;
    }
  }

  // Two lanes, because each step has to wait for the multiplication before it.
  #hash(path: string): number {
    const evenFactor = this.#even;
    const oddFactor = this.#odd;
    const last = path.length - 1;
    let even = this.#seed;
    let odd = last;
    for (let at = 0; at < last; at += 2) {
      even = Math.imul(even ^ path.charCodeAt(at), evenFactor);
      odd = Math.imul(odd ^ path.charCodeAt(at + 1), oddFactor);
    }
    if (last % 2 === 0) even = Math.imul(even ^ path.charCodeAt(last), evenFactor);
    const mixed = Math.imul(even ^ odd ^ (odd >>> 15), oddFactor);
    return mixed ^ (mixed >>> 15);
  }
}
