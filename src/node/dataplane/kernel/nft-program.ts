// The program nft: takes transactions, and tells what our table holds. Never through a shell, always with limits.
import { CattailError, isRecord, messageOf, parseJson } from "../../../base/lib/index.ts";
import { runProgram } from "../../../base/linux/index.ts";
import type { Metrics } from "../../../base/observe/index.ts";
import { type KernelTable, readTable } from "../nft/kernel-table.ts";
import { tableName } from "../nft/names.ts";

export type NftOptions = {
  /** The path of the network namespace that the table is in. */
  readonly namespace?: string | undefined;
  /** Another program than the one in PATH. */
  readonly program?: string | undefined;
};

/** Refused: the kernel is as it was, and this is what it said. */
export type Outcome = { readonly is: "taken" } | { readonly is: "refused"; readonly why: string };

/** A table's family and name, as in `nft list tables`. */
export type TableName = { readonly family: string; readonly name: string };

const limitMs = 300_000;
const maxOutputBytes = 1 << 30;

export class NftProgram {
  readonly #options: NftOptions;
  readonly #metrics: Pick<Metrics, "add" | "observe">;

  constructor(options: NftOptions, metrics: Pick<Metrics, "add" | "observe">) {
    this.#options = options;
    this.#metrics = metrics;
  }

  async apply(text: string): Promise<Outcome> {
    this.#metrics.add("felix_nft_calls", undefined, 1);
    const startedMs = performance.now();
    try {
      await this.#run(["-f", "-"], text);
      return { is: "taken" };
    } catch (error) {
      this.#metrics.add("felix_nft_errors", undefined, 1);
      if (error instanceof CattailError && error.code === "PROGRAM_FAILED")
        return { is: "refused", why: messageOf(error) };
      throw error;
    } finally {
      this.#metrics.observe("felix_exec_time_micros", undefined, (performance.now() - startedMs) * 1_000);
    }
  }

  async tables(): Promise<readonly TableName[]> {
    const listing = await this.#list(["list", "tables"]);
    return entriesOf(listing).flatMap(({ table }) =>
      isRecord(table) ? [{ family: String(table.family), name: String(table.name) }] : [],
    );
  }

  /** Undefined: it is not there. */
  async ownTable(): Promise<KernelTable | undefined> {
    const listing = await this.ownListing();
    return listing === undefined ? undefined : readTable(listing);
  }

  async ownListing(): Promise<unknown> {
    const isThere = (await this.tables()).some(({ family, name }) => family === "inet" && name === tableName);
    return isThere ? this.#list(["list", "table", "inet", tableName]) : undefined;
  }

  async #list(words: readonly string[]): Promise<unknown> {
    this.#metrics.add("felix_nft_list_calls", undefined, 1);
    try {
      const { stdout } = await this.#run(["--json", "--numeric", ...words]);
      return stdout.trim() === "" ? undefined : parseJson(stdout);
    } catch (error) {
      this.#metrics.add("felix_nft_list_errors", undefined, 1);
      throw error;
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

export function entriesOf(listing: unknown): readonly { readonly [kind: string]: unknown }[] {
  return isRecord(listing) && Array.isArray(listing.nftables) ? listing.nftables.filter(isRecord) : [];
}
