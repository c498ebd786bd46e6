// Takes transactions of packet rules to the kernel, and tells what our tables hold. By nft's library in this process, which is a hundred
// times faster than a program's start; by the program nft (never through a shell, always with limits) where there is no library, and for
// what is so large that the event loop would wait long. docs/decisions/0028-nft-in-process.md
//
//   apply(text) ─┬─ elements of sets alone ─▶ kernel      what it does not take goes the other way
//                ├─ small ─▶ libnftables ─▶ kernel        one socket for as long as the agent lives
//                └─ large ─▶ nft -f -    ─▶ kernel
import { CattailError, isRecord, type Log, messageOf, parseJson, plainText } from "../../../base/lib/index.ts";
import { runProgram } from "../../../base/linux/index.ts";
import {
  type NftContext,
  type NftTable,
  nftTables,
  openNftables,
  openSetElements,
  type SetElements,
} from "../../../base/linux/kernel.ts";
import type { Metrics } from "../../../base/observe/index.ts";
import { type ElementChange, setChanges } from "../nft/element-keys.ts";
import { type KernelTable, readTable } from "../nft/kernel-table.ts";
import type { Family } from "../nft/names.ts";
import { tableName } from "../nft/names.ts";

export type NftOptions = {
  /** The path of the network namespace that the table is in. */
  readonly namespace?: string | undefined;
  /** Another program than the one in PATH; the library is not used then. */
  readonly program?: string | undefined;
};

/** Refused: the kernel is as it was, and this is what it said. */
export type Outcome = { readonly is: "taken" } | { readonly is: "refused"; readonly why: string };

const limitMs = 300_000;
const maxOutputBytes = 1 << 30;
/** About a tenth of a second of the kernel's and the library's work. */
const largeText = 128 * 1024;
const linesOfRefusal = 10;
const uncounted = { add: () => undefined, observe: () => undefined };

export class Nft implements Disposable {
  readonly #options: NftOptions;
  readonly #metrics: Pick<Metrics, "add" | "observe">;
  readonly #log: Pick<Log, "info"> | undefined;
  #library: NftContext | "not yet" | "none" = "not yet";
  #sets: SetElements | "not yet" | "none" = "not yet";

  constructor(options: NftOptions, metrics: Pick<Metrics, "add" | "observe"> = uncounted, log?: Pick<Log, "info">) {
    this.#options = options;
    this.#metrics = metrics;
    this.#log = log;
  }

  /** `elements`: what the text says, where it changes nothing but elements of sets of our main table. */
  async apply(text: string, elements?: readonly ElementChange[]): Promise<Outcome> {
    this.#metrics.add("felix_nft_calls", undefined, 1);
    const startedMs = performance.now();
    try {
      const isDone = elements !== undefined && this.#changeElements(elements);
      const outcome: Outcome = isDone ? { is: "taken" } : await this.#outcome(text);
      if (outcome.is === "refused") this.#metrics.add("felix_nft_errors", undefined, 1);
      return outcome;
    } catch (error) {
      this.#metrics.add("felix_nft_errors", undefined, 1);
      throw error;
    } finally {
      this.#metrics.observe("felix_exec_time_micros", undefined, (performance.now() - startedMs) * 1_000);
    }
  }

  tables(): readonly NftTable[] {
    this.#metrics.add("felix_nft_list_calls", undefined, 1);
    return nftTables({ namespace: this.#options.namespace });
  }

  /** Undefined: it is not there. */
  async ownTable(family: Family = "inet"): Promise<KernelTable | undefined> {
    const listing = await this.ownListing(family);
    return listing === undefined ? undefined : readTable(listing);
  }

  async ownListing(of: Family = "inet"): Promise<unknown> {
    const isThere = this.tables().some(({ family, name }) => family === of && name === tableName);
    if (!isThere) return undefined;
    this.#metrics.add("felix_nft_list_calls", undefined, 1);
    try {
      // The one for ARP is small; the other one may be so large that the event loop would wait long.
      const text = `list table ${of} ${tableName}`;
      const library = of === "arp" ? this.#opened() : undefined;
      const json = library?.list(text, "json") ?? (await this.#run(["--json", "--numeric", ...text.split(" ")])).stdout;
      return json.trim() === "" ? undefined : parseJson(json);
    } catch (error) {
      this.#metrics.add("felix_nft_list_errors", undefined, 1);
      throw error;
    }
  }

  [Symbol.dispose](): void {
    if (typeof this.#library !== "string") this.#library[Symbol.dispose]();
    if (typeof this.#sets !== "string") this.#sets[Symbol.dispose]();
    this.#library = "none";
    this.#sets = "none";
  }

  /** False: nothing has changed, or the kernel did not say; the same text then says it again, and what is wrong. */
  #changeElements(elements: readonly ElementChange[]): boolean {
    if (this.#sets === "not yet") this.#sets = this.#openSets();
    const changes = this.#sets === "none" ? undefined : setChanges(elements);
    if (this.#sets === "none" || changes === undefined) return false;
    try {
      return this.#sets.change({ family: "inet", name: tableName }, changes) === undefined;
    } catch {
      return false;
    }
  }

  #openSets(): SetElements | "none" {
    const { namespace, program } = this.#options;
    if (program !== undefined) return "none";
    try {
      return openSetElements({ namespace });
    } catch {
      return "none"; // as without the library, which says why
    }
  }

  async #outcome(text: string): Promise<Outcome> {
    const library = text.length > largeText ? undefined : this.#opened();
    if (library !== undefined) {
      const why = library.run(text);
      return why === undefined ? { is: "taken" } : { is: "refused", why: `nft refuses it:\n${firstLines(why)}` };
    }
    try {
      await this.#run(["-f", "-"], text);
      return { is: "taken" };
    } catch (error) {
      if (error instanceof CattailError && error.code === "PROGRAM_FAILED")
        return { is: "refused", why: messageOf(error) };
      throw error;
    }
  }

  #opened(): NftContext | undefined {
    if (this.#library === "not yet") this.#library = this.#open();
    return this.#library === "none" ? undefined : this.#library;
  }

  #open(): NftContext | "none" {
    const { namespace, program } = this.#options;
    if (program !== undefined) return "none";
    try {
      return openNftables({ namespace });
    } catch (error) {
      this.#log?.info("nft's library cannot be used: nft is started for each change, which takes longer", {
        why: messageOf(error),
      });
      return "none";
    }
  }

  #run(words: readonly string[], stdin?: string) {
    const { namespace, program = "nft" } = this.#options;
    return runProgram(program, words, {
      limitMs,
      maxOutputBytes,
      namespace,
      ...(stdin === undefined ? {} : { stdin }),
    });
  }
}

function firstLines(text: string): string {
  return plainText(text).trimEnd().split("\n").slice(0, linesOfRefusal).join("\n");
}

export function entriesOf(listing: unknown): readonly { readonly [kind: string]: unknown }[] {
  return isRecord(listing) && Array.isArray(listing.nftables) ? listing.nftables.filter(isRecord) : [];
}
