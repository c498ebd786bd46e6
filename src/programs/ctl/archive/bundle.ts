// A bundle of diagnostics: files that are packed as they come, so that a large cluster's logs need not be held in memory at once. Readable by its
// owner only. Whoever wants the files beside the archive gets them, too.
import { createWriteStream } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { finished } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { safeName, tarEnd, tarEntry } from "./tar.ts";

export type BundleOptions = {
  /** Of the archive. */
  readonly path: string;
  /** Everything in the archive is below a folder of this name. */
  readonly root: string;
  /** Where the files are left, too. */
  readonly keptIn?: string | undefined;
  readonly nowMs: () => number;
};

export class Bundle {
  readonly #options: BundleOptions;
  readonly #gzip = createGzip();
  readonly #written: Promise<void>;
  #turn: Promise<unknown> = Promise.resolve();
  #count = 0;

  constructor(options: BundleOptions) {
    this.#options = options;
    const file = createWriteStream(options.path, { mode: 0o600, flags: "wx" });
    this.#gzip.pipe(file);
    this.#gzip.on("error", (error) => file.destroy(error));
    this.#written = finished(file);
    this.#written.catch(() => undefined); // whoever adds, or closes, meets it
  }

  get count(): number {
    return this.#count;
  }

  /** One after the other, whoever calls; resolves when the archive has taken it. */
  add(name: string, content: string | Uint8Array): Promise<void> {
    const add = () => this.#add(name, typeof content === "string" ? Buffer.from(content) : content);
    const next = this.#turn.then(add);
    this.#turn = next.catch(() => undefined); // its own caller meets it
    return next;
  }

  async close(): Promise<void> {
    await this.#turn;
    await this.#write(tarEnd);
    this.#gzip.end();
    await this.#written;
  }

  /** Nothing is left of it. */
  async discard(): Promise<void> {
    this.#gzip.destroy();
    await rm(this.#options.path, { force: true });
  }

  async #add(name: string, content: Uint8Array): Promise<void> {
    const { root, keptIn, nowMs } = this.#options;
    for (const part of tarEntry({ name: `${root}/${name}`, content, modifiedMs: nowMs() })) await this.#write(part);
    this.#count += 1;
    if (keptIn === undefined) return;
    const path = join(keptIn, root, safeName(name));
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, content, { mode: 0o600 });
  }

  async #write(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    const taken = new Promise<void>((resolve, reject) => {
      this.#gzip.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
    await Promise.race([taken, this.#written]);
  }
}

/** 20261116_180502 */
export function stamp(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "_");
}
