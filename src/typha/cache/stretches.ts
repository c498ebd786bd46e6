// The frames of a snapshot laid one behind the other in stretches, which are what is written to sockets: a write costs much the
// same whether it is of 10 KB or of 64 (bench/fanout, scenario "storm"). A stretch stays as long as its frames follow each
// other unchanged, so that snapshots share all but what changed between them.
import type { CacheCodec, Variant } from "./codec.ts";
import type { Frame, Segment } from "./entry.ts";
import { Scratch } from "./scratch.ts";

/** What an outbox writes at a time. A frame that is larger has a stretch of its own. */
const stretchBytes = 64 * 1024;

type Allocate = CacheCodec["allocate"];
type Stretch = { readonly bytes: Uint8Array; readonly frames: readonly Frame[] };
/** A segment, and in which variant it is to be sent. */
export type Wanted = { readonly segment: Segment; readonly variant: Variant };
type Placed = Wanted & { readonly frame: Frame };

/** The stretches of one variant of the snapshot. */
export class Stretches {
  readonly #allocate: Allocate;
  /** By their first frames. */
  #stretches = new Map<Frame, Stretch>();
  // What is made while one stretch closes belongs to the next, so that two are needed in turns.
  #scratch = new Scratch();
  #otherScratch = new Scratch();

  constructor(allocate: Allocate) {
    this.#allocate = allocate;
  }

  /**
   * All that is wanted, in this order. `make` is asked for the frames that are not there, `others` may have stretches of the
   * same frames.
   */
  lay(
    all: readonly Wanted[],
    make: (wanted: Wanted, allocate: Allocate) => Frame,
    others: Stretches | undefined,
  ): Uint8Array[] {
    const stretches: Stretch[] = [];
    const wholeAt = (at: number, first: Frame | undefined): Stretch | undefined => {
      if (first === undefined) return undefined;
      const found = [this.#stretches.get(first), others === undefined ? undefined : others.#stretches.get(first)];
      return found.find((stretch) => stretch !== undefined && isWhole(stretch, all, at));
    };
    let run: Placed[] = [];
    let runBytes = 0;
    const close = (): void => {
      if (run.length > 0) stretches.push(this.#join(run, runBytes));
      run = [];
      runBytes = 0;
    };
    for (let at = 0; at < all.length; ) {
      const wanted = all[at];
      if (wanted === undefined) break;
      const known = wanted.segment.frames.get(wanted.variant);
      const stretch = wholeAt(at, known);
      // A small one joins what is open before it, or stretches would become smaller with every change.
      const isJoined = runBytes > 0 && stretch !== undefined && runBytes + stretch.bytes.length <= stretchBytes;
      if (stretch !== undefined && !isJoined) {
        close();
        stretches.push(stretch);
        at += stretch.frames.length;
        continue;
      }
      const frame = known ?? make(wanted, this.#scratch.allocate);
      if (runBytes + frame.bytes.length > stretchBytes) close();
      run.push({ ...wanted, frame });
      runBytes += frame.bytes.length;
      at += 1;
    }
    close();
    this.#stretches = new Map(
      stretches.flatMap((stretch) => stretch.frames.slice(0, 1).map((first) => [first, stretch])),
    );
    return stretches.map(({ bytes }) => bytes).filter((bytes) => bytes.length > 0);
  }

  // Only now the frames are their segments': before, they were in memory that is used again.
  #join(run: readonly Placed[], bytes: number): Stretch {
    const memory = this.#allocate(bytes);
    let at = 0;
    for (const { frame, segment, variant } of run) {
      memory.set(frame.bytes, at);
      frame.bytes = memory.subarray(at, at + frame.bytes.length);
      at += frame.bytes.length;
      segment.frames.set(variant, frame);
    }
    [this.#scratch, this.#otherScratch] = [this.#otherScratch, this.#scratch];
    this.#scratch.take();
    return { bytes: memory, frames: run.map(({ frame }) => frame) };
  }
}

function isWhole({ frames }: Stretch, all: readonly Wanted[], at: number): boolean {
  return frames.every((frame, index) => {
    const wanted = all[at + index];
    return wanted !== undefined && wanted.segment.frames.get(wanted.variant) === frame;
  });
}
