// How much the clients of one thread may have in flight together in large chunks. A large chunk costs half the CPU of four
// small ones, but whoever does not read holds on to it: as long as few do, chunks are large; when many do, everybody's are
// small, so that they cannot fill the memory.

/** Of one thread. Beyond this, chunks are small. */
const mostLargeBytes = 8 * 1024 * 1024;

export class Flights {
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get mayBeLarge(): boolean {
    return this.#bytes < mostLargeBytes;
  }

  begin(bytes: number): void {
    this.#bytes += bytes;
  }

  end(bytes: number): void {
    this.#bytes -= bytes;
  }
}
