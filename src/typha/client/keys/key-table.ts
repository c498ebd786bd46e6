// A set of paths, each with a number. A Set would do, but V8 internalizes every string that a Set, a Map or an object is
// asked about, and every string that is kept is moved twice by the garbage collector: on a snapshot the two cost as much as
// decoding it. Here paths are bytes outside the heap (bench/client).
//
//   slots   [ 0 | 3 | 0 | 1 | 2 | 0 … ]                where a path's hash points: one more than its entry, 0 for nothing
//   entries [ hash, number, where its bytes end ] …    in order of arrival; a deleted path leaves its entry behind
//   words   [ /cal|ico/|v1/a|/cal|ico/|v1/b|b··· … ]    the bytes, in the order of entries, each from a word's start
//
// Slots are twice as many as entries can be, so a search ends soon. When the entries are full, those that are left move
// to a table of the right size.

const minEntries = 512;
const minBytes = minEntries * 64;
const maxBytes = 2 ** 30;
const deleted = 0xffff_ffff;
/** The longest character in UTF-8: with this much room behind it, only ASCII takes as many bytes as characters. */
const longestCharacter = 4;

export class KeyTable {
  #hashes = new Int32Array(minEntries);
  #numbers = new Uint32Array(minEntries);
  #ends = new Uint32Array(minEntries);
  #slots = new Int32Array(minEntries * 2);
  #words = new Int32Array(minBytes / 4);
  #bytes = bytesOf(this.#words);
  #entries = 0;
  #size = 0;
  /** Paths that are not ASCII, of which Calico has none. */
  readonly #wide = new Map<string, number>();
  // People choose names, and paths are made of them: nobody shall choose names that all meet in one slot.
  readonly #seed: number;
  readonly #factor: number;

  constructor(random: () => number) {
    this.#seed = (random() * 0x1_0000_0000) | 0;
    this.#factor = (random() * 0x1_0000_0000) | 1; // an odd factor loses no bit of a hash
  }

  get size(): number {
    return this.#size + this.#wide.size;
  }

  /** Gives a path its number, which is below 2^32 - 1; whether the path was not here before. */
  set(path: string, number: number): boolean {
    const hash = this.#write(path);
    if (hash === undefined) {
      const before = this.#wide.size;
      return this.#wide.set(path, number).size > before;
    }
    const slot = this.#slotOf(hash, path.length);
    const found = (this.#slots[slot] as number) - 1; // #slotOf() answers a slot there is
    if (found >= 0) {
      this.#numbers[found] = number;
      return false;
    }
    const entry = this.#entries;
    this.#hashes[entry] = hash;
    this.#numbers[entry] = number;
    this.#ends[entry] = this.#startOf(entry) + path.length;
    this.#slots[slot] = entry + 1;
    this.#entries += 1;
    this.#size += 1;
    if (this.#entries === this.#hashes.length) this.#resize();
    return true;
  }

  /** Whether the path was here. */
  delete(path: string): boolean {
    const hash = this.#write(path);
    if (hash === undefined) return this.#wide.delete(path);
    const found = (this.#slots[this.#slotOf(hash, path.length)] as number) - 1; // as above
    if (found < 0) return false;
    this.#numbers[found] = deleted;
    this.#size -= 1;
    if (this.#size * 8 < this.#hashes.length && this.#hashes.length > minEntries) this.#resize();
    return true;
  }

  /** The paths with another number than this, in order of arrival. */
  pathsBut(number: number): string[] {
    const paths: string[] = [];
    for (let entry = 0; entry < this.#entries; entry += 1) {
      if (this.#numbers[entry] === deleted || this.#numbers[entry] === number) continue;
      paths.push(this.#bytes.toString("latin1", this.#startOf(entry), this.#ends[entry]));
    }
    for (const [path, its] of this.#wide) if (its !== number) paths.push(path);
    return paths;
  }

  #startOf(entry: number): number {
    return entry === 0 ? 0 : wordAligned(this.#ends[entry - 1] as number); // entries before it have an end
  }

  // Writes the path behind the last entry, where set() lets it lie if it is new, and answers its hash; undefined where it
  // is not ASCII.
  #write(path: string): number | undefined {
    const { length } = path;
    const start = this.#startOf(this.#entries);
    const room = length + longestCharacter;
    if (start + room > this.#bytes.length) this.#growBytes(start + room);
    const words = this.#words;
    const last = (start + length) >>> 2;
    words[last] = 0; // what the path leaves of its last word counts, too
    if (this.#bytes.write(path, start, room, "utf8") !== length) return undefined;
    const factor = this.#factor;
    let hash = this.#seed ^ length;
    for (let word = start >>> 2; word <= last; word += 1) {
      hash = Math.imul(hash ^ (words[word] as number), factor); // there is room for them
      hash ^= hash >>> 15;
    }
    return hash;
  }

  // The slot that points to the path that was written, or the free one that would.
  #slotOf(hash: number, length: number): number {
    const slots = this.#slots;
    const hashes = this.#hashes;
    const mask = slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = (slots[slot] as number) - 1; // the mask keeps it inside
      if (entry < 0 || (hashes[entry] === hash && this.#isWritten(entry, length))) return slot;
    }
  }

  #isWritten(entry: number, length: number): boolean {
    const start = this.#startOf(entry);
    if (this.#numbers[entry] === deleted || this.#ends[entry] !== start + length) return false;
    const words = this.#words;
    const away = (this.#startOf(this.#entries) - start) >>> 2;
    const end = wordAligned(start + length) >>> 2;
    for (let word = start >>> 2; word < end; word += 1) if (words[word] !== words[word + away]) return false;
    return true;
  }

  #growBytes(needed: number): void {
    if (needed > maxBytes) throw new RangeError(`the server's keys are longer than ${maxBytes} bytes together`);
    const grown = new Int32Array(wordAligned(Math.min(Math.max(needed, this.#bytes.length * 2), maxBytes)) / 4);
    grown.set(this.#words);
    this.#words = grown;
    this.#bytes = bytesOf(grown);
  }

  // Into a table with room for as many entries again as there are.
  #resize(): void {
    if (this.#size < this.#entries) this.#dropDeleted();
    let capacity = minEntries;
    while (capacity < this.#size * 2) capacity *= 2;
    const { length } = this.#hashes;
    if (capacity !== length) {
      this.#hashes = resized(this.#hashes, new Int32Array(capacity));
      this.#numbers = resized(this.#numbers, new Uint32Array(capacity));
      this.#ends = resized(this.#ends, new Uint32Array(capacity));
    }
    this.#slots = new Int32Array(capacity * 2);
    for (let entry = 0; entry < this.#entries; entry += 1) this.#point(this.#hashes[entry] as number, entry); // below the length
  }

  // Moves what is left to the front, and lets memory go that is far too much for it.
  #dropDeleted(): void {
    const [hashes, numbers, ends, words] = [this.#hashes, this.#numbers, this.#ends, this.#words];
    let kept = 0;
    let start = 0;
    let end = 0;
    for (let entry = 0; entry < this.#entries; entry += 1) {
      const stop = ends[entry] as number; // entries are below the length, here and below
      if (numbers[entry] !== deleted) {
        if (end < start) words.copyWithin(end >>> 2, start >>> 2, wordAligned(stop) >>> 2);
        hashes[kept] = hashes[entry] as number;
        numbers[kept] = numbers[entry] as number;
        ends[kept] = end + stop - start;
        end = wordAligned(end + stop - start);
        kept += 1;
      }
      start = wordAligned(stop);
    }
    this.#entries = kept;
    if (end * 4 >= this.#bytes.length) return;
    this.#words = words.slice(0, Math.max(end * 2, minBytes) >>> 2);
    this.#bytes = bytesOf(this.#words);
  }

  // Only for a path that no slot points to.
  #point(hash: number, entry: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hash & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = entry + 1;
  }
}

// Copies what fits: entries that count always do.
function resized<Numbers extends Int32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>>(
  from: Numbers,
  to: Numbers,
): Numbers {
  to.set(from.length > to.length ? from.subarray(0, to.length) : from);
  return to;
}

function wordAligned(offset: number): number {
  return (offset + 3) & ~3;
}

function bytesOf(words: Int32Array<ArrayBuffer>): Buffer {
  return Buffer.from(words.buffer);
}
