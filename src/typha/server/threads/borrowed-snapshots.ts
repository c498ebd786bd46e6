// The snapshots that a worker's clients are reading: asked of the main thread once for all that want the same before it is
// here, and given back when the last of them has read it. A thousand clients that connect at once would each ask.
import type { SyncerType } from "../../../calico/model/basics.ts";
import type { Snapshot, Variant } from "../../cache/index.ts";

/** Undefined: the server is stopping. */
type Lent = { readonly snapshot: Snapshot; readonly lease: number } | undefined;

type Desk = {
  ask(syncer: SyncerType, variant: Variant): Promise<Lent>;
  giveBack(lease: number): void;
  /** So many more than the one who asked read what has come. */
  noteReaders(syncer: SyncerType, more: number): void;
};

export class BorrowedSnapshots {
  readonly #desk: Desk;
  /** Asked for and not here yet. */
  readonly #asked = new Map<string, { readers: number; readonly snapshot: Promise<Snapshot | undefined> }>();
  readonly #read = new Map<Snapshot, { readers: number; readonly lease: number }>();

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  /** To be released once by each who has it. */
  borrow(syncer: SyncerType, variant: Variant): Promise<Snapshot | undefined> {
    const key = `${syncer} ${variant}`;
    const known = this.#asked.get(key);
    if (known !== undefined) {
      known.readers += 1;
      return known.snapshot;
    }
    const asked = {
      readers: 1,
      snapshot: this.#desk.ask(syncer, variant).then((lent) => this.#take(syncer, key, lent)),
    };
    this.#asked.set(key, asked);
    return asked.snapshot;
  }

  release(snapshot: Snapshot): void {
    const read = this.#read.get(snapshot);
    if (read === undefined) return;
    read.readers -= 1;
    if (read.readers > 0) return;
    this.#read.delete(snapshot);
    this.#desk.giveBack(read.lease);
  }

  #take(syncer: SyncerType, key: string, lent: Lent): Snapshot | undefined {
    const readers = this.#asked.get(key)?.readers ?? 0;
    this.#asked.delete(key);
    if (lent === undefined) return undefined;
    const snapshot = { ...lent.snapshot }; // one for each lease: the same may be lent again meanwhile
    this.#read.set(snapshot, { readers, lease: lent.lease });
    if (readers > 1) this.#desk.noteReaders(syncer, readers - 1);
    return snapshot;
  }
}
