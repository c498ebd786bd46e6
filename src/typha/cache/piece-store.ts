// Where encoded updates live: packed into slabs, because 100,000 small ArrayBuffers cost more in headers than in content.
//
//   slab  [piece|piece|░░░░░|piece|.....free.....]      ░ = given back, still taking room
//
// A slab is freed by the garbage collector when its last piece goes. Pieces that outlive their neighbours would pin
// nearly empty slabs, so the owner is told when more than half of all slab bytes are waste, and moves what is left.

const slabBytes = 64 * 1024;
/** Larger pieces get memory of their own: in a slab they would leave too much of it unused. */
const largestPackedBytes = slabBytes / 8;
/** Waste below this is not worth a pass over all entries. */
const tolerableWasteBytes = 4 * 1024 * 1024;

type Slab = { readonly memory: Uint8Array; used: number; live: number };
export type StoredPiece = { readonly slab: Slab; readonly start: number; readonly end: number };

export class PieceStore {
  #open: Slab | undefined;
  #heldBytes = 0;
  #liveBytes = 0;

  add(bytes: Uint8Array): StoredPiece {
    const slab = this.#roomFor(bytes.length);
    const start = slab.used;
    slab.memory.set(bytes, start);
    slab.used += bytes.length;
    slab.live += bytes.length;
    this.#liveBytes += bytes.length;
    return { slab, start, end: slab.used };
  }

  read(piece: StoredPiece): Uint8Array {
    return piece.slab.memory.subarray(piece.start, piece.end);
  }

  remove(piece: StoredPiece): void {
    const length = piece.end - piece.start;
    piece.slab.live -= length;
    this.#liveBytes -= length;
    if (piece.slab.live === 0 && piece.slab !== this.#open) this.#heldBytes -= piece.slab.memory.length;
  }

  /** True when moving the pieces that isSparse() names would give back at least half of the memory held. */
  get isWasteful(): boolean {
    return this.#heldBytes - this.#liveBytes > Math.max(this.#liveBytes, tolerableWasteBytes);
  }

  isSparse(piece: StoredPiece): boolean {
    return piece.slab !== this.#open && piece.slab.live * 2 < piece.slab.memory.length;
  }

  get liveBytes(): number {
    return this.#liveBytes;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  #roomFor(length: number): Slab {
    if (length > largestPackedBytes) return this.#newSlab(length);
    const open = this.#open;
    if (open !== undefined && open.used + length <= slabBytes) return open;
    if (open !== undefined && open.live === 0) this.#heldBytes -= open.memory.length;
    this.#open = this.#newSlab(slabBytes);
    return this.#open;
  }

  #newSlab(size: number): Slab {
    this.#heldBytes += size;
    return { memory: new Uint8Array(size), used: 0, live: 0 };
  }
}
