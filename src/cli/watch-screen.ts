// What `cattail watch` shows a person: a line per change, progress while the snapshot arrives, or running totals.
import type { Update } from "../client/index.ts";
import { pathToKey, type SyncStatus, syncStatus } from "../model/index.ts";

const statusWords: { readonly [status in SyncStatus]: string } = {
  0: "waiting for the server's datastore",
  1: "receiving the snapshot",
  2: "in sync",
};

export class WatchScreen {
  readonly #options: { readonly stats: boolean; readonly isTerminal: boolean };
  readonly #sizes = new Map<string, { kind: string; bytes: number }>();
  readonly #startedMs = performance.now();
  #updates = 0;
  #status: SyncStatus | undefined;
  #shownMs = 0;
  #progressLength = 0;

  constructor(options: { stats: boolean; isTerminal: boolean }) {
    this.#options = options;
  }

  show(update: Update): void {
    if (update.is === "status") this.#showStatus(update.status);
    else this.#showKey(update);
  }

  #showKey(update: Exclude<Update, { is: "status" }>): void {
    this.#updates += 1;
    const kind = pathToKey(update.path)?.is ?? "unknown";
    if (update.is === "set") this.#sizes.set(update.path, { kind, bytes: Buffer.byteLength(update.value) });
    else this.#sizes.delete(update.path);
    // The snapshot itself is thousands of lines nobody reads as they fly by; without a terminal somebody may grep them.
    const isQuiet = this.#options.stats || (this.#options.isTerminal && this.#status !== syncStatus.inSync);
    if (isQuiet) {
      this.#showProgress();
      return;
    }
    const what = update.is === "delete" ? "deleted" : update.isNew ? "new" : "updated";
    const size = update.is === "delete" ? "" : `${Buffer.byteLength(update.value)} B`;
    this.#line(`${clockText()}  ${what.padEnd(8)} ${kind.padEnd(18)} ${size.padStart(8)}  ${update.path}`);
  }

  close(): void {
    if (this.#options.stats) this.#showTotals();
    else this.#line(`${this.#sizes.size} keys`);
  }

  #showStatus(status: SyncStatus): void {
    const before = this.#status;
    this.#status = status;
    if (before === status) return;
    this.#line(
      `${clockText()}  ${statusWords[status]}${status === syncStatus.inSync ? `: ${this.#sizes.size} keys` : ""}`,
    );
    if (status === syncStatus.inSync && this.#options.stats) this.#showTotals();
  }

  #showProgress(): void {
    const nowMs = performance.now();
    if (nowMs - this.#shownMs < 200) return;
    this.#shownMs = nowMs;
    if (!this.#options.isTerminal) return;
    const seconds = Math.max(0.001, (nowMs - this.#startedMs) / 1000);
    const text = `${this.#sizes.size} keys, ${Math.round(this.#updates / seconds)} updates/s`;
    process.stdout.write(`\r${text.padEnd(this.#progressLength)}`);
    this.#progressLength = text.length;
  }

  #showTotals(): void {
    const kinds = new Map<string, { keys: number; bytes: number }>();
    for (const { kind, bytes } of this.#sizes.values()) {
      const total = kinds.get(kind) ?? { keys: 0, bytes: 0 };
      kinds.set(kind, { keys: total.keys + 1, bytes: total.bytes + bytes });
    }
    this.#line(`${"kind".padEnd(20)} ${"keys".padStart(8)} ${"bytes".padStart(12)}`);
    for (const [kind, { keys, bytes }] of [...kinds].sort(([, a], [, b]) => b.keys - a.keys)) {
      this.#line(`${kind.padEnd(20)} ${String(keys).padStart(8)} ${String(bytes).padStart(12)}`);
    }
    const seconds = (performance.now() - this.#startedMs) / 1000;
    this.#line(`${this.#updates} updates in ${seconds.toFixed(1)} s`);
  }

  #line(text: string): void {
    if (this.#progressLength > 0) process.stdout.write(`\r${" ".repeat(this.#progressLength)}\r`);
    this.#progressLength = 0;
    process.stdout.write(`${text}\n`);
  }
}

function clockText(): string {
  return new Date().toTimeString().slice(0, 8);
}
