// The host's MTU, what tunnels and pods get of it, and the file in which the CNI plugin looks that up.
import { readFileSync } from "node:fs";
import { type Family, type Log, messageOf } from "../../../base/lib/index.ts";
import { replaceFile } from "../../../base/linux/files.ts";
import {
  type Encapsulation,
  encapsulatedMtu,
  hostMtu,
  type LinkMtu,
  type MtuSettings,
  podMtu,
  unknownHostMtu,
} from "../calculation/mtu.ts";

export type MtuInput = {
  readonly links: Iterable<LinkMtu>;
  readonly uplinkPattern: RegExp;
  readonly settings: MtuSettings;
  readonly inUse: readonly { readonly what: Encapsulation; readonly family: Family }[];
  readonly isFileRequired: boolean;
};

export class MtuKeeper {
  readonly #file: string | undefined;
  readonly #log: Log;
  #host: number | undefined;
  #written: number | undefined;
  #hasSaidUnknown = false;
  #settings: MtuSettings | undefined;
  /** Why the file is not as it should be. */
  problem: string | undefined;

  /** No file: nobody on this node asks for it. */
  constructor(options: { file: string | undefined; log: Log }) {
    this.#file = options.file;
    this.#log = options.log;
  }

  of(what: Encapsulation, family: Family): number {
    const host = this.#host ?? unknownHostMtu;
    return this.#settings === undefined ? host : encapsulatedMtu(what, family, host, this.#settings);
  }

  async keep(input: MtuInput): Promise<void> {
    const host = hostMtu(input.links, input.uplinkPattern);
    if (host === undefined && !this.#hasSaidUnknown) {
      this.#hasSaidUnknown = true;
      this.#log.warn("No interface that is up has a name of an uplink: the host's MTU is guessed", {
        mtu: unknownHostMtu,
        pattern: input.uplinkPattern.source,
      });
    }
    if (host !== undefined && this.#host !== undefined && host !== this.#host) {
      this.#log.info("The host's MTU has changed: tunnels and new pods follow", { before: this.#host, now: host });
    }
    this.#host = host ?? unknownHostMtu;
    this.#settings = input.settings;
    await this.#write(podMtu(this.#host, input.inUse, input.settings), input.isFileRequired);
  }

  async #write(mtu: number, isRequired: boolean): Promise<void> {
    const path = this.#file;
    if (path === undefined || (this.#written === mtu && this.problem === undefined)) return;
    try {
      if (contentOf(path) !== String(mtu)) await replaceFile(path, String(mtu), { mode: 0o644 });
      this.#written = mtu;
      this.problem = undefined;
    } catch (error) {
      const problem = `${path} cannot be written: ${messageOf(error)}`;
      if (problem !== this.problem)
        this.#log.warn("The CNI plugin cannot be told the MTU", { file: path, mtu, problem });
      this.problem = isRequired ? problem : undefined;
    }
  }
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // not there yet
  }
}
