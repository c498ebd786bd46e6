// What one server has told: its keys, when they came, and how long each step took.
import { keyKind, type SyncStatus, syncStatus } from "../../../calico/model/index.ts";
import type { SerializedUpdate, ServerHello } from "../../../typha/wire/index.ts";

export type KeyState = { readonly value: string | undefined; readonly revision: string; readonly atMs: number };

/** Changes kept for measuring lag; beyond that enough is known. */
const mostChanges = 10_000;

export class ServerView {
  readonly address: string;
  readonly timingsMs: { tcp?: number; tls?: number; hello?: number; snapshot?: number; inSync?: number };
  /** Deleted ones too, without a value, so that a late deletion is not taken for a missing key. */
  readonly states = new Map<string, KeyState>();
  /** After in-sync: when each came, by path and revision. */
  readonly changes = new Map<string, number>();
  changeCount = 0;
  hello: ServerHello | undefined;
  status: SyncStatus | undefined;

  constructor(address: string, timingsMs: { tcp?: number; tls?: number }) {
    this.address = address;
    this.timingsMs = { ...timingsMs };
  }

  get keys(): ReadonlyMap<string, KeyState> {
    return new Map([...this.states].filter(([, { value }]) => value !== undefined));
  }

  get valueBytes(): number {
    let bytes = 0;
    for (const { value } of this.states.values()) if (value !== undefined) bytes += Buffer.byteLength(value);
    return bytes;
  }

  greeted(hello: ServerHello, sinceMs: number): void {
    this.hello = hello;
    this.timingsMs.hello = sinceMs;
  }

  /** Of the decoder: the second one ends the snapshot. */
  restarted(sinceMs: number): void {
    if (this.states.size > 0) this.timingsMs.snapshot ??= sinceMs;
  }

  updated(updates: readonly SerializedUpdate[], nowMs: number): void {
    // What a snapshot holds has been so for an unknown while.
    const atMs = this.timingsMs.inSync === undefined ? Number.NEGATIVE_INFINITY : nowMs;
    for (const { key, value, revision } of updates) {
      this.states.set(key, { value, revision, atMs });
      if (this.timingsMs.inSync === undefined) continue;
      this.changeCount += 1;
      if (this.changes.size < mostChanges) this.changes.set(`${key}\n${value === undefined ? "gone" : revision}`, atMs);
    }
  }

  statusChanged(status: SyncStatus, sinceMs: number): void {
    this.status = status;
    this.timingsMs.snapshot ??= sinceMs;
    if (status === syncStatus.inSync) this.timingsMs.inSync ??= sinceMs;
  }

  /** Most frequent first. */
  keysPerKind(): { [kind: string]: number } {
    const counts = new Map<string, number>();
    for (const path of this.keys.keys()) counts.set(keyKind(path), (counts.get(keyKind(path)) ?? 0) + 1);
    return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a));
  }
}
