// The three ways to look at a server with `cattail watch`: a live table in a terminal, a line per change where the output
// goes elsewhere, and totals. Each takes updates one by one and draws when it is time.

import { plainLine } from "../../base/lib/index.ts";
import type { Update } from "../../typha/client/index.ts";
import { ageText, sizeText, type WatchedKey, WatchKeys } from "./watch-keys.ts";

export type Screen = {
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
};

export type WatchView = {
  take(update: Update, nowMs: number): void;
  /** Called a few times a second: what moves by itself, ages and rates, moves here. */
  tick(nowMs: number): void;
  close(nowMs: number): void;
};

/** In fewer columns the key, which tells its type anyway, needs the type's room. */
const columnsForTypes = 80;

/** The keys that changed last, newest first, redrawn in place; while the snapshot arrives only the first line moves. */
export function tableView(screen: Screen, options: { title: string; nowMs: number }): WatchView {
  const keys = new WatchKeys();
  const rate = new Rate(options.nowMs);
  let drawnLines = 0;
  const draw = (nowMs: number) => {
    const head = `${options.title}: ${keys.statusText}, ${keys.count} keys, ${sizeText(keys.bytes)}, ${rate.text(keys.updates, nowMs)}`;
    const rows = keys.isInSync ? tableRows(keys, screen, nowMs) : [];
    const lines = [fit(head, screen.columns), ...rows];
    const up = drawnLines > 1 ? `\u001b[${drawnLines - 1}A` : "";
    screen.write(`\r${up}${lines.map((line) => `${line}\u001b[K`).join("\n")}\u001b[J`);
    drawnLines = lines.length;
  };
  return {
    take: (update, nowMs) => void keys.take(update, nowMs),
    tick: draw,
    close: (nowMs) => {
      draw(nowMs);
      screen.write("\n");
    },
  };
}

function tableRows(keys: WatchKeys, { rows, columns }: Screen, nowMs: number): string[] {
  const newest = [...keys.recent].slice(-Math.max(1, rows - 3)).reverse();
  if (newest.length === 0) return [];
  const title = fit(row({ type: "TYPE", size: "SIZE", age: "AGE" }, "KEY", columns), columns);
  return [title, ...newest.map(([path, key]) => row(cellsOf(key, nowMs), plainLine(path), columns))];
}

type Cells = { readonly type: string; readonly size: string; readonly age: string };

function cellsOf({ kind, bytes, atMs, is }: WatchedKey, nowMs: number): Cells {
  return { type: kind, size: is === "deleted" ? "deleted" : sizeText(bytes), age: ageText(nowMs - atMs) };
}

// Keys begin alike, so it is the end that has to stay.
function row({ type, size, age }: Cells, path: string, columns: number): string {
  const before = `${columns < columnsForTypes ? "" : `${type.padEnd(24)} `}${size.padStart(9)} ${age.padStart(7)}  `;
  const room = Math.max(1, columns - before.length);
  return fit(`${before}${path.length <= room ? path : `…${path.slice(path.length - room + 1)}`}`, columns);
}

function fit(line: string, columns: number): string {
  return line.length <= columns ? line : `${line.slice(0, columns - 1)}…`;
}

/** For pipes and files: everything, as it comes. */
export function linesView(screen: Screen): WatchView {
  const keys = new WatchKeys();
  return {
    take: (update, nowMs) => {
      const before = keys.status;
      const key = keys.take(update, nowMs);
      const time = new Date().toTimeString().slice(0, 8);
      if (key !== undefined && update.is !== "status") {
        const size = key.is === "deleted" ? "" : sizeText(key.bytes);
        const path = plainLine(update.path);
        screen.write(`${time}  ${key.is.padEnd(8)} ${key.kind.padEnd(24)} ${size.padStart(9)}  ${path}\n`);
      } else if (keys.status !== before) {
        screen.write(`${time}  ${keys.statusText}${keys.isInSync ? `: ${keys.count} keys` : ""}\n`);
      }
    },
    tick: () => undefined,
    close: () => undefined,
  };
}

/** Keys per kind, bytes and rate. In a terminal the progress moves meanwhile. */
export function statsView(screen: Screen, options: { isTerminal: boolean; title: string; nowMs: number }): WatchView {
  const keys = new WatchKeys();
  const rate = new Rate(options.nowMs);
  const progress = (nowMs: number) =>
    `${options.title}: ${keys.statusText}, ${keys.count} keys, ${rate.text(keys.updates, nowMs)}`;
  return {
    take: (update, nowMs) => void keys.take(update, nowMs),
    tick: (nowMs) => {
      if (options.isTerminal) screen.write(`\r${fit(progress(nowMs), screen.columns)}\u001b[K`);
    },
    close: (nowMs) => {
      if (options.isTerminal) screen.write("\r\u001b[K");
      if (keys.status === undefined) return; // never connected, which is an error and no total
      const seconds = Math.max(0.001, (nowMs - options.nowMs) / 1000);
      screen.write(`${"KIND".padEnd(24)} ${"KEYS".padStart(9)} ${"BYTES".padStart(12)}\n`);
      for (const { kind, keys: count, bytes } of keys.totals()) screen.write(totalLine(kind, count, bytes));
      screen.write(totalLine("all", keys.count, keys.bytes));
      screen.write(
        `${keys.statusText}; ${keys.updates} updates in ${seconds.toFixed(1)} s, ${(keys.updates / seconds).toFixed(1)} a second\n`,
      );
    },
  };
}

function totalLine(kind: string, keys: number, bytes: number): string {
  return `${kind.padEnd(24)} ${String(keys).padStart(9)} ${String(bytes).padStart(12)}\n`;
}

/** Updates a second over the last five or so. */
class Rate {
  #sinceMs: number;
  #updatesThen = 0;
  #perSecond = 0;

  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
  }

  text(updates: number, nowMs: number): string {
    const seconds = (nowMs - this.#sinceMs) / 1000;
    if (seconds > 0.2) this.#perSecond = (updates - this.#updatesThen) / seconds;
    if (seconds > 5) {
      this.#sinceMs = nowMs;
      this.#updatesThen = updates;
    }
    return `${this.#perSecond.toFixed(this.#perSecond < 10 ? 1 : 0)} updates/s`;
  }
}
